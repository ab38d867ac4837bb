"""Worked examples from a README or a manual page, as invocations.

Only a small, safe part of shell is understood, and nothing of it is ever handed to a shell: one call of the program,
fed by ``echo``/``printf``/``cat``, a here-document, ``<<<`` or ``< file``. Everything after the program's own call
(``| head``, ``> out``) is dropped. ``$ cat file`` in a transcript, followed by lines, shows that file's content.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_PROMPT = re.compile(r"^\s*(?:[\w@~:/.-]*[$%#>]|\$)\s+(?=\S)")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(?P<end>\w+)\1")
_MADE = re.compile(r"cat\s*(?:>\s*(?P<a>[\w./-]+)\s*<<-?\s*'?(?P<e>\w+)'?|<<-?\s*'?(?P<f>\w+)'?\s*>\s*(?P<b>[\w./-]+))")
_PLACEHOLDER = re.compile(r"<[A-Za-z][^\s<>]*>")
_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=")
_CONNECTORS = frozenset(("|", "||", "&&", ";", "&", "|&"))
_REDIRECTS = frozenset((">", ">>", ">&", "&>", "&>>", ">|"))
_LONGEST_FILE, _MOST_FILES = 1_000, 100
_ESCAPES = {r"\n": "\n", r"\t": "\t", r"\\": "\\", r"\r": "\r"}


@dataclass(frozen=True)
class Example:
    """One call of the program as a document shows it. ``stdin_file`` is a name in the source tree or in ``files``."""

    argv: tuple[str, ...]
    stdin: str | None = None
    stdin_file: str | None = None
    files: tuple[tuple[str, str], ...] = ()
    env: tuple[tuple[str, str], ...] = ()


def console_examples(text: str, names: Sequence[str]) -> list[Example]:
    """The calls of a program (known under ``names``) in a Markdown, plain or manual text, in order, each once."""
    found: list[Example] = []
    shown = _shown_files(text)
    for line, heredoc in _command_lines(text):
        for example in _examples(line, heredoc, frozenset(names)):
            used = {*example.argv, example.stdin_file}
            files = tuple((n, c) for n, c in sorted(shown.items()) if n in used)
            found.append(
                Example(example.argv, example.stdin, example.stdin_file, files, example.env) if files else example
            )
    return list(dict.fromkeys(found))


def _command_lines(text: str) -> Iterator[tuple[str, str | None]]:
    """Lines that may be commands, backslash continuations and open quotes joined, with their here-document."""
    lines = text.splitlines()
    fenced = False
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if _FENCE.match(line):
            fenced = not fenced
            continue
        prompted = _PROMPT.match(line)
        if not (fenced or prompted or line.startswith(("    ", "\t"))):
            yield from ((inline, None) for inline in re.findall(r"`([^`\n]+)`", line) if " " in inline[1:-1])
            continue
        line = line[prompted.end() :] if prompted else line.strip()
        while index < len(lines) and _is_open(line):
            line = (line[:-1] if line.endswith("\\") else line + "\n") + lines[index].removeprefix("> ")
            index += 1
            if line.count("\n") > 40:
                break
        heredoc = None
        match = _HEREDOC.search(line)
        if match is not None:
            body: list[str] = []
            while index < len(lines) and lines[index].strip() != match["end"] and not _FENCE.match(lines[index]):
                body.append(lines[index])
                index += 1
            index += 1
            heredoc = "".join(x + "\n" for x in body)
            line = line[: match.start()] + line[match.end() :]
        yield line, heredoc


def _is_open(line: str) -> bool:
    """Whether a command goes on in the next line: a backslash at its end, or a quote not closed."""
    if line.endswith("\\"):
        return True
    try:
        shlex.split(line, comments=True)
    except ValueError:
        return line.count("'") % 2 == 1 and bool(re.match(r"\s*[\w./-]+\s", line))
    return False


def _examples(line: str, heredoc: str | None, names: frozenset[str]) -> Iterator[Example]:
    if _PLACEHOLDER.search(line):
        return
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
        lexer.whitespace_split = True
        lexer.commenters = "#"
        words = list(lexer)
    except ValueError:
        return
    segments: list[tuple[str, list[str]]] = []
    current: list[str] = []
    before = ""
    for word in words:
        if word in _CONNECTORS:
            segments.append((before, current))
            before, current = word, []
        else:
            current.append(word)
    segments.append((before, current))
    for position, (connector, segment) in enumerate(segments):
        producer = segments[position - 1][1] if connector == "|" and position else None
        example = _call(segment, producer, heredoc, names)
        if example is not None:
            yield example


def _call(segment: list[str], producer: list[str] | None, heredoc: str | None, names: frozenset[str]) -> Example | None:
    env: list[tuple[str, str]] = []
    words = list(segment)
    while words and _ASSIGNMENT.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        env.append((name, value))
    if words[:2] in (["cargo", "run"], ["go", "run"]):
        words = _after_run(words)
    elif not words or re.split(r"[/\\]", words[0])[-1] not in names:
        return None
    else:
        words = words[1:]
    argv: list[str] = []
    stdin, stdin_file = heredoc, None
    while words:
        word = words.pop(0)
        target = words[0] if words else ""
        if word == "<":
            stdin_file = target
            words = words[1:]
        elif word == "<<<":
            stdin = target + "\n"
            words = words[1:]
        elif word in _REDIRECTS:
            if argv and argv[-1] in ("1", "2"):
                argv.pop()
            words = words[1:]
        elif set(word) <= set("<>&|;"):
            return None
        else:
            argv.append(word)
    if any(re.search(r"[$`*]|^\.\.\.$|^\[.*\]$|^<|…", w) and not re.search(r"[\s{'\"]", w) for w in argv):
        return None  # a variable, a glob or a placeholder: nobody's literal argument
    if producer is not None:
        fed = _fed(producer)
        if fed is None:
            return None
        stdin, stdin_file = fed
    return Example(tuple(argv), stdin, stdin_file, (), tuple(env))


def _after_run(words: list[str]) -> list[str]:
    if "--" in words:
        return words[words.index("--") + 1 :]
    return words[3:] if words[0] == "go" else []


def _fed(producer: list[str]) -> tuple[str | None, str | None] | None:
    """What ``echo``, ``printf`` or ``cat`` writes: text, or a file's name. None for any other command."""
    if not producer:
        return None
    tool, *words = producer
    if tool == "echo":
        newline = "" if words[:1] in (["-n"], ["-en"], ["-ne"]) else "\n"
        escapes = words[:1] in (["-e"], ["-en"], ["-ne"])
        text = " ".join(words[1:] if words[:1] and words[0] in ("-n", "-e", "-en", "-ne") else words)
        return (_unescape(text) if escapes else text) + newline, None
    if tool == "printf" and len(words) == 1 and not re.search(r"%[^%]", words[0]):
        return _unescape(words[0]).replace("%%", "%"), None
    if tool == "printf" and len(words) >= 2 and words[0] in (r"%s\n", "%s"):
        return "".join(w + ("\n" if words[0] != "%s" else "") for w in words[1:]), None
    if tool == "cat" and len(words) == 1 and not words[0].startswith("-"):
        return None, words[0]
    return None


