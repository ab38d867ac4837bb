"""``build_suite``: from a gold executable and its source tree to a suite folder, or a refusal."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ParamSpec, TypeVar

import orjson

from gymline.cases.case import CATEGORIES, Case, Ignored, write_jsonl
from gymline.lineage.produced import Check, Produced, refused
from gymline.sandbox import Root, Sandbox
from gymline.suites.checks import as_case, double_check, dummy_check, pass_check, unusable
from gymline.suites.explorer import explore
from gymline.suites.reference import Attempt, Reference
from gymline.suites.selection import distinct, select
from gymline.suites.settings import SuiteSettings

P = ParamSpec("P")
T = TypeVar("T")
_CHECKS = {"gold_fail": "pass", "gold_flaky": "double", "dummy_pass": "dummy", "slow_or_hang": "slow"}


def build_suite(
    source: Path,
    gold: Path,
    name: str,
    sandbox: Sandbox,
    root: Root,
    scratch: Path,
    out: Path,
    settings: SuiteSettings,
) -> Produced:
    """A suite for the program ``name`` whose executable is ``gold/executable``, written to ``out``:

    ``cases.jsonl`` (by id), ``inputs/<sha256>`` (what the cases refer to), ``ignored.jsonl`` (cases left out, with the
    reason) and ``suite.json`` (counts, settings). ``scratch`` is an empty folder; evidence stays in it. Refused when
    fewer than ``settings.min_kept`` cases are stable. Raises ``SandboxError`` when the infrastructure failed, and
    ``CaseError`` for a case out of format.
    """
    inputs, evidence = scratch / "inputs", scratch / "evidence"
    inputs.mkdir(parents=True)
    evidence.mkdir()
    executable = gold / "executable"
    seconds: dict[str, float] = {}
    reference = Reference(sandbox, root, executable, name, inputs, settings)

    attempts = _timed(seconds, "explore", explore, reference, source, settings)
    explored = time.monotonic()
    ignored = [record for a in attempts if (record := unusable(a, settings)) is not None]
    unfit = {record.id for record in ignored}
    candidates = distinct([a for a in attempts if a.idea.id not in unfit])
    cases = [as_case(a, reference, settings) for a in candidates]
    gold_run = (sandbox, root, executable, name)
    cases, failed = _timed(seconds, "pass", pass_check, *gold_run, cases, inputs)
    # An answer made of the clock is the same as long as the clock is.
    time.sleep(max(0.0, explored + settings.clock_seconds - time.monotonic()))
    cases, flaky = _timed(seconds, "double", double_check, *gold_run, cases, inputs)
    answers = _fixed_answers(attempts)
    cases, weak = _timed(seconds, "dummy", dummy_check, sandbox, root, name, cases, inputs, scratch, answers)
    ignored += [*failed, *flaky, *weak]
    stable = {case.id for case in cases}
    kept = {a.idea.id for a in select([a for a in candidates if a.idea.id in stable], settings)}
    cases = sorted((c for c in cases if c.id in kept), key=_by_id)

    _write_evidence(evidence, attempts, kept, seconds)
    counts = _counts(attempts, candidates, cases, ignored)
    metadata = {"summary": _table(counts), "cases": len(cases), "seconds_by_stage": seconds, **counts}
    if len(cases) < settings.min_kept:
        reason = f"fewer than {settings.min_kept} stable cases"
        return refused(reason, evidence=evidence, metadata=metadata)
    _write_suite(out, inputs, cases, ignored, {"name": name, **counts}, settings)
    covered = [c for c in CATEGORIES if counts["by_category"].get(c)]
    return Produced(
        content=out,
        evidence=evidence,
        metadata=metadata,
        checks=(
            Check(
                "enough_cases",
                len(cases) >= 2 * settings.min_kept,
                f"At least {2 * settings.min_kept} kept cases",
                blocking=False,
                metadata={"cases": len(cases)},
            ),
            Check(
                "three_categories",
                len(covered) >= 3,
                "Kept cases in at least three of the six interaction categories",
                blocking=False,
                metadata={"categories": ", ".join(covered)},
            ),
            Check(
                "inputs_present",
                all((out / "inputs" / digest).is_file() for case in cases for digest in _digests(case)),
                "Every input and expectation a case refers to is in the suite",
            ),
        ),
    )


def _timed(seconds: dict[str, float], stage: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    started = time.monotonic()
    result = work(*args, **kwargs)
    seconds[stage] = round(time.monotonic() - started, 2)
    return result


def _by_id(record: Case | Ignored) -> str:
    return record.id


def _fixed_answers(attempts: Sequence[Attempt]) -> dict[str, str]:
    """The longest help text and the most frequent answer: what a program of one ``printf`` would print."""
    helps = [a.text for a in attempts if a.idea.category == "help" and a.seen.stdout.size]
    common = Counter(a.text for a in attempts if a.works).most_common(1)
    found: dict[str, str] = {}
    if helps:
        found["prints-the-help"] = max(helps, key=lambda text: (len(text), text))
    if common:
        found["prints-one-answer"] = common[0][0]
    return {name: text for name, text in found.items() if len(text) < 64 * 1024}


def _digests(case: Case) -> set[str]:
    """Everything the case refers to: inputs and expectations."""
    files = {file.sha256 for file in (*case.files, *case.expected.files)}
    return files | {case.expected.stdout} | ({case.stdin} if case.stdin else set())


def _counts(
    attempts: Sequence[Attempt], candidates: Sequence[Attempt], cases: Sequence[Case], ignored: Sequence[Ignored]
) -> dict[str, dict[str, int]]:
    by_category = Counter(case.category for case in cases)
    by_check = Counter(_CHECKS[record.reason] for record in ignored)
    return {
        "by_category": {c: by_category[c] for c in CATEGORIES},
        "by_check": {check: by_check[check] for check in _CHECKS.values()},
        "funnel": {"tried": len(attempts), "distinct": len(candidates), "kept": len(cases)},
    }


def _table(counts: Mapping[str, Mapping[str, int]]) -> str:
    rows = ["| | | cases |", "|---|---|---:|"]
    titles = {"funnel": "stage", "by_category": "category", "by_check": "left out by check"}
    rows += [f"| {titles[group]} | {key} | {n} |" for group in titles for key, n in counts[group].items()]
    return "\n".join(rows)


def _write_suite(
    out: Path,
    inputs: Path,
    cases: Sequence[Case],
    ignored: Sequence[Ignored],
    about: Mapping[str, object],
    settings: SuiteSettings,
) -> None:
    (out / "inputs").mkdir(parents=True)
    for digest in sorted({d for case in cases for d in _digests(case)}):
        shutil.copyfile(inputs / digest, out / "inputs" / digest)
    write_jsonl(out / "ignored.jsonl", sorted(ignored, key=_by_id))
    write_jsonl(out / "cases.jsonl", cases)
    record = {**about, "settings": settings.model_dump(mode="json")}
    path = out / "suite.json"
    path.write_bytes(orjson.dumps(record, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2))


def _write_evidence(folder: Path, attempts: Sequence[Attempt], kept: set[str], seconds: Mapping[str, float]) -> None:
    with (folder / "attempts.jsonl").open("wb") as file:
        for attempt in attempts:
            idea, seen = attempt.idea, attempt.seen
            record = {
                "id": idea.id,
                "argv": idea.argv,
                "origin": idea.origin,
                "files": [path for path, _ in idea.files],
                "ending": seen.ending,
                "status": seen.status,
                "stdout_bytes": seen.stdout.size,
                "stderr": seen.stderr.preview[:200],
                "left_files": [f.path for f in seen.files],
                "kept": idea.id in kept,
                "seconds": seen.seconds,
            }
            file.write(orjson.dumps(record) + b"\n")
    (folder / "seconds.json").write_bytes(orjson.dumps(dict(seconds), option=orjson.OPT_INDENT_2))
