"""Hostile programs under test: each hurts only its own case, and none can forge a result."""

from __future__ import annotations

from pathlib import Path

import pytest

from gymline.cases.case import Invocation, sha256
from gymline.cases.observation import Observation
from gymline.cases.runner import observe
from gymline.cases.settings import CaseSettings
from gymline.sandbox import Root, Sandbox

MIB = 1024 * 1024
SMALL = CaseSettings(memory_bytes=512 * MIB, disk_bytes=128 * MIB, grace_seconds=2)


def between_good_ones(
    what: str, sandbox: Sandbox, root: Root, program: Path, inputs: Path, seconds: float = 3
) -> Observation:
    """Runs the hostile case between two good ones, which must be as if it were not there."""
    invocations = [
        Invocation(id="before", argv=("echo", "before"), timeout_seconds=2),
        Invocation(id="hostile", argv=(what,), timeout_seconds=seconds),
        Invocation(id="after", argv=("echo", "after"), timeout_seconds=2),
    ]
    before, hostile, after = observe(sandbox, root, program, "prog", invocations, inputs, settings=SMALL)
    assert (before.ending, before.stdout.preview) == ("exited", "before\n")
    assert (after.ending, after.stdout.preview, after.files) == ("exited", "after\n", ())
    return hostile


@pytest.mark.parametrize(
    ("what", "ending", "status", "stdout"),
    [
        ("stay", "exited", 0, "left something running\n"),
        ("hold-stdout", "exited", 0, "parent is done\n"),
        ("kill-group", "exited", 137, ""),
        ("delete", "exited", 0, "deleted\n"),
        ("replace-folder", "exited", 0, ""),
        ("lock-up", "exited", 0, ""),
        ("close", "exited", 4, ""),
        ("hang", "timeout", 137, ""),
        ("bomb", "timeout", 137, ""),
    ],
)
def test_what_a_program_does_to_its_surroundings_stays_with_its_case(
    what: str, ending: str, status: int, stdout: str, sandbox: Sandbox, root: Root, program: Path, inputs: Path
) -> None:
    seen = between_good_ones(what, sandbox, root, program, inputs)
    assert (seen.ending, seen.status, seen.stdout.preview, seen.files) == (ending, status, stdout, ())


@pytest.mark.parametrize("what", ["kill-parent", "kill-all", "stop-parent"])
def test_a_program_that_kills_or_stops_the_worker_is_spoiled_and_the_others_are_run_again(
    what: str, sandbox: Sandbox, root: Root, program: Path, inputs: Path
) -> None:
    seen = between_good_ones(what, sandbox, root, program, inputs, seconds=0.5)
    assert seen.ending == "spoiled" and "did not survive" in seen.detail


def test_a_file_of_a_gigabyte_ends_the_program_that_writes_it(
    sandbox: Sandbox, root: Root, program: Path, inputs: Path
) -> None:
    seen = between_good_ones("write", sandbox, root, program, inputs)
    assert seen.status not in (0, None) and not seen.files and not seen.files_complete


def test_more_files_than_the_cap_are_not_reported_as_if_they_were_all(
    sandbox: Sandbox, root: Root, program: Path, inputs: Path
) -> None:
    seen = between_good_ones("many-files", sandbox, root, program, inputs)
    assert (seen.status, seen.files, seen.files_complete) == (0, (), False)


def test_memory_is_taken_from_the_program_and_not_from_the_worker(
    sandbox: Sandbox, root: Root, program: Path, inputs: Path
) -> None:
    seen = between_good_ones("memory", sandbox, root, program, inputs, seconds=20)
    assert seen.ending in ("exited", "spoiled") and seen.status != 0


def test_output_without_end_is_cut(sandbox: Sandbox, root: Root, program: Path, inputs: Path) -> None:
    seen = between_good_ones("forever", sandbox, root, program, inputs)
    assert seen.ending == "output" and seen.stdout.size < 2 * MIB


def test_links_and_pipes_are_not_followed_out_of_the_folder(
    sandbox: Sandbox, root: Root, program: Path, inputs: Path
) -> None:
    seen = between_good_ones("link-out", sandbox, root, program, inputs)
    assert (seen.status, seen.files, seen.files_complete) == (0, (), True)


def test_the_workers_memory_descriptors_and_the_rest_of_the_suite_are_out_of_reach(
    sandbox: Sandbox, root: Root, program: Path, inputs: Path
) -> None:
    (inputs / sha256(b"secret-expectation")).write_bytes(b"secret-expectation")
    seen = between_good_ones("spy", sandbox, root, program, inputs)
    said = seen.stdout.preview
    assert "succeeded" not in said and "found" not in said, said
    assert said.count("refused") == 11 and "expectations absent" in said
    # The sandbox's init may show its stdin; the batch and its key have been read out of it.
    assert "stdin 0\n" in said


def test_a_forged_result_line_does_not_count(sandbox: Sandbox, root: Root, program: Path, inputs: Path) -> None:
    invocations = [
        Invocation(id="hostile", argv=("forge",)),
        Invocation(id="victim", argv=("warn",)),
    ]
    _, victim = observe(sandbox, root, program, "prog", invocations, inputs)
    assert (victim.status, victim.stderr.preview) == (3, "careful\n")
