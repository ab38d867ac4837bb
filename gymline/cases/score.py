"""The score of a run: ours, stated (the reference run's published reward equals none of its own counts).

score = passed / total, total = the cases that are not ignored; skipped, failed and erring ones count against
it. Resolved at exactly 1.0, almost resolved from 0.95. A run the infrastructure broke has no score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gymline.cases.case import CATEGORIES
from gymline.cases.runner import STATUSES, CaseResult
from gymline.errors import CaseError, SandboxError

ALMOST = 0.95


@dataclass(frozen=True)
class Score:
    """Counts beside the score. ``by_category`` maps a category to (passed, total)."""

    passed: int
    total: int
    ignored: int
    by_status: dict[str, int]
    by_category: dict[str, tuple[int, int]]

    @property
    def score(self) -> float:
        return self.passed / self.total

    @property
    def resolved(self) -> bool:
        return self.passed == self.total

    @property
    def almost_resolved(self) -> bool:
        return self.score >= ALMOST


def score(results: Sequence[CaseResult], ignored: int = 0) -> Score:
    """The score of these results. Raises ``CaseError`` when there is none to count, ``SandboxError`` when the
    infrastructure failed for any of them: an infrastructure failure is never a score."""
    if not results:
        raise CaseError("the suite", "it has no case that counts", "A program without cases cannot be scored")
    by_status = Counter(result.status for result in results)
    lost = by_status["system_error"] + by_status["not_run"]
    if lost:
        first = next(result for result in results if result.status in ("system_error", "not_run"))
        raise SandboxError(
            f"{len(results)} cases",
            f"{by_status['system_error']} hit an infrastructure failure and {by_status['not_run']} were not "
            f"run, so there is no score (first: {first.id}: {first.detail})",
            "Run it again when the sandbox works",
        )
    by_category = {
        category: (sum(result.status == "passed" for result in inside), len(inside))
        for category in CATEGORIES
        if (inside := [result for result in results if result.category == category])
    }
    return Score(
        by_status["passed"],
        len(results),
        ignored,
        {status: by_status[status] for status in STATUSES},
        by_category,
    )
