"""Explores a program: learns its interface, finds calls that work, varies what showed something new.

The first rounds are planned (help, worked examples, base calls, options, inputs, configurations, bad usage), each cut
to its share of the budget and spread over the subcommands. The rest of the budget goes to random variations of calls,
drawn in proportion to how new their outcome was. The draw is seeded by the program's name, so it is the same each
time; nothing depends on a clock.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from gymline.suites.generic_inputs import SampleInput
from gymline.suites.help_text import HelpPage, Option, parse_help
from gymline.suites.idea import Given, Idea
from gymline.suites.inputs import mutations
from gymline.suites.materials import Context, Materials, gather
from gymline.suites.reference import Attempt, Reference
from gymline.suites.rounds import (
    bad_calls,
    base_calls,
    command_probes,
    config_calls,
    give,
    help_probes,
    input_calls,
    option_calls,
    spread,
)
from gymline.suites.settings import SuiteSettings
from gymline.suites.values import option_values

_UNKNOWN = ("no-such-command",)


def explore(reference: Reference, source: Path, settings: SuiteSettings) -> list[Attempt]:
    """Spends the budget on one program. Returns every attempt, in the order made. Raises ``SandboxError`` when the
    infrastructure failed."""
    contexts = learn(reference, settings)
    materials = gather(source, reference.name, [c.page for c in contexts], settings)
    budget = settings.max_invocations

    reference.ask(materials.examples)
    share = _share(budget * 0.3, contexts)
    reference.ask(spread([list(base_calls(c, materials))[:share] for c in contexts])[: int(budget * 0.3)])

    bases = {c.command: best_calls(reference, c, materials) for c in contexts}
    if len(contexts) > 1:
        # The program's own options stand before the subcommand, so they are tried on a working call of one.
        calls = [_as_operands(bases[c.command][0]) for c in contexts[1:3]]
        bases[()] = [*calls, *bases[()]][:2]
    first = [(c, bases[c.command][0]) for c in contexts]
    planned = (
        (0.35, [option_calls(c, bases[c.command], materials, 4) for c in contexts]),
        (0.12, [config_calls(c, base, materials) for c, base in first]),
        (0.12, [input_calls(base, materials) for _, base in first]),
        (0.06, [bad_calls(c, base) for c, base in first]),
    )
    for part, streams in planned:
        reference.ask(spread(streams)[: int(budget * part)])
    vary(reference, contexts, materials, settings)
    return list(reference.attempts.values())


def _as_operands(idea: Idea) -> Idea:
    """The same call with the subcommand among the operands, so that an option added comes first."""
    return replace(idea, command=(), operands=(*idea.command, *idea.operands))


def _share(budget: float, contexts: Sequence[Context]) -> int:
    return max(6, int(budget / max(1, len(contexts))))


def learn(reference: Reference, settings: SuiteSettings) -> list[Context]:
    """The program's interface as its help tells it: the program itself, then every subcommand it really has."""
    probes = reference.ask([*help_probes(), Idea("args", "bad-usage", _UNKNOWN)])
    page = _best_page(probes, ())
    unknown = next((a for a in probes if a.idea.command == _UNKNOWN), None)
    contexts = [Context((), page, page.options)]
    parents: list[tuple[tuple[str, ...], HelpPage]] = [((), page)]
    for _ in range(2):
        commands = [(*words, c) for words, p in parents for c in p.commands if c != "help"]
        commands = [c for c in commands if not set(c[:-1]) & {c[-1]}][: settings.max_commands]
        asked = reference.ask(spread([command_probes(c, "help" in page.commands) for c in commands]))
        parents = []
        for command in commands:
            own = [a for a in asked if command in (a.idea.command, (*a.idea.command, *a.idea.operands)[1:])]
            bare = next((a for a in own if a.idea.argv == command), None)
            if not own or (bare is not None and unknown is not None and _same(bare, unknown, command)):
                continue
            sub = _best_page(own, command)
            is_own = sub.text != page.text and sub.options + tuple(sub.positionals) != ()
            sub = sub if is_own else HelpPage(text=sub.text)
            contexts.append(Context(command, sub, sub.options or page.options))
            if is_own and sub.commands and len(command) < 2 and set(sub.commands) != set(page.commands):
                parents.append((command, sub))
    return contexts[: settings.max_commands + 1]


def _same(bare: Attempt, unknown: Attempt, command: tuple[str, ...]) -> bool:
    """Whether a subcommand is answered as an unknown one is."""
    text = bare.text.replace(command[-1], _UNKNOWN[0])
    return (bare.seen.status, text) == (unknown.seen.status, unknown.text)


def _best_page(attempts: Iterable[Attempt], command: tuple[str, ...]) -> HelpPage:
    """Of all answers the one that tells most; of equals the first."""
    pages = [parse_help(attempt.text, command) for attempt in attempts]
    return max(pages, key=lambda p: 3 * len(p.commands) + 2 * len(p.options) + len(p.positionals), default=HelpPage())


