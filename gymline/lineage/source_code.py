"""One Python module as definitions, each with its token digest and the names it refers to."""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from keyword import iskeyword
from pathlib import Path

_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.TYPE_COMMENT,
}
# Python 3.12 splits f-strings into parts; earlier versions give one STRING token. Their source text is the same.
_FSTRING_START = getattr(tokenize, "FSTRING_START", -1)
_FSTRING_END = getattr(tokenize, "FSTRING_END", -1)


@dataclass(frozen=True)
class Definition:
    """A name bound at module level: the digest of its statements' tokens, and the dotted names it mentions."""

    digest: str
    references: tuple[str, ...]


@dataclass(frozen=True)
class Module:
    name: str
    relative: str
    """Path from the folder that holds the top-level package, with forward slashes."""
    definitions: Mapping[str, Definition]
    imports: Mapping[str, str]
    """Local name → dotted name it stands for, for every import anywhere in the module."""


def read_module(name: str, path: Path) -> Module:
    """Parses the file as it is on disk now; parsed once per content change (path, mtime and size)."""
    stat = path.stat()
    return _read_module(name, path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=1024)
def _read_module(name: str, path: Path, mtime_ns: int, size: int) -> Module:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    statements: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for bound in _bound_names(statement):
            statements.setdefault(bound, []).append(statement)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    lines = text.splitlines(keepends=True)
    top = name.split(".")
    depth = len(top) if path.name == "__init__.py" else len(top) - 1
    return Module(
        name=name,
        relative="/".join(path.parts[-depth - 1 :]) if depth else path.name,
        definitions={
            bound: Definition(
                digest=_token_digest(tokens, lines, parts),
                references=tuple(sorted({r for part in parts for r in _references(part)})),
            )
            for bound, parts in statements.items()
        },
        imports=dict(_imports(tree, package)),
    )


def _bound_names(statement: ast.stmt) -> Iterator[str]:
    """Names a top-level statement binds; imports are followed separately, so they bind nothing here."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For | ast.With):
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
    elif isinstance(statement, ast.If | ast.Try):
        for inner in ast.iter_child_nodes(statement):
            if isinstance(inner, ast.ExceptHandler):
                for each in inner.body:
                    yield from _bound_names(each)
            elif isinstance(inner, ast.stmt):
                yield from _bound_names(inner)


def _references(node: ast.AST) -> Iterator[str]:
    """Dotted names as long as they go: ``module.function`` once, never also the bare ``module``, which would stand
    for all that the module defines."""
    if isinstance(node, ast.Attribute) and (dotted := _dotted(node)):
        yield dotted
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _references(child)


def _dotted(node: ast.expr) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def _imports(tree: ast.Module, package: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                yield alias.asname or top, alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, *([node.module] if node.module else [])])
            for alias in node.names:
                yield alias.asname or alias.name, f"{base}.{alias.name}"


def _token_digest(tokens: Sequence[tokenize.TokenInfo], lines: Sequence[str], statements: Sequence[ast.stmt]) -> str:
    sha = hashlib.sha256()
    for statement in statements:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(d.lineno for d in decorators)])
        last = statement.end_lineno or statement.lineno
        documentation = {
            (node.lineno, node.col_offset): (node.end_lineno or 0, node.end_col_offset or 0)
            for node in ast.walk(statement)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        }
        body = (t for t in tokens if first <= t.start[0] <= last)
        for word in _normalised(body, lines, documentation):
            sha.update(word.encode("utf-8", "surrogatepass") + b"\x00")
    return sha.hexdigest()


def _normalised(
    tokens: Iterator[tokenize.TokenInfo],
    lines: Sequence[str],
    documentation: Mapping[tuple[int, int], tuple[int, int]],
) -> Iterator[str]:
    """Token texts that carry meaning. Indentation counts as structure, its width does not."""
    skip_until = (0, 0)
    after_documentation = False
    fstring_depth, fstring_start = 0, (0, 0)
    words: list[str] = []
    for token in tokens:
        if token.type == _FSTRING_START:
            fstring_start = fstring_start if fstring_depth else token.start
            fstring_depth += 1
        elif token.type == _FSTRING_END:
            fstring_depth -= 1
            if not fstring_depth:
                words.append(_slice(lines, fstring_start, token.end))
        elif fstring_depth or token.type in _LAYOUT or token.start < skip_until:
            continue
        # ast counts columns in bytes and the tokenizer in characters; documentation starts its line, so its start
        # agrees in both, and an end counted too far swallows only the line end that goes with it.
        elif (end := documentation.get(token.start)) is not None:
            skip_until, after_documentation = end, True
        elif token.type == tokenize.NEWLINE:
            if not after_documentation:
                words.append("\n")
            after_documentation = False
        elif token.type == tokenize.INDENT:
            words.append("<indent>")
        elif token.type == tokenize.DEDENT:
            words.append("<dedent>")
        else:
            after_documentation = False
            words.append(token.string)
    return _without_trailing_commas(words)


def _without_trailing_commas(words: Sequence[str]) -> Iterator[str]:
    """Drops the comma a formatter adds before a closing bracket, except where it makes a tuple: ``(a,)``, ``x[a,]``."""
    opened: list[bool] = []
    for index, word in enumerate(words):
        if word in ("(", "[", "{"):
            before = words[index - 1] if index else ""
            follows_a_value = before[-1:].isalnum() or before[-1:] in ("_", ")", "]")
            is_call = follows_a_value and not iskeyword(before)
            opened.append(is_call if word == "(" else not is_call)
        elif word in (")", "]", "}") and opened:
            opened.pop()
        elif word == "," and opened and opened[-1] and words[index + 1 : index + 2] in ([")"], ["]"], ["}"]):
            continue
        yield word


def _slice(lines: Sequence[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    middle = lines[start[0] : end[0] - 1]
    return "".join([lines[start[0] - 1][start[1] :], *middle, lines[end[0] - 1][: end[1]]])
