"""One error family, one subclass per boundary a failure can cross.

Every message names the input, the rule it broke and what to do. ``infrastructure`` separates "the world failed"
(disk, daemon, network: the partition stays stale and is tried again) from "the input is what it is" (a repository
that cannot be built is a *materialized outcome*, never an exception). An infrastructure failure is never a score.
"""

from __future__ import annotations

from typing import ClassVar


class GymlineError(Exception):
    """Base of all errors raised on purpose.

    Args:
        subject: the input, named so that a reader can find it (``repository 'a/b'``, ``blob sha256:…``).
        rule: the rule it broke.
        fix: what the reader can do about it.
    """

    infrastructure: ClassVar[bool] = False

    def __init__(self, subject: str, rule: str, fix: str) -> None:
        super().__init__(f"{subject}: {rule}. {fix}")
        self.subject = subject
        self.rule = rule
        self.fix = fix

    def __reduce__(self) -> tuple[type[GymlineError], tuple[str, str, str]]:
        return type(self), (self.subject, self.rule, self.fix)


class SettingsError(GymlineError):
    """A setting, argument or file given by the user is not usable."""


class SourceError(GymlineError):
    """A repository or mirror given by the user is not usable."""


class StoreError(GymlineError):
    """The artifact store could not do what was asked."""

    infrastructure = True


class ArtifactMissing(StoreError):
    """An artifact is not in the store."""


class ArtifactDamaged(StoreError):
    """An artifact's bytes do not have the digest they are stored under; it was moved to quarantine."""


class LineageError(GymlineError):
    """An unknown asset or partition, an undeclared read, or a record that cannot be right."""


class SandboxError(GymlineError):
    """The sandbox could not be made or did not hold: never a verdict about the program inside it."""

    infrastructure = True


class SandboxUnavailable(SandboxError):
    """No back end can isolate untrusted code on this machine. There is no fallback to the host."""


class CaseError(GymlineError):
    """A test case or suite does not follow the format."""