def _unescape(text: str) -> str:
    return re.sub(r"\\[nt\\r]", lambda m: _ESCAPES[m[0]], text)


def _shown_files(text: str) -> Mapping[str, str]:
    """Files a transcript prints (``$ cat name``, the lines up to the next prompt) or makes (``cat > name <<EOF``)."""
    shown: dict[str, str] = {}
    lines = text.splitlines()
    for index, line in enumerate(lines):
        prompt = _PROMPT.match(line)
        rest = line[prompt.end() :] if prompt else line.strip()
        made = _MADE.fullmatch(rest)
        printed = re.fullmatch(r"cat\s+(?P<name>[\w./-]+)", rest) if prompt else None
        if made is None and printed is None:
            continue
        body: list[str] = []
        for following in lines[index + 1 : index + 1 + _LONGEST_FILE]:
            if _FENCE.match(following) or (made and following.strip() == (made["e"] or made["f"])):
                break
            if printed and _PROMPT.match(following):
                break
            body.append(following)
        while body and not body[-1].strip():
            body.pop()
        name = (made["a"] or made["b"]) if made else printed["name"] if printed else ""
        if len(shown) == _MOST_FILES:
            break
        if body and ".." not in name and not name.startswith(("/", "-")):
            shown[name] = "".join(x + "\n" for x in body)
    return shown
