"""Which of the stable cases a suite keeps: a spread over subcommands and options, few refusals, no repetition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gymline.suites.reference import Attempt
from gymline.suites.settings import SuiteSettings


def distinct(attempts: Sequence[Attempt]) -> list[Attempt]:
    """One attempt for each (group of options, outcome): a second one would test the same again. Among refusals,
    whose outcome says nothing, one for each (subcommand, options, number of operands)."""
    found: dict[tuple[object, ...], Attempt] = {}
    spread = Counter(a.answer for a in attempts)
    for attempt in attempts:
        # The same answer from many option sets is the answer of options that had no effect: keep a few of them.
        key = (attempt.idea.category, attempt.answer)
        if attempt.refuses:
            key = (attempt.idea.group, attempt.answer, len(attempt.idea.operands), bool(attempt.idea.files))
        elif spread[attempt.answer] <= 3:
            key = (attempt.idea.group, attempt.answer)
        found.setdefault(key, attempt)
    return list(found.values())


def select(attempts: Sequence[Attempt], settings: SuiteSettings) -> list[Attempt]:
    """At most ``max_kept`` of the attempts, by id. Each step takes the one whose category, group, shape and
    subcommand are the least represented so far; refusals only up to their share, groups up to their bound."""
    left = sorted(attempts, key=lambda a: a.idea.id)
    chosen: list[Attempt] = []
    counts: Counter[tuple[str, object]] = Counter()
    answers = [a for a in left if not a.refuses]
    share = settings.max_refusal_share
    most_refusals = int(min(settings.max_kept, len(answers)) * share / (1 - share))
    refusals = 0
    features = {a.idea.id: _features(a) for a in left}
    while left and len(chosen) < settings.max_kept:
        allowed = [
            a
            for a in left
            if counts[("group", a.idea.group)] < _most_of_group(a, settings)
            and (not a.refuses or refusals < most_refusals)
        ]
        if not allowed:
            break
        best = min(allowed, key=lambda a: (sum(w * counts[f] for f, w in features[a.idea.id]), a.idea.id))
        chosen.append(best)
        left.remove(best)
        refusals += best.refuses
        counts.update(f for f, _ in features[best.idea.id])
    return sorted(chosen, key=lambda a: a.idea.id)


def _most_of_group(attempt: Attempt, settings: SuiteSettings) -> int:
    """Calls without options differ in their operands and inputs, which is all that some programs have."""
    has_options = "-" in attempt.idea.group
    return settings.max_per_group * (1 if has_options else 4)


def _features(attempt: Attempt) -> tuple[tuple[tuple[str, object], float], ...]:
    idea = attempt.idea
    return (
        (("shape", attempt.shape), 4.0),
        (("group", idea.group), 2.0),
        (("command", idea.command), 0.5),
        (("category", idea.category), 0.25),
        (("inputs", (idea.stdin is not None, len(idea.files))), 0.1),
    )
