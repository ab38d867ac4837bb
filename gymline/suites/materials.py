"""What invocations are made of: how the program says it is called, inputs, configuration files, worked examples."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

from gymline.cases.case import Category
from gymline.suites.generic_inputs import SHAPES, SampleInput, generic, named_suffixes
from gymline.suites.help_text import HelpPage, Option
from gymline.suites.idea import Idea
from gymline.suites.inputs import collect_inputs, documents, files_by_name, source_file
from gymline.suites.readme import Example, console_examples
from gymline.suites.settings import SuiteSettings
from gymline.suites.values import words_of

_CONFIG_NAME = re.compile(r"(?<![\w/.-])(\.?[A-Za-z][\w-]*\.(?:conf|cfg|ini|toml|rc|config)|\.[a-z][\w-]*rc)\b")
_IS_CONFIG = re.compile(r"\.(?:conf|cfg|ini|rc|config)$|config|settings|rc$", re.IGNORECASE)
_MAX_EXAMPLES = 80
_KEY_VALUE = re.compile(r"^\s*[A-Za-z_][\w.-]*\s*[=:]\s*\S")

Find = Callable[[str, int], bytes | None]
"""A file of the source tree, by what a document calls it and the most bytes wanted."""


@dataclass(frozen=True)
class Context:
    """A subcommand (or the program itself) with its help page; ``options`` are those to be tried with it."""

    command: tuple[str, ...]
    page: HelpPage
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Materials:
    """``inputs`` best first, configurations among ``configs``; ``config_names`` are files the documents say are read
    by themselves, ``variables`` environment variables of the program."""

    inputs: tuple[SampleInput, ...]
    configs: tuple[SampleInput, ...]
    config_names: tuple[str, ...]
    variables: tuple[str, ...]
    examples: tuple[Idea, ...]
    words: tuple[str, ...]

    def inputs_for(self, hint: str) -> list[SampleInput]:
        """The inputs with those of the kind a name hints at (``in.fq``) in front."""
        suffix = re.findall(r"[a-z0-9]+", hint.lower())
        matching = [s for s in self.inputs if s.kind.lstrip(".") in suffix]
        made = [g for g in map(generic, suffix) if g is not None] if not matching else []
        return [*matching, *made, *(s for s in self.inputs if s not in matching)]


def gather(source: Path, name: str, pages: Sequence[HelpPage], settings: SuiteSettings) -> Materials:
    """Everything the source tree and the help pages offer, in a fixed order."""
    texts = [page.text for page in pages]
    docs = documents(source)
    samples = collect_inputs(source, settings)
    suffixes = named_suffixes([*texts, *texts, *(text for _, text in docs)])[:5]
    lacking = [generic(s) for s in suffixes if not any(i.kind == f".{s}" for i in samples)]
    inputs = [*samples[: settings.max_inputs], *(g for g in lacking if g is not None)]
    if not samples:
        inputs.append(SHAPES[0])
    configs = [s for s in samples if _IS_CONFIG.search(s.name) and s.is_text]
    everything = "\n".join([*texts, *(text for _, text in docs)])
    config_names = list(dict.fromkeys(_CONFIG_NAME.findall(everything)))
    shown = _shown_configs(docs, config_names)
    variables = re.findall(rf"\b{re.escape(re.sub(r'[^A-Z0-9]', '_', name.upper()))}_[A-Z][A-Z_]*\b", everything)
    plain = [s for s in inputs if s not in configs]
    words = [w for s in plain[:4] for w in words_of(s.content)]
    return Materials(
        inputs=tuple([*plain, *configs, *(s for s in SHAPES if not any(s.content == i.content for i in inputs))]),
        configs=tuple([*configs, *shown]),
        config_names=tuple(config_names[:4]),
        variables=tuple(dict.fromkeys(variables))[:6],
        examples=tuple(_examples(source, docs, texts, name, pages, settings)),
        words=tuple(dict.fromkeys(words))[:16],
    )


def with_files(idea: Idea, samples: Sequence[SampleInput]) -> Idea:
    """The idea with these files in its folder."""
    files = {**dict(idea.files), **{s.name: s.content for s in samples}}
    return replace(idea, files=tuple(sorted(files.items())))


def _shown_configs(docs: Sequence[tuple[str, str]], names: Sequence[str]) -> list[SampleInput]:
    """Fenced ``key = value`` blocks of the documents."""
    found: list[SampleInput] = []
    for _, text in docs:
        for block in re.findall(r"^[ \t]*```[^\n]*\n(.*?)^[ \t]*```", text, re.MULTILINE | re.DOTALL):
            lines = [x for x in block.splitlines() if x.strip() and not x.lstrip().startswith(("#", ";", "["))]
            if lines and all(_KEY_VALUE.match(x) for x in lines):
                name = names[0] if names else "settings.conf"
                found.append(SampleInput(name.lstrip("."), block.encode(), ".conf"))
    return found[:3]


def _examples(
    source: Path,
    docs: Sequence[tuple[str, str]],
    texts: Sequence[str],
    name: str,
    pages: Sequence[HelpPage],
    settings: SuiteSettings,
) -> list[Idea]:
    names = list(dict.fromkeys([name, source.name, *_called(texts)]))
    commands = {c for page in pages for c in page.commands}
    find = partial(source_file, source, files_by_name(source))
    found: dict[str, Idea] = {}
    for text in [*(text for _, text in docs), *texts]:
        for example in console_examples(text, names):
            idea = _as_idea(example, find, commands, settings.max_input_bytes)
            found[idea.key] = idea
            if len(found) == _MAX_EXAMPLES:
                return list(found.values())
    return list(found.values())


def _called(texts: Sequence[str]) -> list[str]:
    """The name the program calls itself by in its usage lines."""
    return [m for text in texts[:1] for m in re.findall(r"[Uu]sage:?\s+(?:[\w./-]*/)?([\w.-]+)", text)][:2]


def _as_idea(example: Example, find: Find, commands: set[str], limit: int) -> Idea:
    shown = {path: content.encode() for path, content in example.files}
    files: dict[str, bytes] = {}
    for word in example.argv:
        for part in (word, word.partition("=")[2]):
            content = _named_content(part, find, shown, limit)
            if content is not None and _is_plain(part):
                files[part] = content
    stdin = None if example.stdin is None else example.stdin.encode()
    if example.stdin_file is not None:
        stdin = _named_content(example.stdin_file, find, shown, limit)
    command = example.argv[:1] if example.argv[:1] and example.argv[0] in commands else ()
    return Idea(
        category="config" if any("conf" in word for word in example.argv) else _example_category(example, command),
        origin="readme",
        command=command,
        operands=example.argv[len(command) :],
        stdin=stdin,
        files=tuple(sorted(files.items())),
        env=example.env,
    )


def _example_category(example: Example, command: tuple[str, ...]) -> Category:
    if any(word.startswith("-") and len(word) > 1 for word in example.argv):
        return "args"
    return "subcommands" if command else "io"


def _named_content(name: str, find: Find, shown: dict[str, bytes], limit: int) -> bytes | None:
    """The file a document means: shown there, in the tree, or a generic one of that format."""
    if name in shown:
        return shown[name]
    if not re.fullmatch(r"[\w./+-]+", name) or not re.search(r"[A-Za-z]", name):
        return None
    found = find(name, limit)
    suffix = PurePosixPath(name).suffix
    if found is None and suffix and not re.search(r"^-|out|result", name):
        made = generic(suffix)
        return made.content if made else None
    return found


def _is_plain(path: str) -> bool:
    return not path.startswith(("/", "-")) and ".." not in path.split("/") and path not in ("", ".")
