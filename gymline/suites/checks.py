"""What makes a case worth keeping: it passes on the reference again (pass), again under changed circumstances
(double), and not on a program that does nothing (dummy).

The explorer has looked at each invocation twice already. The pass check runs the cases afresh; the double check runs
them in another order (other process ids, another time) and with other noise in the environment.
"""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from gymline.cases.case import Case, Expected, Ignored, OutputFile
from gymline.cases.runner import observe, run_cases, verdict
from gymline.errors import SandboxError
from gymline.sandbox import Root, Sandbox
from gymline.suites.reference import NOISE, Attempt, Reference
from gymline.suites.settings import SuiteSettings

DUMMIES = Path(__file__).with_name("dummies")


def as_case(attempt: Attempt, reference: Reference, settings: SuiteSettings) -> Case:
    """The attempt as a case that expects what was seen."""
    seen = attempt.seen
    files = tuple(OutputFile(path=f.path, sha256=f.content.sha256) for f in seen.files)
    expected = Expected(
        status=seen.status or 0, stdout=seen.stdout.sha256, stderr_empty=seen.stderr.size == 0, files=files
    )
    invocation = reference.invocation(attempt.idea, settings.case_timeout_seconds)
    return Case(
        **invocation.model_dump(),
        category=attempt.idea.category,
        origin=attempt.idea.origin,
        expected=expected,
    )


def unusable(attempt: Attempt, settings: SuiteSettings) -> Ignored | None:
    """Why an attempt can be no case whatever the other checks say; None when it can. A crash of the reference (128 +
    signal) is nothing to reproduce."""
    seen = attempt.seen
    if seen.ending == "timeout" or seen.seconds > settings.slow_seconds:
        return Ignored(id=attempt.idea.id, reason="slow_or_hang", detail=f"slower than {settings.slow_seconds:g} s")
    size = seen.stdout.size + sum(f.content.size for f in seen.files)
    if seen.ending != "exited" or not seen.files_complete or size > settings.max_output_bytes:
        return Ignored(id=attempt.idea.id, reason="gold_fail", detail=f"no comparable outcome ({seen.ending})")
    if seen.status is None or seen.status >= 128:
        return Ignored(id=attempt.idea.id, reason="gold_fail", detail=f"ended by a crash (status {seen.status})")
    if not attempt.stable:
        return Ignored(id=attempt.idea.id, reason="gold_flaky", detail="two runs in a row differ")
    if seen.status == 0 and not size:
        return Ignored(id=attempt.idea.id, reason="dummy_pass", detail="succeeds without any output")
    if _tells_the_day(attempt):
        return Ignored(id=attempt.idea.id, reason="gold_flaky", detail="prints the current date")
    return None


def _tells_the_day(attempt: Attempt) -> bool:
    """Three runs within a minute agree on the date, so a date of today that no input has is taken for the clock's."""
    now = datetime.now(UTC)
    given = b" ".join([attempt.idea.stdin or b"", *(c for _, c in attempt.idea.files)]).decode("utf-8", "replace")
    given += " ".join(attempt.idea.argv)
    formats = ("%Y-%m-%d", "%Y/%m/%d", "%d/%m/%Y", "%d %b %Y", "%b %d %Y", "%b %d, %Y", "%b %e", "%Y%m%d")
    return any(day in attempt.text and day not in given for day in (now.strftime(f) for f in formats))


def pass_check(
    sandbox: Sandbox, root: Root, gold: Path, name: str, cases: Sequence[Case], inputs: Path
) -> tuple[list[Case], list[Ignored]]:
    """The cases the reference passes in a fresh run. Raises ``SandboxError`` when the infrastructure failed."""
    failed: dict[str, str] = {}
    for result in run_cases(sandbox, root, gold, name, cases, inputs):
        if result.status in ("system_error", "not_run"):
            raise SandboxError(f"pass check of {name!r}", result.detail, "Run it again when the sandbox works")
        if result.status != "passed":
            failed[result.id] = result.detail
    ignored = [Ignored(id=i, reason="gold_fail", detail=_stable(d)) for i, d in failed.items()]
    return [c for c in cases if c.id not in failed], ignored


def double_check(
    sandbox: Sandbox, root: Root, gold: Path, name: str, cases: Sequence[Case], inputs: Path
) -> tuple[list[Case], list[Ignored]]:
    """The cases the reference passes in another order and with another environment around it."""
    order = list(cases)
    random.Random(f"double {name}").shuffle(order)
    seen = observe(sandbox, root, gold, name, order, inputs, record=False, env=NOISE)
    failed = {
        case.id: result.detail
        for case, observation in zip(order, seen, strict=True)
        if (result := verdict(case, observation)).status != "passed"
    }
    ignored = [Ignored(id=c.id, reason="gold_flaky", detail=_stable(failed[c.id])) for c in cases if c.id in failed]
    return [c for c in cases if c.id not in failed], ignored


def _stable(detail: str) -> str:
    """Sizes and statuses of a flaky case change between runs; the record of it must not."""
    return re.sub(r"exit status [^;]*", "exit status differs", re.sub(r"\s*\(\d+ bytes\)", "", detail))


def dummy_check(
    sandbox: Sandbox,
    root: Root,
    name: str,
    cases: Sequence[Case],
    inputs: Path,
    scratch: Path,
    answers: Mapping[str, str],
) -> tuple[list[Case], list[Ignored]]:
    """The cases that no program without the reference's logic passes: one that succeeds, fails, prints its input or
    its arguments, or one of the fixed ``answers`` (name to text, e.g. the help text) whatever it is asked. A help case
    may be passed by the help text: printing it is what it asks for."""
    dummies = {path.stem: path for path in sorted(DUMMIES.glob("*.sh"))}
    for answer, text in answers.items():
        dummies[answer] = _printing(scratch / f"{answer}.sh", text)
    passed: dict[str, str] = {}
    left = list(cases)
    for dummy, script in dummies.items():
        executable = scratch / f"dummy-{dummy}"
        executable.write_bytes(script.read_bytes())
        executable.chmod(0o755)
        asked = [c for c in left if not (dummy in answers and c.category == "help")]
        for result in run_cases(sandbox, root, executable, name, asked, inputs):
            if result.status in ("system_error", "not_run"):
                raise SandboxError(f"dummy check of {name!r}", result.detail, "Run it again when the sandbox works")
            if result.status == "passed":
                passed[result.id] = f"the program that {dummy} passes it"
        left = [c for c in left if c.id not in passed]
    ignored = [Ignored(id=c.id, reason="dummy_pass", detail=passed[c.id]) for c in cases if c.id in passed]
    return left, ignored


def _printing(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\nprintf '%s' {shlex.quote(text)}\n")
    path.chmod(0o755)
    return path
