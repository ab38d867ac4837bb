"""One way to call the program that the explorer thinks of, kept in parts so that it can be varied."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from gymline.cases.case import Category, sha256


@dataclass(frozen=True)
class Given:
    """An option as given: its first name (for grouping) and the arguments that spell it."""

    option: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Idea:
    """``argv`` is the command's words, the options, the operands."""

    category: Category
    origin: str
    command: tuple[str, ...] = ()
    options: tuple[Given, ...] = ()
    operands: tuple[str, ...] = ()
    stdin: bytes | None = None
    files: tuple[tuple[str, bytes], ...] = ()
    env: tuple[tuple[str, str], ...] = ()

    @property
    def argv(self) -> tuple[str, ...]:
        options = tuple(word for given in self.options for word in given.words)
        return (*self.command, *options, *self.operands)

    @property
    def key(self) -> str:
        """Digest of what the program gets to see, equal for two ideas that call it the same way."""
        seen = [
            self.argv,
            None if self.stdin is None else sha256(self.stdin),
            sorted((path, sha256(content)) for path, content in self.files),
            sorted(self.env),
        ]
        return sha256(orjson.dumps(seen))

    @property
    def id(self) -> str:
        """The id of the case it becomes: category and digest, so it stays when other cases come or go."""
        return f"{self.category}-{self.key[:12]}"

    @property
    def group(self) -> str:
        """Subcommand and set of options: the unit the budget and the selection are spread over."""
        # A worked example has its options among the operands.
        written = {w.partition("=")[0] for w in self.operands if w.startswith("-") and len(w) > 1}
        names = sorted({given.option for given in self.options} | written)
        return " ".join((*self.command, *names)) or "(none)"
