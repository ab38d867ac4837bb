"""The ideas of each round: how to get help, working calls, their options, other inputs, configurations, bad usage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from gymline.cases.case import Category
from gymline.suites.generic_inputs import SampleInput
from gymline.suites.help_text import Option
from gymline.suites.idea import Given, Idea
from gymline.suites.inputs import mutations
from gymline.suites.materials import Context, Materials, with_files
from gymline.suites.values import Value, is_config, is_help, operand_values, option_values


def spread(streams: Iterable[Iterable[Idea]]) -> list[Idea]:
    """One of each stream, then the next of each, so that a cut at the end takes from all alike."""
    return [idea for row in zip_longest(*streams) for idea in row if idea is not None]


def help_probes() -> list[Idea]:
    """The ways to ask a program how it is used."""
    words = ("--help", "-h", "help", "", "--version", "-V", "version", "-help", "-?", "-v", "--usage", "-version")
    return [Idea("help", "probe", operands=(word,) if word else ()) for word in words]


def command_probes(command: tuple[str, ...], has_help_command: bool) -> list[Idea]:
    """The ways to ask for the help of one subcommand."""
    probes = [
        Idea("help", "probe", command, operands=("--help",)),
        Idea("subcommands", "probe", command),
        Idea("help", "probe", command, operands=("-h",)),
    ]
    return [*probes, Idea("help", "probe", ("help",), operands=command)] if has_help_command else probes


def base_calls(context: Context, materials: Materials) -> Iterator[Idea]:
    """Calls without options that may work: operands as the usage line names them, else the usual patterns."""
    category: Category = "subcommands" if context.command else "io"
    named = context.page.positionals
    hint = " ".join(named)
    for position, sample in enumerate(materials.inputs_for(hint)):
        other = materials.inputs_for(hint)[position - 1]
        patterns = [_operands(named, sample, other, materials.words, turn) for turn in range(2 if named else 0)]
        if len(named) <= 1:
            words = materials.words[position % max(1, len(materials.words)) :][:1] or ("x",)
            patterns += [((sample.name,), (sample,)), ((words[0], sample.name), (sample,)), ((words[0],), ())]
            patterns += [((sample.name, _aside(other, sample).name), (sample, _aside(other, sample)))]
        yield Idea(category, "stdin", context.command, stdin=sample.content)
        for operands, files in patterns:
            yield with_files(Idea(category, "base", context.command, operands=operands), files)
        if len(named) > 1:
            rest = _operands(named[:-1], sample, other, materials.words, 0)
            yield with_files(Idea(category, "stdin", context.command, operands=rest[0], stdin=sample.content), rest[1])


def _operands(
    named: Sequence[str], sample: SampleInput, other: SampleInput, words: Sequence[str], turn: int
) -> tuple[tuple[str, ...], tuple[SampleInput, ...]]:
    operands: list[str] = []
    files: list[SampleInput] = []
    for name in named:
        values = operand_values(name, words)
        value = values[turn % len(values)]
        if values[0].file:
            file = sample if not files else _aside(other, files[0])
            operands.append(file.name)
            files.append(file)
        else:
            operands.append(value.text)
    return tuple(operands), tuple(files)


def _aside(sample: SampleInput, taken: SampleInput) -> SampleInput:
    """The sample under a name that the other does not have."""
    return replace(sample, name=f"b-{sample.name}") if sample.name == taken.name else sample


def option_calls(context: Context, bases: Sequence[Idea], materials: Materials, most_values: int) -> Iterator[Idea]:
    """Every option alone on a working call, each enumerated value, the likely ones of the others."""
    yield from spread(
        _one_option(option, [*bases[number % len(bases) :], *bases[: number % len(bases)]], materials, most_values)
        for number, option in enumerate(context.options)
    )


def _one_option(option: Option, bases: Sequence[Idea], materials: Materials, most_values: int) -> Iterator[Idea]:
    values = option_values(option, materials.words) if option.takes_value else [None]
    most = max(most_values, len(option.values) + 1)
    for turn, value in enumerate(values[:most]):
        name = option.names[turn % len(option.names)]
        for changed in give(bases[turn % len(bases)], option, name, value, materials, turn):
            yield replace(changed, origin="help")
    if option.takes_value:
        given = Given(option.names[0], (option.names[0],))
        yield replace(bases[0], category="args", origin="bad-usage", options=(given,), operands=())


def give(
    base: Idea, option: Option, name: str, value: Value | None, materials: Materials, turn: int = 0
) -> Iterator[Idea]:
    """The call with one more option; for an option that takes a file, once with each of a few files."""
    category: Category = "config" if is_config(option) else "help" if is_help(option) else "args"
    if value is None or not value.file:
        given = Given(option.names[0], option.spell(name, None if value is None else value.text))
        yield replace(base, category=category, options=(*base.options, given))
        return
    files = (
        list(materials.configs) if is_config(option) else materials.inputs_for(f"{option.metavar} {option.names[-1]}")
    )
    for sample in (files or list(materials.inputs))[turn : turn + 4]:
        sample = replace(sample, name=f"o-{sample.name}") if sample.name in dict(base.files) else sample
        given = Given(option.names[0], option.spell(name, sample.name))
        yield with_files(replace(base, category=category, options=(*base.options, given)), [sample])
        if base.files and category != "config":
            bare = replace(base, category=category, operands=(), files=(), options=(given,), stdin=base.files[0][1])
            yield with_files(bare, [sample])


def config_calls(context: Context, base: Idea, materials: Materials) -> Iterator[Idea]:
    """Configurations given by option, or laid where the program looks by itself; whole, line by line, and broken."""
    config_options = [option for option in context.options if is_config(option)]
    for config in [c for whole in materials.configs for c in _config_variants(whole)]:
        for option in config_options[:1]:
            given = Given(option.names[0], option.spell(option.names[-1], config.name))
            yield with_files(
                replace(base, category="config", origin="config", options=(*base.options, given)), [config]
            )
        for name in materials.config_names:
            yield with_files(replace(base, category="config", origin="config"), [replace(config, name=name)])
    for variable in materials.variables:
        for text in ("1", "0", *(c.name for c in materials.configs[:2]), "no-such"):
            named = [c for c in materials.configs if c.name == text]
            variant = replace(base, category="config", origin="environment", env=((variable, text),))
            yield with_files(variant, named)


def _config_variants(whole: SampleInput) -> Iterator[SampleInput]:
    yield whole
    lines = whole.content.decode("utf-8", "replace").splitlines()
    section = ""
    for line in lines:
        stripped = line.strip()
        if stripped.startswith("["):
            section = line
        elif stripped and not stripped.startswith(("#", ";", "//")):
            prefix = f"{section}\n" if section else ""
            yield replace(whole, content=f"{prefix}{line}\n".encode())
            key, mark, _ = line.partition("=" if "=" in line else ":")
            if mark:
                yield replace(whole, content=f"{prefix}{key}{mark} bogus\n".encode())
    yield replace(whole, content=b"no_such_key = 1\n")
    yield replace(whole, content=b"not a setting\n")


def input_calls(base: Idea, materials: Materials) -> Iterator[Idea]:
    """A working call with other inputs: samples, generic shapes and damaged ones, as file and as stdin."""
    if base.files:
        first = next((path for path, _ in base.files if path in base.operands), base.files[0][0])
        content = dict(base.files)[first]
        for sample in [*materials.inputs_for(first), *mutations(SampleInput(first, content, "base"))]:
            files = tuple(sorted({**dict(base.files), first: sample.content}.items()))
            yield replace(base, category="io", origin=_origin(sample), files=files)
        if first in base.operands:
            rest = tuple(word for word in base.operands if word != first)
            files = tuple(f for f in base.files if f[0] != first)
            yield replace(base, category="io", origin="stdin", operands=rest, files=files, stdin=content)
            dashed = tuple("-" if word == first else word for word in base.operands)
            yield replace(base, category="io", origin="stdin", operands=dashed, files=files, stdin=content)
    elif base.stdin is not None:
        for sample in [*mutations(SampleInput("stdin", base.stdin, "base")), *materials.inputs]:
            yield replace(base, category="io", origin=_origin(sample), stdin=sample.content)


def _origin(sample: SampleInput) -> str:
    return "mutated-input" if "+" in sample.kind else "sample-input" if sample.path else "generic-input"


def bad_calls(context: Context, base: Idea) -> Iterator[Idea]:
    """Unknown option, missing file, missing and surplus arguments, unknown subcommand."""
    bad = replace(base, origin="bad-usage", category="args")
    yield replace(bad, options=(*base.options, Given("--no-such-option", ("--no-such-option",))))
    yield replace(bad, options=(*base.options, Given("-@", ("-@",))))
    if base.operands:
        yield replace(bad, operands=base.operands[:-1])
        yield replace(bad, files=())
        yield replace(bad, operands=(*base.operands, "surplus"))
    if not context.command and context.page.commands:
        yield Idea("subcommands", "bad-usage", ("no-such-command",))
        yield Idea("help", "bad-usage", ("help",), operands=("no-such-command",))
