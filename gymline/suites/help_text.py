"""Reads a program's help text: options with their values, subcommands, positional arguments.

There is no grammar, only layouts: GNU, argparse, clap, cobra, Go's flag package and hand-written ones (seqtk, cmark).
All of them write an option at the start of a line, its description behind two blanks, a tab or a line break, and
commands as indented ``name  description`` lines under a heading. What is read here is a hint for the explorer, so a
wrong reading costs an invocation and never a wrong expectation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gymline.suites.bounded import bounded_text

_FLAG = r"--?[A-Za-z0-9?@#][A-Za-z0-9_?.-]*|--?[A-Za-z]"
_OPTION_LINE = re.compile(
    rf"^(?P<indent>\s*)(?:(?:[Oo]ptions?|OPTIONS|[Ff]lags|where):\s+)?(?P<body>(?:{_FLAG})(?=[\s,=\[|<:]|$).*)$"
)
_GAP = re.compile(r"\s{2,}|\t|\s+(?=:\s)")
_SPEC_PART = re.compile(rf"^(?P<flag>{_FLAG})(?P<sep>\[?[= :]?\[?)(?P<metavar>.*)$")
_ATTACHED = re.compile(r"^(-[A-Za-z])([A-Z]{2,}|<[^>]+>)$")
_META_WORD = re.compile(
    r"^(?:[A-Z][A-Z0-9_.:=/-]*|<.+>|\[.+\]|\{.+\}|string|strings|int|uint|float|duration|value|file|path|"
    r"[a-z]+=[a-z]+|(?:[\w.+-]+\|)+[\w.+-]+)(?:\.\.\.)?$"
)
_HEADING = re.compile(r"^\s*(?P<title>[A-Za-z](?:[\w /()'-]*[\w/()'-])?)\s*:?\s*$")
_COMMAND_HEADING = re.compile(r"\b(?:sub)?commands?\b(?!-)", re.IGNORECASE)
_COMMAND_LINE = re.compile(
    r"^\s+(?P<name>[a-z][A-Za-z0-9_-]{0,24})(?:, ?[a-z][\w-]*)*(?P<rest>\s+[<\[A-Z].*|\s{2,}.*|\t.*|)$"
)
_OTHER_HEADING = re.compile(r"usage|syntax|synopsis|option|flag|example|environment|argument|exit|note|where|file")
_INLINE_COMMAND = re.compile(r"^\s*(?:sub)?commands?:\s+(?P<name>[a-z][\w-]*)(?:\s{2,}|\t)", re.IGNORECASE)
_WANTS_COMMAND = re.compile(r"[<\[]?\b(?:sub)?(?:command|cmd)s?\b[>\]]?|\bSUBCOMMAND\b", re.IGNORECASE)
_USAGE = re.compile(r"^\s*(?:usage|syntax|synopsis)\s*:?\s*(?P<rest>.*)$", re.IGNORECASE)
_NO_COMMAND = frozenset(("usage", "options", "flags", "version", "or", "and", "the", "note", "examples", "example"))

_LONGEST_LINE, _MOST_LINES, _LONGEST_USAGE = 500, 5_000, 2_000

_VALUE = r"['\"`]?[A-Za-z0-9][\w.+/-]*['\"`]?"
_QUOTED = r"['\"`][\w.+-]+['\"`]"
_COMMA = r"\s*(?:,\s*(?:or|and)\b|,|\||/|\bor\b|\band\b)\s*"
_LISTS = (
    re.compile(
        r"(?:possible values|one of|choices|choose from|valid values|values|can be|either|available|formats?|supported)"
        rf"(?: are)?:?\s*[\[({{<]?\s*(?P<list>{_VALUE}(?:{_COMMA}{_VALUE})+)",
        re.IGNORECASE,
    ),
    re.compile(rf"[{{<(\[](?P<list>{_VALUE}(?:\s*[,|]\s*{_VALUE})+)[}})>\]]"),
    re.compile(rf"(?P<list>{_QUOTED}(?:{_COMMA}{_QUOTED})+)"),
    re.compile(r"(?P<list>[a-z0-9][\w.+-]*(?:\|[a-z0-9][\w.+-]*)+)"),
)
_DEFAULT = re.compile(
    r"\bdefaults?(?: value)?(?:\s+is|\s+to|:|=|\s)\s*(?:[\"'`](?P<quoted>[^\"'`]+)[\"'`]|(?P<value>[^\s\"'`\]),;]+))",
    re.IGNORECASE,
)
_BRACKET_DEFAULT = re.compile(r"\[(?P<value>-?[\w.]+)\]\s*$")


@dataclass(frozen=True)
class Option:
    """One option. ``metavar`` is empty for a flag; ``values`` are those the text lists; ``joined`` says how a value
    is attached: ``" "`` as its own argument, ``"="`` (long option), ``""`` glued on (``-DNAME``)."""

    names: tuple[str, ...]
    metavar: str = ""
    values: tuple[str, ...] = ()
    default: str = ""
    description: str = ""
    joined: str = " "

    @property
    def takes_value(self) -> bool:
        return bool(self.metavar or self.values)

    def spell(self, name: str, value: str | None) -> tuple[str, ...]:
        """The arguments that give this option under one of its names."""
        if value is None:
            return (name,)
        if self.joined == " ":
            return (name, value)
        glue = "=" if self.joined == "=" and name.startswith("--") else self.joined
        return (f"{name}{glue}{value}",)


@dataclass(frozen=True)
class HelpPage:
    """What one help text says."""

    options: tuple[Option, ...] = ()
    commands: tuple[str, ...] = ()
    positionals: tuple[str, ...] = ()
    """Positional arguments by the name the usage line gives them; optional ones too."""
    text: str = ""


def parse_help(text: str, command: Sequence[str] = ()) -> HelpPage:
    """Reads one help text in any of the known layouts; unknown text gives an empty page. ``command`` is the
    subcommand it belongs to, whose words are no positional arguments."""
    text = bounded_text(re.sub(r"\x1b\[[0-9;]*m", "", text), longest=_LONGEST_LINE, most=_MOST_LINES)
    lines = text.expandtabs(8).splitlines() if "\t" not in text else [_keep_tab_gap(x) for x in text.splitlines()]
    usages = _usage_lines(lines)
    options = _options(lines) + _usage_options(usages)
    return HelpPage(
        options=_merge(options),
        commands=_commands(lines, usages),
        positionals=_positionals(usages, command),
        text=text,
    )


def _keep_tab_gap(line: str) -> str:
    head, _, tail = line.partition("\t")
    if not tail:
        return line.expandtabs(8)
    return line.expandtabs(8) if not head.strip() else f"{head}  {tail.expandtabs(8)}"


def _options(lines: Sequence[str]) -> list[Option]:
    found: list[Option] = []
    index = 0
    while index < len(lines):
        match = _OPTION_LINE.match(lines[index])
        index += 1
        if match is None:
            continue
        body = match["body"]
        indent = len(lines[index - 1]) - len(body)
        spec, description = _split_spec(body)
        while index < len(lines) and _continues(lines[index], indent):
            description += " " + lines[index].strip()
            index += 1
        option = _option(spec, description.strip())
        if option is not None:
            found.append(option)
    return found


def _continues(line: str, indent: int) -> bool:
    return bool(line.strip()) and len(line) - len(line.lstrip()) > indent and not _OPTION_LINE.match(line)


def _split_spec(body: str) -> tuple[str, str]:
    """Splits ``-o, --out FILE   where to write`` at the wide gap, or where the words stop looking like a spec."""
    gap = _GAP.search(body)
    # "--to,  -t" and "-a   --all": a gap inside the names is no end.
    while gap is not None and body[gap.end() :].startswith("-") and re.match(_FLAG, body[gap.end() :]):
        gap = _GAP.search(body, gap.end())
    if gap is not None:
        return body[: gap.start()], body[gap.end() :].lstrip(": ")
    words = body.split(" ")
    end = 1
    while end < len(words) and (
        words[end].startswith("-") or words[end] in ("|", "or", "/") or _META_WORD.match(words[end].rstrip(","))
    ):
        end += 1
    return " ".join(words[:end]), " ".join(words[end:])


def _option(spec: str, description: str) -> Option | None:
    names: list[str] = []
    metavar, joined = "", " "
    for part in re.split(r"\s*,\s*(?=-)|\s+\|\s+(?=-)|\|(?=-)|\s+or\s+(?=-)|/(?=-)|\s+(?=--?[A-Za-z])", spec.strip()):
        glued = _ATTACHED.match(part)
        match = _SPEC_PART.match(part)
        if glued is not None:
            names.append(glued[1])
            metavar, joined = glued[2], ""
        elif match is not None:
            names.append(match["flag"].rstrip(".:"))
            found = match["metavar"].strip()
            if found and (not metavar or len(found) > len(metavar)):
                metavar = found
                joined = "=" if "=" in match["sep"] else " "
        elif not names:
            return None
    if not names:
        return None
    metavar = metavar.strip("[]")
    values = listed_values(metavar) if re.search(r"[|,{]", metavar) else ()
    if not values and metavar:
        values = listed_values(description)
    return Option(
        names=tuple(dict.fromkeys(names)),
        metavar=metavar.strip("<>"),
        values=values,
        default=_default(description),
        description=description,
        joined=joined,
    )


def listed_values(text: str) -> tuple[str, ...]:
    """The enumeration a text gives (``one of: a, b``, ``{a,b}``, ``(a|b)``, ``[possible values: a, b]``)."""
    for pattern in _LISTS:
        match = pattern.search(text)
        if match is None:
            continue
        words = re.split(_COMMA, match["list"])
        values = [w.strip(" '\"`.") for w in words]
        values = [v for v in values if re.fullmatch(r"[A-Za-z0-9][\w.+-]*", v) and len(v) <= 24]
        if len(values) >= 2:
            return tuple(dict.fromkeys(values))[:16]
    return ()


def _default(description: str) -> str:
    match = _DEFAULT.search(description)
    if match is not None:
        return match["quoted"] or match["value"].rstrip(".")
    bracket = _BRACKET_DEFAULT.search(description)
    return bracket["value"] if bracket else ""


def _usage_lines(lines: Sequence[str]) -> list[str]:
    """Usage lines without the program's name; wrapped ones are joined."""
    found: list[str] = []
    index = 0
    while index < len(lines):
        match = _USAGE.match(lines[index])
        index += 1
        if match is None:
            continue
        block = [match["rest"]] if match["rest"].strip() else []
        while index < len(lines) and lines[index].strip() and (lines[index].startswith(" ") or not block):
            if _OPTION_LINE.match(lines[index]):
                break
            block.append(lines[index].strip())
            index += 1
        program = re.split(r"[/\\]", block[0].split()[0])[-1] if block and block[0].split() else ""
        for line in block:
            words = line.removeprefix("or:").strip().split()
            if words and re.split(r"[/\\]", words[0])[-1] == program:
                found.append(" ".join(words[1:]))
            elif found:
                found[-1] = f"{found[-1]} {' '.join(words)}"[:_LONGEST_USAGE]
    return found