def best_calls(reference: Reference, context: Context, materials: Materials) -> list[Idea]:
    """Calls of this subcommand to build on, best first; one that did not work when there is none that did."""
    tried = [a for a in reference.attempts.values() if a.idea.command == context.command]
    if not context.command:
        tried = [a for a in tried if a.idea.category != "help"]
    helps = help_answers(reference)
    works = [a for a in tried if a.works and a.answer not in helps]
    # A call without options takes any option; a rich answer shows the option's effect.
    works.sort(key=lambda a: (_has_option(a.idea), -min(a.text.count("\n"), 12), len(a.idea.argv), a.idea.key))
    by_file = [a.idea for a in works if a.idea.files][:1]
    by_stdin = [a.idea for a in works if not a.idea.files][:1]
    found = [replace(idea, env=()) for idea in (*by_file, *by_stdin)]
    return found or [next(i for i in base_calls(context, materials) if i.files or not context.page.positionals)]


def help_answers(reference: Reference) -> set[tuple[object, ...]]:
    """What the program answers when asked for help: the same from another call is no sign that the call works."""
    return {a.answer for a in reference.attempts.values() if a.idea.origin == "probe" and a.idea.category == "help"}


def _has_option(idea: Idea) -> bool:
    return bool(idea.options) or any(word.startswith("-") and len(word) > 1 for word in idea.operands)


def vary(reference: Reference, contexts: Sequence[Context], materials: Materials, settings: SuiteSettings) -> None:
    """Rounds of variations until the budget is used or a round shows nothing new."""
    rng = random.Random(f"explore {reference.name}")
    by_command = {c.command: c for c in contexts}
    children: Counter[str] = Counter()
    dull = 0
    while reference.left > 0 and dull < 2:
        weights = _weights(reference, children)
        parents = [a for a in reference.attempts.values() if a.idea.key in weights]
        if not parents:
            return
        before = {a.answer for a in reference.attempts.values()}
        drawn = rng.choices(parents, [weights[a.idea.key] for a in parents], k=settings.batch)
        ideas: list[Idea] = []
        for parent in drawn:
            children[parent.idea.key] += 1
            partner = rng.choice(parents)
            ideas.append(_variation(rng, parent.idea, partner.idea, by_command, materials))
        answers = {a.answer for a in reference.ask(ideas)}
        dull = dull + 1 if len(answers - before) < settings.batch // 20 else 0


def _weights(reference: Reference, children: Counter[str]) -> dict[str, float]:
    """What to draw: working calls, most those whose outcome had a shape of its own, less the more they were varied."""
    attempts = list(reference.attempts.values())
    helps = help_answers(reference)
    shapes = Counter(a.shape for a in attempts)
    groups = Counter(a.idea.group for a in attempts)
    return {
        a.idea.key: 4 / (shapes[a.shape] * (1 + children[a.idea.key]) * groups[a.idea.group] ** 0.5)
        for a in attempts
        if a.works and a.idea.category != "help" and a.idea.origin != "bad-usage" and a.answer not in helps
    }


def _variation(
    rng: random.Random,
    idea: Idea,
    partner: Idea,
    by_command: dict[tuple[str, ...], Context],
    materials: Materials,
) -> Idea:
    context = by_command.get(idea.command)
    options: Sequence[Option] = context.options if context else ()
    how = rng.random()
    if options and how < 0.55 and len(idea.options) < 4:
        option = rng.choice(options)
        value = rng.choice(option_values(option, materials.words)) if option.takes_value else None
        given = list(give(idea, option, rng.choice(option.names), value, materials, rng.randrange(3)))
        return replace(rng.choice(given), origin="varied") if given else idea
    if partner.command == idea.command and partner.options and how < 0.7:
        return replace(
            idea, category="args", origin="varied", options=_joined(idea, partner.options), files=_both(idea, partner)
        )
    if idea.files and how < 0.95:
        name, content = rng.choice(idea.files)
        pool: list[SampleInput] = [*mutations(SampleInput(name, content, "base")), *materials.inputs[:12]]
        files = {**dict(idea.files), name: rng.choice(pool).content}
        return replace(idea, category="io", origin="mutated-input", files=tuple(sorted(files.items())))
    if idea.stdin is not None and how < 0.95:
        pool = [*mutations(SampleInput("stdin", idea.stdin, "base")), *materials.inputs[:12]]
        return replace(idea, category="io", origin="mutated-input", stdin=rng.choice(pool).content)
    if idea.operands:
        position = rng.randrange(len(idea.operands))
        word = rng.choice([*materials.words, "1", "2", "-", ""])
        operands = (*idea.operands[:position], word, *idea.operands[position + 1 :])
        return replace(idea, category="args", origin="varied", operands=operands)
    return replace(idea, stdin=rng.choice(materials.inputs).content, origin="varied")


def _joined(idea: Idea, more: Sequence[Given]) -> tuple[Given, ...]:
    return tuple({given.option: given for given in (*idea.options, *more)}.values())


def _both(idea: Idea, partner: Idea) -> tuple[tuple[str, bytes], ...]:
    return tuple(sorted({**dict(partner.files), **dict(idea.files)}.items()))
