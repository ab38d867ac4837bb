"""From a source tree to its gold executable, or the reason why there is none.

A buildpack writes two scripts. ``download.sh`` runs online on a copy of the source; only what it leaves in
the deps folder survives. ``compile.sh`` runs offline, in a fresh sandbox on a fresh copy, with deps
read-only, and leaves ``./executable``. Every pack that matches is tried in order (``buildpacks/``) until one
passes the gates: exit status 0, an ELF program, every shared library resolved, a smoke run without the build
tree.

    gold.py       the attempts, the gates in order, the content of the result
    stages.py     the two stages in the sandbox; ``rebuild`` is stage two for any compile.sh, a candidate's too
    products.py   which of the ELF files a build leaves is the program
    gates.py      libraries and smoke run
    reasons.py    logs to short reasons that are equal on every run

A repository that cannot be built is an outcome. ``SandboxError`` and ``BuildInfrastructureError`` are
exceptions: they say nothing about the repository, and it is tried again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gymline.errors import GymlineError


class CompileFailed(GymlineError):
    """A compile.sh left no usable ./executable; ``rule`` is the stable reason. A verdict about the source."""


class BuildInfrastructureError(GymlineError):
    """The online stage could not reach a registry: no verdict about the source."""

    infrastructure = True


@dataclass(frozen=True)
class Buildpack:
    """One way to build. Its scripts are ``<name>.download.sh`` and ``<name>.compile.sh`` in ``buildpacks/``.

    ``detect`` looks at a source tree; ``products`` are the patterns, relative to it, of files that may be
    programs.
    """

    name: str
    detect: Callable[[Path], bool]
    products: tuple[str, ...]