def _usage_options(usages: Iterable[str]) -> list[Option]:
    """``[-l INT]`` and ``[--strict]`` in a usage line; the only place where some programs name an option."""
    found: list[Option] = []
    for usage in usages:
        for inside in re.findall(r"\[(-[^\[\]]*)\]", usage):
            for alternative in inside.split(" | "):
                words = alternative.strip().split()
                default = re.fullmatch(r"([a-z]\w*)=(\S+)", words[1]) if len(words) == 2 else None
                if default is not None:
                    found.append(Option((words[0],), metavar=default[1], default=default[2]))
                elif 1 <= len(words) <= 2 and re.fullmatch(_FLAG, words[0].partition("=")[0]):
                    option = _option(alternative.strip(), "")
                    if option is not None:
                        found.append(option)
    return found


def _commands(lines: Sequence[str], usages: Sequence[str]) -> tuple[str, ...]:
    found: list[str] = []
    wanted = any(_WANTS_COMMAND.search(u) for u in usages)
    inside = False
    column: int | None = None
    for line in lines:
        inline = _INLINE_COMMAND.match(line)
        if inline is not None:
            inside, column = True, inline.start("name")
            found.append(inline["name"])
            continue
        choices = re.match(r"^\s*\{([a-z][\w-]*(?:,[a-z][\w-]*)+)\}", line)
        if choices is not None and wanted | inside | ("positional" in "".join(lines[:40]).lower()):
            found.extend(choices[1].split(","))
            inside, column = True, None
            continue
        heading = _HEADING.match(line)
        if heading is not None and not line.startswith((" ", "\t")):
            title = heading["title"].lower()
            inside = bool(_COMMAND_HEADING.search(title)) or (wanted and not _OTHER_HEADING.search(title))
            column = None
            continue
        if line and not line.startswith((" ", "\t")):
            inside, column = bool(line.rstrip().endswith(":") and _COMMAND_HEADING.search(line)), None
            continue
        match = _COMMAND_LINE.match(line)
        if not inside or match is None or match["name"] in _NO_COMMAND:
            continue
        if column is None:
            column = match.start("name")
        if match.start("name") == column and not _USAGE.match(line):
            found.append(match["name"])
    if len(usages) > 1 and not found:
        first = [u.split()[0] for u in usages if u.split()]
        found = [w for w in first if re.fullmatch(r"[a-z][a-z0-9-]{1,20}", w)]
    return tuple(dict.fromkeys(found))


