"""From observations to verdicts and a score, and infrastructure failures to neither."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from gymline.cases.case import Case, Expected, InputFile, OutputFile, read_cases, sha256, write_jsonl
from gymline.cases.runner import CaseResult, run_cases
from gymline.cases.score import score
from gymline.cases.settings import CaseSettings
from gymline.errors import CaseError, SandboxError
from gymline.sandbox import Command, Completed, Root, Sandbox

Put = Callable[[bytes], str]


def expecting(status: int, stdout: bytes, **more: object) -> Expected:
    return Expected.model_validate({"status": status, "stdout": sha256(stdout), **more})


@pytest.mark.parametrize(
    ("argv", "expected", "status", "detail"),
    [
        (("echo", "a"), expecting(0, b"a\n"), "passed", ""),
        (("echo", "a"), expecting(1, b"a\n"), "failure", "exit status 0, expected 1"),
        (("echo", "a"), expecting(0, b"a"), "failure", "stdout differs"),
        (("warn",), expecting(3, b"", stderr_empty=False), "passed", ""),
        (("warn",), expecting(3, b""), "passed", ""),
        (("warn",), expecting(3, b"", stderr_empty=True), "failure", "stderr is not empty"),
        (("hang",), expecting(0, b""), "error", "longer than 0.5 s"),
        (("forever",), expecting(0, b""), "error", "more than is kept"),
    ],
)
def test_status_and_stdout_count_exactly_and_stderr_only_for_being_empty(
    argv: tuple[str, ...], expected: Expected, status: str, detail: str,
    sandbox: Sandbox, root: Root, program: Path, inputs: Path,
) -> None:  # fmt: skip
    case = Case(id="one", category="args", argv=argv, timeout_seconds=0.5, expected=expected)
    (result,) = run_cases(sandbox, root, program, "prog", [case], inputs)
    assert result.status == status and detail in result.detail


@pytest.mark.parametrize(
    ("path", "content", "status"),
    [
        ("new.txt", b"DATA", "passed"),
        ("new.txt", b"data", "failure"),
        ("other.txt", b"DATA", "failure"),
        ("gone.txt", b"bye", "failure"),
        ("in.txt", b"data", "passed"),
    ],
)
def test_an_expected_file_must_be_there_with_its_bytes(
    path: str, content: bytes, status: str,
    sandbox: Sandbox, root: Root, program: Path, inputs: Path, put: Put,
) -> None:  # fmt: skip
    case = Case(
        id="one",
        category="io",
        argv=("files",),
        files=(
            InputFile(path="in.txt", sha256=put(b"data")),
            InputFile(path="gone.txt", sha256=put(b"bye")),
        ),
        expected=expecting(0, b"", files=(OutputFile(path=path, sha256=sha256(content)),)),
    )
    (result,) = run_cases(sandbox, root, program, "prog", [case], inputs)
    assert result.status == status


class BreaksAfter:
    """The real sandbox, whose infrastructure fails from the n-th run on."""

    name = "breaks"

    def __init__(self, inner: Sandbox, good: int) -> None:
        self.inner, self.good = inner, good

    def run(self, root: Root, command: Command) -> Completed:
        self.good -= 1
        if self.good < 0:
            raise SandboxError("the sandbox", "no space left on device", "Make room")
        return self.inner.run(root, command)

    def run_layer(self, root: Root, command: Command, layer: Path) -> Completed:
        raise NotImplementedError


def echo_cases(number: int) -> list[Case]:
    return [Case(id=f"n{n}", category="args", argv=("echo", "x"), expected=expecting(0, b"x\n")) for n in range(number)]


def test_an_infrastructure_failure_is_no_verdict_and_no_score(
    sandbox: Sandbox, root: Root, program: Path, inputs: Path
) -> None:
    settings = CaseSettings(batch_cases=2)
    results = run_cases(BreaksAfter(sandbox, 1), root, program, "prog", echo_cases(6), inputs, settings=settings)
    assert [result.status for result in results] == [*["passed"] * 2, *["system_error"] * 2, *["not_run"] * 2]
    with pytest.raises(SandboxError, match="2 hit an infrastructure failure and 2 were not run"):
        score(results)


def test_a_rootfs_without_the_worker_s_python_is_an_infrastructure_failure(
    sandbox: Sandbox, root: Root, program: Path, inputs: Path, tmp_path: Path
) -> None:
    hidden = tmp_path / "layer"
    (hidden / "usr/bin").mkdir(parents=True)
    (hidden / "usr/bin/python3").symlink_to("nowhere")
    broken = dataclasses.replace(root, layers=(hidden,))
    results = run_cases(sandbox, broken, program, "prog", echo_cases(1), inputs)
    assert [result.status for result in results] == ["system_error"]


def test_the_score_counts_only_passed_cases_over_all_that_are_not_ignored() -> None:
    statuses = ["passed"] * 38 + ["failure", "error"]
    results = [CaseResult(f"n{n}", "args", status) for n, status in enumerate(statuses)]  # type: ignore[arg-type]
    counts = score(results, ignored=7)
    assert (counts.passed, counts.total, counts.ignored, counts.score) == (38, 40, 7, 0.95)
    assert counts.almost_resolved and not counts.resolved
    assert counts.by_category == {"args": (38, 40)} and counts.by_status["error"] == 1
    assert score(results[:38]).resolved


def test_a_suite_without_cases_has_no_score() -> None:
    with pytest.raises(CaseError, match="no case that counts"):
        score([])


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "a/../../b", "a//b", ".", ""])
def test_a_case_cannot_lay_a_file_outside_its_folder(path: str) -> None:
    with pytest.raises(ValueError):
        InputFile(path=path, sha256=sha256(b""))


def test_cases_survive_being_written_and_read(tmp_path: Path) -> None:
    cases = echo_cases(3)
    write_jsonl(tmp_path / "cases.jsonl", cases)
    assert read_cases(tmp_path / "cases.jsonl") == cases
    (tmp_path / "cases.jsonl").write_bytes((tmp_path / "cases.jsonl").read_bytes() * 2)
    with pytest.raises(CaseError, match=r"line 4.*used twice"):
        read_cases(tmp_path / "cases.jsonl")
