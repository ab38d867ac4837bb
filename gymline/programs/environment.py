"""A program environment: a task folder in Harbor's layout, and the proof that its suite can be passed.

    task.toml, instruction.md     the task environment/                  what the solver's container is built
    from: Dockerfile and docs/ tests/                        hidden: cases, inputs, ignore records, the
    verifier solution/                     hidden, the oracle: source, the gold build's compile.sh and deps,
    solve.sh reference/                    the gold executable, for a sibling sandbox; never part of the
    solver's container manifest.json                 where everything comes from, counts, what is prohibited

Before it counts, the oracle must get every point and programs that do nothing none (blocking checks). Handing
out the reference's behaviour without its bytes is the exec proxy's part."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

import orjson

from gymline.build.settings import BuildSettings
from gymline.build.trees import copy_tree
from gymline.cases import worker
from gymline.cases.case import CATEGORIES, read_cases
from gymline.cases.settings import CaseSettings
from gymline.errors import CaseError
from gymline.lineage.produced import Check, Produced, refused
from gymline.programs import dummies, harbor
from gymline.programs.score import ProgramScore, score_submission
from gymline.programs.settings import ProgramSettings
from gymline.sandbox import Root, Sandbox
from gymline.store import remove_tree

_TEXTS = Path(harbor.__file__).parent
_DUMMIES = Path(dummies.__file__).parent
PROHIBITED = (
    "obtaining the program's source code",
    "handing in, wrapping, containing or calling the original program",
    "decompiling, disassembling or tracing the original program",
    "reading the hidden tests",
)


def package_environment(
    name: str,
    identity: Mapping[str, Any],
    lock: Mapping[str, Any],
    gold: Path,
    docs: Path,
    suite: Path,
    source: Path,
    sandbox: Sandbox,
    root: Root,
    scratch: Path,
    out: Path,
    settings: ProgramSettings,
    *,
    build: BuildSettings | None = None,
    cases: CaseSettings | None = None,
) -> Produced:
    """Writes the task folder to ``out`` (new) and scores the oracle and the do-nothing submissions.

    Args:
        name: the repository, ``owner/name`` or a name.
        identity, lock: the contents of the repository and locked_commit assets (JSON objects).
        gold, docs, suite, source: content folders of the assets before.
        scratch: an empty folder for the scoring runs.

    Refused where the fetched dependencies and the repository's own ``deps`` would collide in a submission.
    Raises ``SandboxError`` for an infrastructure failure, ``CaseError`` for a damaged or empty suite."""
    build = build or BuildSettings()
    cases = cases or CaseSettings()
    if (gold / "deps").is_dir() and (source / "deps").exists():
        return refused("the repository's own deps collides with the dependencies fetched for it")
    _write(out, name, identity, lock, gold, docs, suite, source, root, settings, build, cases)

    def scored(label: str, submission: Path) -> ProgramScore:
        work = scratch / label
        work.mkdir()
        try:
            return score_submission(out, submission, sandbox, root, work, settings, build=build, cases=cases)
        finally:
            remove_tree(work)

    oracle = scored("oracle", oracle_submission(out, scratch / "oracle-submission", build))
    nothing = {
        script.stem: scored(script.stem, do_nothing_submission(script, scratch / f"{script.stem}-submission"))
        for script in sorted(_DUMMIES.glob("*.sh"))
    }
    return Produced(
        content=out,
        checks=(_oracle_check(oracle), _nothing_check(nothing)),
        metadata={
            "cases": oracle.total,
            "oracle_score": oracle.score,
            "do_nothing_score": max(one.score for one in nothing.values()),
            "oracle": dict(oracle.summary()),
            "do_nothing": {label: dict(one.summary()) for label, one in nothing.items()},
        },
    )


def oracle_submission(environment: Path, target: Path, build: BuildSettings) -> Path:
    """What ``solve.sh`` leaves: the original source with compile.sh and deps of the gold build, in
    ``target``."""
    solution = environment / "solution"
    copy_tree(solution / "source", target, mtime=build.source_date_epoch)
    _remove(target / "compile.sh")
    shutil.copyfile(solution / "compile.sh", target / "compile.sh")
    if (solution / "deps").is_dir():
        copy_tree(solution / "deps", target / "deps", mtime=build.source_date_epoch)
    return target


def do_nothing_submission(script: Path, target: Path) -> Path:
    """A submission that is only the given compile.sh."""
    target.mkdir()
    shutil.copyfile(script, target / "compile.sh")
    return target


def _write(
    out: Path,
    name: str,
    identity: Mapping[str, Any],
    lock: Mapping[str, Any],
    gold: Path,
    docs: Path,
    suite: Path,
    source: Path,
    root: Root,
    settings: ProgramSettings,
    build: BuildSettings,
    cases: CaseSettings,
) -> None:
    about = orjson.loads((gold / "gold.json").read_bytes())
    todo = read_cases(suite / "cases.jsonl")
    if not todo:
        raise CaseError(f"suite of {name!r}", "it has no case", "Refuse the program in test_suite")
    by_category = Counter(case.category for case in todo)
    ignored = Counter(orjson.loads(line)["reason"] for line in (suite / "ignored.jsonl").read_bytes().splitlines())
    epoch = build.source_date_epoch

    for folder in ("environment", "tests", "solution", "reference"):
        (out / folder).mkdir(parents=True)
    copy_tree(docs / "files", out / "environment" / "docs", mtime=epoch)
    _fill("Dockerfile.txt", out / "environment" / "Dockerfile", copy="COPY docs/ /workspace/docs/")

    for file in ("cases.jsonl", "ignored.jsonl"):
        shutil.copyfile(suite / file, out / "tests" / file)
    copy_tree(suite / "inputs", out / "tests" / "inputs", mtime=epoch)
    shutil.copyfile(worker.__file__, out / "tests" / "worker.py")
    for file in ("test.sh", "verify.py"):
        shutil.copyfile(_TEXTS / file, out / "tests" / file)
    _fill("Dockerfile.txt", out / "tests" / "Dockerfile", copy="COPY . /tests/")
    _json(
        out / "tests" / "task.json",
        {
            "name": about["name"],
            "gold_sha256": about["executable_sha256"],
            "compile_seconds": settings.compile_seconds,
            "worker": {"env": cases.environment(), "limits": cases.worker_limits()},
        },
    )

    copy_tree(source, out / "solution" / "source", mtime=epoch)
    shutil.copyfile(gold / "compile.sh", out / "solution" / "compile.sh")
    if (gold / "deps").is_dir():
        copy_tree(gold / "deps", out / "solution" / "deps", mtime=epoch)
    shutil.copyfile(_TEXTS / "solve.sh", out / "solution" / "solve.sh")
    for script in ("tests/test.sh", "solution/compile.sh", "solution/solve.sh"):
        (out / script).chmod(0o755)

    shutil.copyfile(gold / "executable", out / "reference" / "executable")
    (out / "reference" / "executable").chmod(0o755)
    shutil.copyfile(gold / "gold.json", out / "reference" / "gold.json")

    _fill(
        "instruction.md",
        out / "instruction.md",
        program=about["name"],
        docs=sum(1 for file in (docs / "files").rglob("*") if file.is_file()),
        compile_minutes=round(settings.compile_seconds / 60),
    )
    _fill(
        "task.toml.txt",
        out / "task.toml",
        task_name="gymline/" + "-".join(name.split("/")).lower(),
        program=about["name"],
        language=str(identity.get("language", "")).lower(),
        repository=name,
        commit=lock.get("commit", ""),
        cases=len(todo),
        agent_seconds=float(settings.agent_seconds),
        verifier_seconds=float(settings.verifier_seconds + settings.compile_seconds),
        cpus=settings.container_cpus,
        memory_mb=settings.container_memory_mb,
        storage_mb=settings.container_storage_mb,
    )
    _json(
        out / "manifest.json",
        {
            "repository": {"name": name, **identity},
            "commit": dict(lock),
            "program": about["name"],
            "gold": about,
            "rootfs": root.digest,
            "cases": {
                "total": len(todo),
                "by_category": {category: by_category[category] for category in CATEGORIES},
                "ignored": dict(sorted(ignored.items())),
            },
            "reference": {
                "path": "reference/executable",
                "shown_to_the_solver": False,
                "access": "only through an exec proxy into a sibling sandbox, which this environment does not hold",
            },
            "prohibited": list(PROHIBITED),
        },
    )


def _oracle_check(oracle: ProgramScore) -> Check:
    failed = [f"{result.id}: {result.detail}" for result in oracle.results if result.status != "passed"]
    said = oracle.reason or f"the oracle passes {oracle.passed} of {oracle.total}"
    return Check(
        "oracle_scores_all",
        oracle.status == "scored" and oracle.passed == oracle.total,
        said,
        metadata={**oracle.summary(), "failed": failed[:20]},
    )


def _nothing_check(nothing: Mapping[str, ProgramScore]) -> Check:
    """A submission whose do-nothing program did not even compile proves nothing, so that fails the check
    too."""
    return Check(
        "do_nothing_scores_zero",
        all(one.status == "scored" and one.passed == 0 for one in nothing.values()),
        ", ".join(f"{label} passes {one.passed} of {one.total}" for label, one in nothing.items()),
        metadata={
            label: {
                **one.summary(),
                "passed_cases": [result.id for result in one.results if result.status == "passed"][:20],
            }
            for label, one in nothing.items()
        },
    )


def _fill(template: str, target: Path, **values: object) -> None:
    text = (_TEXTS / template).read_text()
    target.write_text(Template(text).substitute({key: str(value) for key, value in values.items()}))


def _json(target: Path, value: object) -> None:
    target.write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)
