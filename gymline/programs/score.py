"""Scores a submission against an environment, with ProgramBench's semantics.

A fresh copy of the submission, without files that are the gold executable; compile.sh offline at the path of
the gold build (``gymline.build.stages.rebuild``, which also removes ``./executable`` first); then every case,
and the executable's digest compared before and after. A submission that does not compile scores 0: that is
its own doing. A sandbox that fails raises. No git repository is seeded: the gold build had none either, and
versions derived from one would differ between the two."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import orjson

from gymline.build import CompileFailed
from gymline.build.settings import BuildSettings
from gymline.build.stages import rebuild
from gymline.build.trees import copy_tree, regular_files
from gymline.cases.case import read_cases
from gymline.cases.runner import CaseResult, run_cases
from gymline.cases.score import Score, score
from gymline.cases.settings import CaseSettings
from gymline.errors import SandboxError, SettingsError
from gymline.programs.settings import ProgramSettings
from gymline.sandbox import Root, Sandbox
from gymline.store import remove_tree


@dataclass(frozen=True)
class ProgramScore:
    """``counts`` is None, and ``passed`` 0, where the submission did not compile; ``reason`` then says
    why."""

    status: Literal["scored", "compile failed"]
    total: int
    passed: int
    counts: Score | None = None
    reason: str = ""
    executable_sha256: str = ""
    is_gold: bool = False
    """Whether the program compiled to the gold executable's bytes, as an oracle's does."""
    deleted: tuple[str, ...] = ()
    """Files that were the gold executable."""
    results: tuple[CaseResult, ...] = ()

    @property
    def score(self) -> float:
        """Share of the cases passed, 0 to 1."""
        return self.passed / self.total

    def summary(self) -> Mapping[str, Any]:
        """The counts, for metadata and printing."""
        by_category = self.counts.by_category if self.counts else {}
        return {
            "status": self.status,
            "score": round(self.score, 4),
            "passed": self.passed,
            "total": self.total,
            "ignored": self.counts.ignored if self.counts else 0,
            "by_status": dict(Counter(result.status for result in self.results)),
            "by_category": {name: f"{passed}/{total}" for name, (passed, total) in by_category.items()},
            "reason": self.reason,
        }


def score_submission(
    environment: Path,
    submission: Path,
    sandbox: Sandbox,
    root: Root,
    scratch: Path,
    settings: ProgramSettings,
    *,
    build: BuildSettings | None = None,
    cases: CaseSettings | None = None,
) -> ProgramScore:
    """Scores the folder ``submission`` (read only) in ``scratch``, an empty folder.

    Raises ``SandboxError`` for an infrastructure failure, ``CaseError`` for a damaged suite,
    ``SettingsError`` where ``submission`` is no folder."""
    if submission.is_symlink() or not submission.is_dir():
        raise SettingsError(f"submission {submission.name!r}", "is no folder", "Give the folder with compile.sh")
    build = build or BuildSettings()
    suite = environment / "tests"
    task = orjson.loads((suite / "task.json").read_bytes())
    todo = read_cases(suite / "cases.jsonl")
    ignored = (suite / "ignored.jsonl").read_bytes().count(b"\n")

    copy = scratch / "submission"
    copy_tree(submission, copy, mtime=build.source_date_epoch)
    deleted = tuple(path for path, file in regular_files(copy) if _digest(file) == task["gold_sha256"])
    for path in deleted:
        (copy / path).unlink()
    try:
        executable = rebuild(
            copy,
            copy,
            sandbox=sandbox,
            root=root,
            scratch=scratch / "build",
            settings=build,
            seconds=settings.compile_seconds,
        )
    except CompileFailed as failed:
        return ProgramScore("compile failed", len(todo), 0, reason=failed.rule, deleted=deleted)
    finally:
        remove_tree(copy)
    digest = _digest(executable)
    results = run_cases(sandbox, root, executable, task["name"], todo, suite / "inputs", settings=cases)
    if _digest(executable) != digest:
        raise SandboxError("the executable", "changed while it was tested", "Check the back end's read-only mounts")
    counts = score(results, ignored)
    return ProgramScore(
        status="scored",
        total=counts.total,
        passed=counts.passed,
        counts=counts,
        executable_sha256=digest,
        is_gold=digest == task["gold_sha256"],
        deleted=deleted,
        results=tuple(results),
    )


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
