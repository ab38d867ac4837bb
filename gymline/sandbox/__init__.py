"""Untrusted programs run here and nowhere else.

A ``Sandbox`` runs one command on a ``Root`` (a content-addressed Debian rootfs plus read-only layers on top) with
limits that were read back after they were set. Back ends: Bubblewrap (``bubblewrap.py``, the embedded default);
``open_sandbox`` picks one and raises ``SandboxUnavailable`` when none works: it never falls back to the host.

What every back end guarantees: no network unless ``network=True``; an environment made only of what the command
states; a read-only root and a private, size-limited /tmp; memory, process, CPU, disk and wall limits; the whole
process tree killed at the end; stdout and stderr capped with head and tail kept, also on a timeout. Files coming
out of a writable mount are read through ``outfiles.py``, which follows no link out of its folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

MIB = 1024 * 1024
GIB = 1024 * MIB

Ending = Literal["exited", "timeout", "memory", "output", "disk"]
"""How a command ended: by itself, or killed for wall time, memory, too much output, or a full disk."""


@dataclass(frozen=True)
class Root:
    """The file system a command sees as ``/``: a rootfs folder and layers over it, lowest first, all read-only.

    ``digest`` identifies the rootfs content (a declared fingerprint of builds); layers have digests of their own.
    """

    folder: Path
    digest: str
    layers: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Mount:
    """A host folder or file shown inside at ``target`` (absolute). Read-only unless ``writable``."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Limits:
    """Bounds on one sandbox. Bytes and seconds; ``cpus`` may be fractional."""

    wall_seconds: float = 60.0
    memory_bytes: int = 2 * GIB
    processes: int = 256
    cpus: float = 2.0
    disk_bytes: int = 4 * GIB
    """Bound on what is written to writable mounts and /tmp together, or each, as the back end can."""
    output_bytes: int = 1 * MIB
    """Kept of each of stdout and stderr (70% head, 30% tail); the rest is read and dropped."""


@dataclass(frozen=True)
class Command:
    """One command. ``env`` is the whole environment (the back end adds PATH, HOME, LANG=C.UTF-8 and TZ=UTC only
    where missing). ``user`` is the uid seen inside: an ordinary one, or 0 where a package manager needs it."""

    argv: Sequence[str]
    cwd: str = "/"
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    stdin: bytes = b""
    mounts: Sequence[Mount] = ()
    network: bool = False
    limits: Limits = field(default_factory=Limits)
    user: int = 1000
    label: str = ""
    """A few words for logs and leftovers, e.g. ``gold_build a/b``."""


@dataclass(frozen=True)
class Completed:
    """What came of a command. ``status`` is the exit status, or 128 + signal as a shell has it."""

    status: int
    ending: Ending
    stdout: bytes
    stderr: bytes
    stdout_dropped: int
    stderr_dropped: int
    seconds: float
    peak_memory_bytes: int | None

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with status 0."""
        return self.ending == "exited" and self.status == 0


class Sandbox(Protocol):
    """A back end. Every method raises ``SandboxError`` for failures of the sandbox itself."""

    name: str

    def run(self, root: Root, command: Command) -> Completed:
        """Runs the command to its end and returns it; whatever it left running is dead on return."""
        ...

    def run_layer(self, root: Root, command: Command, layer: Path) -> Completed:
        """Like ``run``, with a root that can be written; what was written is left in ``layer``, a new folder that
        a later ``Root.layers`` can carry."""
        ...
