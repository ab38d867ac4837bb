"""Asks the reference program, in batches, and remembers: nothing is asked twice, and the budget is a count."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gymline.cases.case import InputFile, Invocation, sha256
from gymline.cases.observation import Observation
from gymline.cases.runner import observe
from gymline.cases.settings import CaseSettings
from gymline.sandbox import Root, Sandbox
from gymline.suites.idea import Idea
from gymline.suites.settings import SuiteSettings

NOISE = {"GYMLINE_NOISE": "x" * 257, "USER": "somebody", "LOGNAME": "somebody", "SHLVL": "3", "OLDPWD": "/usr"}
"""Variables that no answer may depend on."""


@dataclass(frozen=True)
class Attempt:
    """An idea and what the program did."""

    idea: Idea
    seen: Observation
    stable: bool = True
    """Whether a second run, in reverse order and with another environment around it, had the same outcome."""

    @property
    def works(self) -> bool:
        """It ended with status 0, left something to compare, and does so again."""
        return self.stable and self.seen.status == 0 and bool(self.seen.stdout.size or self.seen.files)

    @property
    def refuses(self) -> bool:
        """It ended in an error with nothing on stdout and no file."""
        return self.seen.status != 0 and not self.seen.stdout.size and not self.seen.files

    @property
    def text(self) -> str:
        """What it printed; stderr only where stdout is empty."""
        stdout = self.seen.stdout
        content = stdout.content if stdout.content is not None else b""
        return content[: 256 * 1024].decode("utf-8", "replace") if content else self.seen.stderr.preview

    @property
    def answer(self) -> tuple[object, ...]:
        """Everything a case compares: equal for two invocations with the same outcome."""
        return _answer(self.seen)

    @property
    def shape(self) -> tuple[object, ...]:
        """The outcome with words and numbers blurred: equal for answers that differ in their data alone."""
        lines = {re.sub(r"\w+", "w", re.sub(r"\d+", "0", x))[:60] for x in self.text.splitlines()[:60]}
        files = tuple(f.path for f in self.seen.files)
        return (self.seen.ending, self.seen.status, self.seen.stderr.size == 0, frozenset(lines), files)


class Reference:
    """The gold executable behind the cases runner. Contents of inputs and outputs are kept by digest in ``inputs``."""

    def __init__(
        self,
        sandbox: Sandbox,
        root: Root,
        executable: Path,
        name: str,
        inputs: Path,
        settings: SuiteSettings,
    ) -> None:
        self.name = name
        self.attempts: dict[str, Attempt] = {}
        self._sandbox, self._root, self._executable = sandbox, root, executable
        self._inputs, self._settings = inputs, settings

    @property
    def left(self) -> int:
        """Invocations still in the budget."""
        return self._settings.max_invocations - len(self.attempts)

    def ask(self, ideas: Iterable[Idea]) -> list[Attempt]:
        """Runs the ideas not seen before, in order and as far as the budget goes. Returns the attempts for all of
        the ideas that have one. Raises ``SandboxError`` when the infrastructure failed."""
        wanted = list({idea.key: idea for idea in reversed(list(ideas))}.values())[::-1]
        fresh = [idea for idea in wanted if idea.key not in self.attempts and _can_be_given(idea)]
        fresh = fresh[: max(0, self.left)]
        if fresh:
            asked = [self.invocation(idea, self._settings.slow_seconds) for idea in fresh]
            seen = self._observe(asked, record=True)
            # What differs between two runs must not steer the exploration, or two suites would differ as well.
            ended = [call for call, one in zip(asked, seen, strict=True) if one.ending == "exited"]
            again = {one.id: one for one in self._observe(ended[::-1], record=False)}
            for idea, observation in zip(fresh, seen, strict=True):
                for digest, content in observation.recorded.items():
                    self._keep(digest, content)
                stable = idea.id not in again or _answer(observation) == _answer(again[idea.id])
                self.attempts[idea.key] = Attempt(idea, observation, stable)
        return [self.attempts[idea.key] for idea in wanted if idea.key in self.attempts]

    def invocation(self, idea: Idea, timeout_seconds: float) -> Invocation:
        """The idea as the runner takes it, with its contents laid into the inputs folder."""
        files = tuple(InputFile(path=path, sha256=self._store(content)) for path, content in sorted(idea.files))
        return Invocation(
            id=idea.id,
            argv=idea.argv,
            stdin=None if idea.stdin is None else self._store(idea.stdin),
            files=files,
            env=dict(idea.env),
            timeout_seconds=timeout_seconds,
        )

    def _observe(self, asked: list[Invocation], *, record: bool) -> list[Observation]:
        env = {} if record else NOISE
        return observe(
            self._sandbox,
            self._root,
            self._executable,
            self.name,
            asked,
            self._inputs,
            settings=CaseSettings(batch_cases=self._settings.batch),
            record=record,
            env=env,
        )

    def _store(self, content: bytes) -> str:
        digest = sha256(content)
        self._keep(digest, content)
        return digest

    def _keep(self, digest: str, content: bytes) -> None:
        path = self._inputs / digest
        if not path.exists():
            path.write_bytes(content)


def _answer(seen: Observation) -> tuple[object, ...]:
    files = tuple((f.path, f.content.sha256) for f in seen.files)
    return (seen.ending, seen.status, seen.stdout.sha256, seen.stderr.size == 0, files, seen.removed)


def _can_be_given(idea: Idea) -> bool:
    return all("\0" not in word and len(word) < 4096 for word in idea.argv) and len(idea.argv) < 64
