"""Environments score their oracle and nothing else; submissions are judged by what they compile to."""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

from gymline.build.settings import BuildSettings
from gymline.errors import CaseError, SandboxError, SettingsError
from gymline.lineage.produced import Produced
from gymline.programs.environment import oracle_submission, package_environment
from gymline.programs.score import ProgramScore, score_submission
from gymline.programs.settings import ProgramSettings
from gymline.sandbox import Command, Completed, Limits, Mount, Root, Sandbox
from gymline.store import digest_tree

IDENTITY = {"name": "acme/greet", "default_branch": "main", "language": "C", "license": "MIT"}
LOCK = {"commit": "1" * 40, "tree": "2" * 40}
Package = Callable[..., Produced]
Scored = Callable[..., ProgramScore]


@pytest.fixture(scope="module")
def package(
    gold: Path, docs: Path, suite: Path, source: Path, sandbox: Sandbox, root: Root,
    tmp_path_factory: pytest.TempPathFactory,
) -> Package:  # fmt: skip
    def package(**changes: Path) -> Produced:
        folder = tmp_path_factory.mktemp("environment")
        (folder / "scratch").mkdir()
        parts = {"gold": gold, "docs": docs, "suite": suite, "source": source, **changes}
        return package_environment(
            "acme/greet", IDENTITY, LOCK,
            sandbox=sandbox, root=root, scratch=folder / "scratch", out=folder / "out",
            settings=ProgramSettings(), **parts,
        )  # fmt: skip

    return package


@pytest.fixture(scope="module")
def produced(package: Package) -> Produced:
    return package()


@pytest.fixture(scope="module")
def environment(produced: Produced) -> Path:
    return Path(produced.content)


@pytest.fixture
def scored(environment: Path, sandbox: Sandbox, root: Root, tmp_path: Path) -> Scored:
    def scored(submission: Path, sandbox: Sandbox = sandbox) -> ProgramScore:
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        return score_submission(environment, submission, sandbox, root, scratch, ProgramSettings())

    return scored


@pytest.fixture
def oracle(environment: Path, tmp_path: Path) -> Path:
    return oracle_submission(environment, tmp_path / "oracle", BuildSettings())


def files_below(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if file.is_file())


def test_the_oracle_gets_every_point_and_programs_that_do_nothing_none(produced: Produced) -> None:
    assert [(check.name, check.passed, check.blocking) for check in produced.checks] == [
        ("oracle_scores_all", True, True),
        ("do_nothing_scores_zero", True, True),
    ]
    assert produced.metadata["oracle"]["score"] == 1.0
    assert produced.metadata["oracle"]["by_status"] == {"passed": 4}
    assert {one["passed"] for one in produced.metadata["do_nothing"].values()} == {0}
    assert sorted(produced.metadata["do_nothing"]) == ["failing", "silent"]


def test_the_same_inputs_give_the_same_tree(package: Package, environment: Path) -> None:
    assert digest_tree(Path(package().content)) == digest_tree(environment)


def test_the_task_folder_is_harbors_and_says_what_it_holds(environment: Path) -> None:
    task = tomllib.loads((environment / "task.toml").read_text())
    assert task["schema_version"] == "1.4" and task["task"]["name"] == "gymline/acme-greet"
    assert task["verifier"]["environment_mode"] == "separate"
    resources = {key: task["environment"][key] for key in ("cpus", "memory_mb", "storage_mb")}
    assert resources == {"cpus": 8, "memory_mb": 16384, "storage_mb": 30720}
    assert task["agent"]["timeout_sec"] == 28800
    for path in ("environment/Dockerfile", "tests/Dockerfile", "tests/worker.py", "tests/inputs"):
        assert (environment / path).exists()
    for path in ("tests/test.sh", "solution/solve.sh", "reference/executable"):
        assert os.access(environment / path, os.X_OK)
    assert "$" not in (environment / "instruction.md").read_text().replace("`$`", "")
    manifest = orjson.loads((environment / "manifest.json").read_bytes())
    assert manifest["cases"]["by_category"] == {
        "args": 1, "config": 1, "help": 1, "io": 1, "subcommands": 0, "tui": 0,
    }  # fmt: skip
    assert manifest["cases"]["ignored"] == {"dummy_pass": 1}
    assert manifest["reference"]["shown_to_the_solver"] is False


