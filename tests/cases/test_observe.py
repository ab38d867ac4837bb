"""What the runner sees of programs that behave."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gymline.cases.case import InputFile, Invocation, sha256
from gymline.cases.runner import observe
from gymline.cases.settings import CaseSettings
from gymline.errors import CaseError
from gymline.sandbox import Root, Sandbox

Put = Callable[[bytes], str]


def test_status_streams_and_order_are_the_programs_own(
    sandbox: Sandbox, root: Root, program: Path, inputs: Path
) -> None:
    invocations = [
        Invocation(id="one", argv=("echo", "a b", "", "ü")),
        Invocation(id="two", argv=("warn",)),
        Invocation(id="three", argv=("suicide",)),
    ]
    one, two, three = observe(sandbox, root, program, "prog", invocations, inputs)
    assert (one.status, one.stdout.content, one.stderr.size) == (0, "a b  ü\n".encode(), 0)
    assert (two.status, two.stdout.size, two.stderr.preview) == (3, 0, "careful\n")
    assert (three.ending, three.status) == ("exited", 128 + 11)


def test_the_environment_is_frozen_and_the_folder_has_one_name(
    sandbox: Sandbox, root: Root, program: Path, inputs: Path
) -> None:
    invocation = Invocation(id="name", argv=("name",), env={"EXTRA": "1"})
    (seen,) = observe(sandbox, root, program, "prog", [invocation], inputs)
    names = ["COLUMNS", "EXTRA", "HOME", "LC_ALL", "LINES", "PATH", "TZ"]
    assert seen.stdout.preview == f"/program/prog {names} /tmp/case /tmp/case\n"


def test_stdin_and_files_arrive_and_new_changed_and_removed_files_are_seen(
    sandbox: Sandbox, root: Root, program: Path, inputs: Path, put: Put
) -> None:
    files = (
        InputFile(path="in.txt", sha256=put(b"data")),
        InputFile(path="gone.txt", sha256=put(b"bye")),
        InputFile(path="out/kept.txt", sha256=put(b"kept")),
    )
    invocations = [
        Invocation(id="cat", argv=("cat",), stdin=put(bytes(range(256)) * 1000)),
        Invocation(id="files", argv=("files",), files=files),
    ]
    cat, left = observe(sandbox, root, program, "prog", invocations, inputs)
    assert cat.stdout.content == bytes(range(256)) * 1000
    assert [(file.path, file.content.content) for file in left.files] == [("out/new.txt", b"DATA")]
    assert left.removed == ("gone.txt",)
    assert left.recorded == {sha256(b""): b"", sha256(b"DATA"): b"DATA"}


def test_nothing_of_one_case_is_left_for_the_next(
    sandbox: Sandbox, root: Root, program: Path, inputs: Path, put: Put
) -> None:
    file = InputFile(path="in.txt", sha256=put(b"data"))
    gone = InputFile(path="gone.txt", sha256=put(b"bye"))
    invocations = [Invocation(id=f"n{n}", argv=("files",), files=(file, gone)) for n in range(3)]
    seen = observe(sandbox, root, program, "prog", invocations, inputs)
    assert [[file.path for file in one.files] for one in seen] == [["new.txt"]] * 3


def test_without_recording_only_digests_come_back(sandbox: Sandbox, root: Root, program: Path, inputs: Path) -> None:
    invocation = Invocation(id="one", argv=("echo", "hello"))
    (seen,) = observe(sandbox, root, program, "prog", [invocation], inputs, record=False)
    assert seen.stdout.sha256 == sha256(b"hello\n") and not seen.recorded


def test_many_batches_on_two_sandboxes_give_every_case_its_own_result(
    sandbox: Sandbox, root: Root, program: Path, inputs: Path
) -> None:
    settings = CaseSettings(batch_cases=3, jobs=2)
    invocations = [Invocation(id=f"n{n}", argv=("echo", str(n))) for n in range(10)]
    seen = observe(sandbox, root, program, "prog", invocations, inputs, settings=settings)
    assert [one.stdout.content for one in seen] == [f"{n}\n".encode() for n in range(10)]


def test_a_program_that_is_no_program_is_unstartable(sandbox: Sandbox, root: Root, program: Path, inputs: Path) -> None:
    program.write_bytes(b"\x7fELF nonsense")
    (seen,) = observe(sandbox, root, program, "prog", [Invocation(id="one")], inputs)
    assert (seen.ending, seen.status) == ("unstartable", None)


@pytest.mark.parametrize("damage", ["missing", "other bytes"])
def test_an_input_that_is_not_what_its_digest_says_is_a_typed_error(
    sandbox: Sandbox, root: Root, program: Path, inputs: Path, put: Put, damage: str
) -> None:
    digest = put(b"data")
    if damage == "missing":
        (inputs / digest).unlink()
    else:
        (inputs / digest).write_bytes(b"date")
    with pytest.raises(CaseError, match=r"'one'.*Rebuild the suite"):
        observe(sandbox, root, program, "prog", [Invocation(id="one", argv=("cat",), stdin=digest)], inputs)


def test_a_repository_name_is_no_program_name(sandbox: Sandbox, root: Root, program: Path, inputs: Path) -> None:
    with pytest.raises(CaseError, match=r"acme/prog.*gold\.json"):
        observe(sandbox, root, program, "acme/prog", [Invocation(id="one")], inputs)
