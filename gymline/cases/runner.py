"""Runs invocations in batches, and says whose fault it is when a batch does not come to its end.

A batch can end early because of the program (it killed the worker, it used up the memory) or because of the
world. What finished counts. What had started but not finished is run again alone in a sandbox of its own, and
only when it takes that one down too is it ``spoiled``: the program's own doing, for the worker had just
reported that it started. What had not started goes into a new batch. A sandbox that raises, or whose worker
never reports anything, is an infrastructure failure after the second try, and never a verdict about a case.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gymline.cases.batch import BatchOutcome, Program, cut, run_batch
from gymline.cases.case import Case, Category, Invocation
from gymline.cases.observation import Observation
from gymline.cases.settings import CaseSettings
from gymline.errors import SandboxError
from gymline.sandbox import Mount, Root, Sandbox

Status = Literal["passed", "skipped", "failure", "error", "system_error", "not_run"]
"""ProgramBench's vocabulary. ``failure``: it ran and differs. ``error``: it could not be compared (late,
flooding, not startable, spoiled). ``system_error`` and ``not_run``: the infrastructure failed, there or
before."""
STATUSES: tuple[Status, ...] = ("passed", "skipped", "failure", "error", "system_error", "not_run")


@dataclass(frozen=True)
class CaseResult:
    """One case's verdict; ``detail`` says what differs, ``observation`` is None where nothing was seen."""

    id: str
    category: Category
    status: Status
    detail: str = ""
    observation: Observation | None = None


def observe(
    sandbox: Sandbox,
    root: Root,
    executable: Path,
    name: str,
    invocations: Sequence[Invocation],
    inputs: Path,
    *,
    settings: CaseSettings | None = None,
    record: bool = True,
    mounts: Sequence[Mount] = (),
    env: dict[str, str] | None = None,
) -> list[Observation]:
    """What the program does for each invocation, in their order; with the contents of stdout and of left
    files when ``record``. Raises ``SandboxError`` when the infrastructure failed, ``CaseError`` for a missing
    input."""
    program = Program(executable, name, tuple(mounts), tuple(sorted((env or {}).items())))
    seen, _, failure = _observe(sandbox, root, program, invocations, inputs, settings or CaseSettings(), record)
    if failure is not None:
        raise failure
    return [seen[invocation.id] for invocation in invocations]


def run_cases(
    sandbox: Sandbox,
    root: Root,
    executable: Path,
    name: str,
    cases: Sequence[Case],
    inputs: Path,
    *,
    settings: CaseSettings | None = None,
) -> list[CaseResult]:
    """A result for every case, in their order. An infrastructure failure gives ``system_error`` to the cases
    it hit and ``not_run`` to those after it (``score`` refuses both). Raises ``CaseError`` for a missing
    input."""
    program = Program(executable, name)
    seen, hit, failure = _observe(sandbox, root, program, cases, inputs, settings or CaseSettings(), record=False)
    results: list[CaseResult] = []
    for case in cases:
        if case.id in seen:
            results.append(verdict(case, seen[case.id]))
        else:
            status: Status = "system_error" if case.id in hit else "not_run"
            results.append(CaseResult(case.id, case.category, status, str(failure)))
    return results


def verdict(case: Case, seen: Observation) -> CaseResult:
    """Compares what was seen with what the case expects."""
    differences = _differences(case, seen) if seen.ending == "exited" else []
    if seen.ending != "exited":
        detail = {
            "timeout": f"ran longer than {case.timeout_seconds:g} s",
            "output": "printed more than is kept",
            "unstartable": seen.detail,
            "spoiled": seen.detail,
        }[seen.ending]
        return CaseResult(case.id, case.category, "error", detail, seen)
    return CaseResult(case.id, case.category, "failure" if differences else "passed", "; ".join(differences), seen)


def _differences(case: Case, seen: Observation) -> list[str]:
    expected = case.expected
    found: list[str] = []
    if seen.status != expected.status:
        found.append(f"exit status {seen.status}, expected {expected.status}")
    if seen.stdout.sha256 != expected.stdout:
        found.append(f"stdout differs ({seen.stdout.size} bytes)")
    if expected.stderr_empty is not None and (seen.stderr.size == 0) != expected.stderr_empty:
        found.append(f"stderr is {'not ' if expected.stderr_empty else ''}empty")
    if expected.files and not seen.files_complete:
        found.append("it left more files than are looked at")
    present = {file.path: file.sha256 for file in case.files if file.path not in seen.removed}
    present.update((file.path, file.content.sha256) for file in seen.files)
    for file in expected.files:
        if file.path not in present:
            found.append(f"file {file.path!r} is missing")
        elif present[file.path] != file.sha256:
            found.append(f"file {file.path!r} differs")
    return found


def _observe(
    sandbox: Sandbox,
    root: Root,
    program: Program,
    invocations: Sequence[Invocation],
    inputs: Path,
    settings: CaseSettings,
    record: bool,
) -> tuple[dict[str, Observation], set[str], SandboxError | None]:
    """Observations by id; after an infrastructure failure, the ids it hit and the failure."""
    seen: dict[str, Observation] = {}
    unfinished: Counter[str] = Counter()
    fruitless: Counter[str] = Counter()
    waiting = deque(cut(invocations, inputs, settings))

    def attempt(batch: list[Invocation]) -> BatchOutcome | SandboxError:
        try:
            return run_batch(sandbox, root, program, batch, inputs, settings, record=record)
        except SandboxError as error:
            return error

    with ThreadPoolExecutor(max_workers=settings.jobs) as pool:
        while waiting:
            batches = [waiting.popleft() for _ in range(min(settings.jobs, len(waiting)))]
            for batch, outcome in zip(batches, pool.map(attempt, batches), strict=True):
                if isinstance(outcome, BatchOutcome):
                    seen.update(outcome.finished)
                    again = _again(batch, outcome, unfinished, seen)
                    if again is not None:
                        waiting.extendleft(reversed(again))
                        continue
                    outcome = SandboxError(
                        f"cases of {program.name!r}",
                        f"the worker reported nothing ({outcome.ending})",
                        "Check the rootfs (it needs /usr/bin/python3) with `gymline doctor`",
                    )
                fruitless[batch[0].id] += 1
                if fruitless[batch[0].id] >= 2:
                    return seen, {invocation.id for invocation in batch}, outcome
                waiting.appendleft(batch)
    return seen, set(), None


def _again(
    batch: list[Invocation], outcome: BatchOutcome, unfinished: Counter[str], seen: dict[str, Observation]
) -> list[list[Invocation]] | None:
    """The batches that must follow, or None when this one gave nothing to go by."""
    missing = [invocation for invocation in batch if invocation.id not in outcome.finished]
    # Alone, and known to have started before: a program can keep its start line from us, but not its second
    # death.
    alone = len(batch) == 1 and unfinished[batch[0].id] > 0
    suspects = [invocation for invocation in missing if alone or invocation.id in outcome.started]
    if missing and not suspects and len(missing) == len(batch):
        return None
    follow: list[list[Invocation]] = []
    for suspect in suspects:
        unfinished[suspect.id] += 1
        if unfinished[suspect.id] >= 2:
            detail = f"the runner did not survive it ({outcome.ending})"
            seen[suspect.id] = Observation(suspect.id, "spoiled", None, detail=detail)
        else:
            follow.append([suspect])
    rest = [invocation for invocation in missing if invocation not in suspects]
    return [*follow, rest] if rest else follow