def test_the_solvers_side_holds_neither_the_reference_nor_source_code_nor_tests(
    environment: Path, source: Path
) -> None:
    hidden = {
        file.read_bytes()
        for folder in (environment / "reference", environment / "tests")
        for file in files_below(folder)
        if file.name != "Dockerfile"
    }
    hidden |= {(source / name).read_bytes() for name in ("greet.c", "Makefile")}
    shown = {file.relative_to(environment / "environment").as_posix(): file.read_bytes()
             for file in files_below(environment / "environment")}  # fmt: skip
    assert sorted(shown) == ["Dockerfile", "docs/LICENSE", "docs/README.md", "docs/examples/names.txt"]
    assert not hidden & set(shown.values())


def test_a_suite_that_the_oracle_fails_does_not_count(package: Package, suite: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "suite"
    shutil.copytree(suite, wrong)
    lines = (wrong / "cases.jsonl").read_bytes().replace(b'"status":0', b'"status":9', 1)
    (wrong / "cases.jsonl").write_bytes(lines)
    checks = {check.name: check for check in package(suite=wrong).checks}
    assert not checks["oracle_scores_all"].passed
    assert checks["oracle_scores_all"].metadata["failed"] == ["help-1: exit status 0, expected 9"]


def test_a_suite_that_a_do_nothing_program_passes_does_not_count(package: Package, suite: Path, tmp_path: Path) -> None:
    weak = tmp_path / "suite"
    shutil.copytree(suite, weak)
    case = orjson.loads((weak / "cases.jsonl").read_bytes().splitlines()[0])
    case |= {"id": "weak-1", "argv": ["nonsense"]}
    case["expected"] = {"status": 1, "stdout": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}
    with (weak / "cases.jsonl").open("ab") as file:
        file.write(orjson.dumps(case) + b"\n")
    checks = {check.name: check for check in package(suite=weak).checks}
    assert not checks["do_nothing_scores_zero"].passed
    assert checks["do_nothing_scores_zero"].metadata["failing"]["passed_cases"] == ["weak-1"]


def test_a_suite_without_cases_is_no_environment(package: Package, suite: Path, tmp_path: Path) -> None:
    empty = tmp_path / "suite"
    shutil.copytree(suite, empty)
    (empty / "cases.jsonl").write_bytes(b"")
    with pytest.raises(CaseError, match="has no case"):
        package(suite=empty)


def test_a_gold_binary_handed_in_is_deleted_and_earns_nothing(
    environment: Path, scored: Scored, tmp_path: Path
) -> None:
    submission = tmp_path / "thief"
    (submission / "lib").mkdir(parents=True)
    shutil.copy(environment / "reference" / "executable", submission / "lib" / "helper.bin")
    (submission / "compile.sh").write_text("cp lib/helper.bin executable\n")
    score = scored(submission)
    assert score.deleted == ("lib/helper.bin",)
    assert (score.status, score.score, score.total) == ("compile failed", 0.0, 4)


@pytest.mark.parametrize("script", [None, "true\n"])
def test_an_executable_that_was_handed_in_rather_than_compiled_does_not_count(
    script: str | None, scored: Scored, tmp_path: Path
) -> None:
    submission = tmp_path / "lazy"
    submission.mkdir()
    (submission / "executable").write_text("#!/bin/sh\necho 'Hello, Ada!'\n")
    (submission / "executable").chmod(0o755)
    if script is not None:
        (submission / "compile.sh").write_text(script)
    score = scored(submission)
    assert (score.status, score.passed) == ("compile failed", 0) and score.reason


def test_a_partial_program_gets_its_share_with_counts(scored: Scored, tmp_path: Path) -> None:
    submission = tmp_path / "partial"
    submission.mkdir()
    (submission / "greet").write_text('#!/bin/sh\n[ "$1" = hello ] && echo "Hello, $2!"\n')
    (submission / "compile.sh").write_text("install -m 755 greet executable\n")
    score = scored(submission)
    assert (score.score, score.passed, score.total, score.is_gold) == (0.25, 1, 4, False)
    assert score.summary()["by_category"]["args"] == "1/1"


def test_compiling_is_offline_and_cannot_reach_the_tests(scored: Scored, tmp_path: Path) -> None:
    submission = tmp_path / "curious"
    submission.mkdir()
    (submission / "compile.sh").write_text(
        'set -e\n! ls /tests\n! ls /reference\n! (exec 3<>/dev/tcp/127.0.0.1/22)\n[ -z "${http_proxy:-}" ]\n'
        "printf '#!/bin/sh\\nexit 1\\n' > executable\n"
    )
    assert scored(submission).status == "scored"


def test_the_submission_itself_is_left_as_it_was(scored: Scored, oracle: Path) -> None:
    before = digest_tree(oracle)
    assert scored(oracle).is_gold
    assert digest_tree(oracle) == before


class FailsOn:
    """The real sandbox, whose infrastructure fails for commands with this label."""

    name = "fails"

    def __init__(self, inner: Sandbox, label: str) -> None:
        self.inner, self.label = inner, label

    def run(self, root: Root, command: Command) -> Completed:
        if command.label.startswith(self.label):
            raise SandboxError("the sandbox", "no space left on device", "Make room")
        return self.inner.run(root, command)

    def run_layer(self, root: Root, command: Command, layer: Path) -> Completed:
        raise NotImplementedError


@pytest.mark.parametrize("label", ["build", "cases"])
def test_an_infrastructure_failure_is_never_a_score_of_zero(
    label: str, scored: Scored, oracle: Path, sandbox: Sandbox
) -> None:
    with pytest.raises(SandboxError, match="no space left"):
        scored(oracle, sandbox=FailsOn(sandbox, label))


def test_a_submission_that_is_no_folder_is_a_typed_error(scored: Scored, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="is no folder"):
        scored(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("script", "passed", "compiled"),
    [
        (None, 4, 1),
        ("printf '#!/bin/sh\\nexit 0\\n' > executable; chmod 755 executable", 0, 1),
        ("cat /tests/cases.jsonl > stolen && printf '#!/bin/sh\\n' > executable", 0, 0),
        ("exit 1", 0, 0),
    ],
)
def test_the_verifier_that_travels_with_the_task_judges_alike(
    script: str | None, passed: int, compiled: int,
    environment: Path, oracle: Path, sandbox: Sandbox, root: Root, tmp_path: Path,
) -> None:  # fmt: skip
    if script is not None:
        shutil.rmtree(oracle)
        oracle.mkdir()
        (oracle / "compile.sh").write_text(script)
    # As Harbor does: the artifact at its own path, the tests at /tests, everything as root.
    (tmp_path / "workspace").mkdir()
    oracle.rename(tmp_path / "workspace" / "src")
    shutil.copytree(environment / "tests", tmp_path / "tests")
    mounts = [
        Mount(tmp_path / name, target, writable=True)
        for name, target in {
            "workspace": "/workspace",
            "tests": "/tests",
            "verifier": "/logs/verifier",
            "worker": "/worker",
            "program": "/program",
        }.items()
    ]
    for mount in mounts:
        mount.source.mkdir(exist_ok=True)
    done = sandbox.run(
        root,
        Command(["bash", "/tests/test.sh"], mounts=mounts, user=0, limits=Limits(wall_seconds=60)),
    )
    assert done.ok, done.stderr.decode()
    reward = orjson.loads((tmp_path / "verifier" / "reward.json").read_bytes())
    assert reward == {"reward": passed / 4, "passed": passed, "total": 4, "compiled": compiled}