def _positionals(usages: Sequence[str], command: Sequence[str]) -> tuple[str, ...]:
    """The longest list of positional arguments any usage line has."""
    best: list[str] = []
    prefix = " ".join(command)
    for usage in usages:
        usage = usage.removeprefix(prefix) if prefix else usage
        # An option's own value is no positional: "[-s seed]", "-o FILE".
        rest = re.sub(r"\[-[^\[\]]*\]", " ", usage)
        rest = re.sub(r"--?[A-Za-z][\w-]*(?:[= ](?:<[^>]*>|[A-Z]+\b))?", " ", rest)
        words = re.findall(r"<[^>]+>(?:\.\.\.)?|'[^']+'|\[[^\[\]]+\]|[A-Za-z][\w./-]*(?:\.\.\.)?|\.\.\.", rest)
        names: list[str] = []
        for word in words:
            name = word.strip("[]<>' .").lower()
            if name and not re.search(r"options?|flags?|command|switches|args|arguments|^or$|^and$", name):
                names.append(name)
        best = max(best, names[:4], key=len)
    return tuple(best)


def _merge(options: Iterable[Option]) -> tuple[Option, ...]:
    """One option per set of names; the first reading that takes a value wins over one that does not."""
    merged: dict[str, Option] = {}
    for option in options:
        key = next((n for n in option.names if n in merged), None)
        if key is None:
            for name in option.names:
                merged[name] = option
        elif option.takes_value and not merged[key].takes_value and set(option.names) >= set(merged[key].names):
            for name in {*option.names, *merged[key].names}:
                merged[name] = option
    return tuple(dict.fromkeys(merged.values()))
