"""Whole suites, made of small programs and of the samples, in the real sandbox."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from gymline.cases.case import Case, read_cases, sha256
from gymline.cases.runner import run_cases
from gymline.lineage.produced import Produced
from gymline.sandbox import Command, Limits, Mount, Root, Sandbox
from gymline.suites.checks import dummy_check
from gymline.suites.settings import SuiteSettings
from gymline.suites.suite import build_suite

PROGRAMS = Path(__file__).with_name("programs")
SAMPLES = Path(__file__).parents[2] / "samples"
SMALL = SuiteSettings(max_invocations=200, batch=60)

Build = Callable[..., tuple[Produced, Path]]


@pytest.fixture(scope="module")
def build(sandbox: Sandbox, root: Root, tmp_path_factory: pytest.TempPathFactory) -> Build:
    def build_one(
        executable: Path, name: str, source: Path | None = None, settings: SuiteSettings = SMALL
    ) -> tuple[Produced, Path]:
        folder = tmp_path_factory.mktemp(name)
        gold, out = folder / "gold", folder / "out"
        gold.mkdir()
        shutil.copyfile(executable, gold / "executable")
        (gold / "executable").chmod(0o755)
        if source is None:
            source = folder / "source"
            source.mkdir()
        made = build_suite(source, gold, name, sandbox, root, folder / "scratch", out, settings)
        return made, out

    return build_one


@pytest.fixture(scope="module")
def wordy(build: Build) -> tuple[Produced, Path]:
    return build(PROGRAMS / "wordy.sh", "wordy")


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_two_builds_of_a_suite_are_equal_to_the_byte(build: Build, wordy: tuple[Produced, Path]) -> None:
    _, first = wordy
    _, second = build(PROGRAMS / "wordy.sh", "wordy")
    assert contents(first) == contents(second)


def test_two_suites_of_an_unsteady_program_are_equal_and_keep_nothing_unsteady(build: Build) -> None:
    steady = {"--help", "-h", "steady"}
    _, first = build(PROGRAMS / "unsteady.sh", "unsteady")
    _, second = build(PROGRAMS / "unsteady.sh", "unsteady")
    assert contents(first) == contents(second)
    kept = read_cases(first / "cases.jsonl")
    answered = {case.argv[0] for case in kept if case.argv and case.expected.status == 0}
    assert answered == steady
    ignored = [orjson.loads(line) for line in (first / "ignored.jsonl").read_bytes().splitlines()]
    assert sum(record["reason"] == "gold_flaky" for record in ignored) >= 5


def test_an_answer_made_of_the_clock_is_not_kept_however_quick_the_program(build: Build) -> None:
    _, out = build(PROGRAMS / "clock.sh", "clock", settings=SuiteSettings(max_invocations=80, batch=80))
    answered = {case.argv[0] for case in read_cases(out / "cases.jsonl") if case.argv and not case.expected.status}
    assert answered == {"--help", "-h", "steady"}


def test_a_suite_holds_what_its_cases_refer_to_and_nothing_else(wordy: tuple[Produced, Path]) -> None:
    made, out = wordy
    assert made.outcome == "built"
    assert all(check.passed for check in made.checks)
    cases = read_cases(out / "cases.jsonl")
    assert [c.id for c in cases] == sorted(c.id for c in cases)
    referred = {f.sha256 for c in cases for f in (*c.files, *c.expected.files)}
    referred |= {c.expected.stdout for c in cases} | {c.stdin for c in cases if c.stdin}
    assert {p.name for p in (out / "inputs").iterdir()} == referred
    assert {p.name for p in out.iterdir()} == {"cases.jsonl", "ignored.jsonl", "inputs", "suite.json"}


def test_the_explorer_uses_the_commands_options_and_values_of_the_help(wordy: tuple[Produced, Path]) -> None:
    _, out = wordy
    words = {word for case in read_cases(out / "cases.jsonl") for word in case.argv}
    assert {"number", "shout", "count", "--sep", "dot", "colon"} <= words
    assert {"-s", "--start"} & words


def test_a_program_that_does_nothing_passes_no_kept_case(
    wordy: tuple[Produced, Path], sandbox: Sandbox, root: Root, tmp_path: Path
) -> None:
    _, out = wordy
    cases = read_cases(out / "cases.jsonl")
    for status in (0, 1, 2):
        dummy = tmp_path / f"dummy-{status}"
        dummy.write_text(f"#!/bin/sh\nexit {status}\n")
        dummy.chmod(0o755)
        results = run_cases(sandbox, root, dummy, "wordy", cases, out / "inputs")
        assert [r.id for r in results if r.status == "passed"] == []


def test_a_program_that_always_refuses_passes_few_cases(
    wordy: tuple[Produced, Path], sandbox: Sandbox, root: Root, tmp_path: Path
) -> None:
    _, out = wordy
    cases = read_cases(out / "cases.jsonl")
    refuser = tmp_path / "refuser"
    refuser.write_text("#!/bin/sh\necho no >&2\nexit 2\n")
    refuser.chmod(0o755)
    results = run_cases(sandbox, root, refuser, "wordy", cases, out / "inputs")
    assert sum(r.status == "passed" for r in results) <= 0.15 * len(cases)


def test_cases_that_an_echo_or_a_fixed_answer_passes_are_dummies(sandbox: Sandbox, root: Root, tmp_path: Path) -> None:
    inputs = tmp_path / "inputs"
    inputs.mkdir()

    def case(name: str, argv: tuple[str, ...], stdin: bytes, stdout: bytes) -> Case:
        digests = []
        for content in (stdin, stdout):
            digests.append(sha256(content))
            (inputs / digests[-1]).write_bytes(content)
        expected = {"status": 0, "stdout": digests[1], "stderr_empty": True}
        return Case.model_validate(
            {"id": name, "category": "io", "argv": argv, "stdin": digests[0], "expected": expected}
        )

    cases = [
        case("echoed", (), b"abc\n", b"abc\n"),
        case("parroted", ("a", "b"), b"", b"a b\n"),
        case("helped", ("x",), b"q", b"Usage: it's 100% fixed\n"),
        case("worked-out", ("x",), b"q", b"1 q\n"),
    ]
    left, ignored = dummy_check(
        sandbox, root, "it", cases, inputs, tmp_path, {"prints-the-help": "Usage: it's 100% fixed\n"}
    )
    assert [c.id for c in left] == ["worked-out"]
    assert {i.id: i.reason for i in ignored} == dict.fromkeys(("echoed", "parroted", "helped"), "dummy_pass")


def test_a_program_that_says_nothing_is_refused_with_the_reason(build: Build, tmp_path: Path) -> None:
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexit 0\n")
    made, out = build(silent, "silent")
    assert (made.outcome, made.reason) == ("refused", "fewer than 10 stable cases")
    assert not out.exists()


def test_a_program_that_hangs_costs_little_and_gives_no_case(build: Build, tmp_path: Path) -> None:
    hanging = tmp_path / "hanging"
    hanging.write_text("#!/bin/sh\nexec sleep 60\n")
    settings = SuiteSettings(max_invocations=6, slow_seconds=0.3)
    made, _ = build(hanging, "hanging", settings=settings)
    assert made.outcome == "refused"
    assert sum(made.metadata["seconds_by_stage"].values()) < 20


@pytest.mark.parametrize(
    ("sample", "script", "built"),
    [
        ("tally-c", "make", "tally"),
        ("inkwell-cpp", "cmake -S . -B /tmp/b >&2 && cmake --build /tmp/b >&2 && cp /tmp/b/inkwell .", "inkwell"),
        ("ledgerkit-go", "GOCACHE=/tmp/go go build -o ledgerkit .", "ledgerkit"),
        ("routefind-rs", "cargo build --release --offline && cp target/release/routefind .", "routefind"),
    ],
)
def test_a_sample_reaches_its_target(
    sample: str, script: str, built: str, build: Build, sandbox: Sandbox, root: Root, tmp_path: Path
) -> None:
    source = SAMPLES / sample
    work = tmp_path / "work"
    shutil.copytree(source, work)
    for path in (work, *work.rglob("*")):
        path.chmod(0o777)
    done = sandbox.run(
        root,
        Command(
            argv=("/bin/sh", "-c", script),
            cwd="/src",
            mounts=(Mount(work, "/src", writable=True),),
            limits=Limits(wall_seconds=300),
        ),
    )
    assert done.ok, done.stderr.decode()
    made, out = build(work / built, built, source, settings=SuiteSettings())
    cases = read_cases(out / "cases.jsonl")
    assert made.outcome == "built"
    assert len(cases) >= 60
    assert len({c.category for c in cases}) >= 4
