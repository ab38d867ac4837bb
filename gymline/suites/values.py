"""What to give an option or an operand, from what its name and description say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gymline.suites.help_text import Option

_NUMBER = re.compile(
    r"^(?:n|num|number|int|integer|uint|count|size|len|length|limit|width|depth|level|lines?|port|max|min|k|seed|"
    r"cols?|columns?|rows?|digits|precision|places|cost|kmer|\d+)$",
    re.IGNORECASE,
)
_REAL = re.compile(r"^(?:float|double|real|frac\w*|ratio|rate|percent|prob\w*|threshold|weight)$", re.IGNORECASE)
_FILE = re.compile(r"file|path|in\.\w+|\.\w{1,5}$|config|source|input|<\w+\.\w+>|^fa$|^fq$", re.IGNORECASE)
_OUTPUT = re.compile(r"out(?:put|file)?\b|write|dest|save|export", re.IGNORECASE)
_FOLDER = re.compile(r"\b(?:dir|directory|folder)\b", re.IGNORECASE)
_CHARACTER = re.compile(r"char|sep|delim|c$", re.IGNORECASE)
_DATE = re.compile(r"date|day|since|until|from|to$|begin|end$", re.IGNORECASE)
_MONTH = re.compile(r"month|period", re.IGNORECASE)
_PATTERN = re.compile(r"regex|pattern|glob|re$|match|filter|query|expr", re.IGNORECASE)
_PAIR = re.compile(r"(\w+)([=:])(\w+)")
_CONFIG = re.compile(r"config|\bconf\b|\brc\b|settings|preset|profile", re.IGNORECASE)


@dataclass(frozen=True)
class Value:
    """A value to give. ``file`` says that a file of that name must be there, ``output`` that one will be made."""

    text: str
    file: bool = False
    output: bool = False


def is_config(option: Option) -> bool:
    """Whether the option names a configuration file."""
    return option.takes_value and bool(
        _CONFIG.search(" ".join(option.names)) or re.search(r"config(?:uration)? file", option.description, re.I)
    )


def is_help(option: Option) -> bool:
    """Whether the option asks for help or the version."""
    return not option.takes_value and bool({"--help", "-help", "--version", "-version"} & set(option.names))


def option_values(option: Option, words: Sequence[str]) -> list[Value]:
    """Values to try, the likeliest first; ``words`` are words of the inputs, for free text. Enumerations are given
    whole, and one value out of range."""
    name = option.names[-1].lstrip("-")
    if option.values:
        return [*(Value(v) for v in option.values), Value("no-such-value")]
    return _values(option.metavar, f"{name} {option.metavar}", option.description, option.default, words)


def operand_values(name: str, words: Sequence[str]) -> list[Value]:
    """Values to try for a positional argument of that name in the usage line."""
    return _values(name, name, "", "", words)


def _values(metavar: str, name: str, description: str, default: str, words: Sequence[str]) -> list[Value]:
    kind = re.sub(r"[^A-Za-z0-9.]", " ", metavar).split()
    first = kind[0] if kind else ""
    if _NUMBER.match(first) or re.fullmatch(r"-?\d+", default):
        base = int(default) if re.fullmatch(r"-?\d+", default) and abs(int(default)) < 10**6 else 2
        return [Value(str(v)) for v in dict.fromkeys((base + 1, 1, 0, 5, -1, base * 10))] + [Value("many")]
    if _REAL.match(first) or re.fullmatch(r"-?\d*\.\d+", default):
        return [Value(v) for v in ("0.5", "0.1", "1", "0", "2.5", "-1")]
    if pair := _PAIR.search(metavar):
        return [Value(f"{w}{pair[2]}{v}") for w, v in (("x", "1"), *((w, "2") for w in words[:2]))]
    if _OUTPUT.search(name) and not _FOLDER.search(name):
        return [Value("out.txt", output=True), Value("no/such/folder/out.txt")]
    if _FILE.search(name) or _FILE.search(metavar) or re.search(r"\bfile\b", description):
        return [Value("", file=True), Value("missing.txt")]
    if _FOLDER.search(name):
        return [Value("."), Value("missing")]
    if _CHARACTER.search(name):
        return [Value(v) for v in (";", ":", "\t", "|", "ab", "")]
    if _MONTH.search(name):
        return [Value(v) for v in ("2024-01", "2021-03", "2024-13")]
    if _DATE.search(name) and re.search(r"date|day|YYYY", f"{name} {description}"):
        return [Value(v) for v in ("2024-01-15", "2021-03-05", "2024-13-01")]
    free = [Value(w) for w in words[:4]]
    if default:
        free.insert(0, Value(default))
    if _PATTERN.search(name):
        free = [Value("."), *free[:2], Value("^a"), Value("[")]
    return [*free, Value("x"), Value("3"), Value("")]


def words_of(content: bytes, most: int = 6) -> list[str]:
    """Words of an input that could name something in it: the first fields, spread over its head."""
    text = content[:4000].decode("utf-8", "replace")
    found = re.findall(r"[^\W\d][\w-]{0,20}", text)
    first = re.split(r"[,;\t]", text.splitlines()[0])[:3] if text.strip() else []
    fields = [f.strip().strip('"') for f in first if 0 < len(f.strip()) <= 24 and f.strip().isprintable()]
    spread = found[:: max(1, len(found) // most)]
    return list(dict.fromkeys([*(f for f in fields if " " not in f), *spread]))[:most]
