"""What this machine offers for running untrusted code, and what to install.

Each finding stands alone, so an ordinary user or a half-installed machine gets the whole list, not the first error.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gymline.errors import GymlineError
from gymline.sandbox import GIB, Command, Limits
from gymline.sandbox.bubblewrap import bubblewrap_version
from gymline.sandbox.cgroups import find_hierarchy
from gymline.sandbox.choose import open_sandbox
from gymline.sandbox.rootfs import recorded_rootfs, rootfs_folder
from gymline.sandbox.settings import SandboxSettings

_DISK_WANTED = 10 * GIB
_MEMORY_WANTED = 4 * GIB


@dataclass(frozen=True)
class Finding:
    """One thing looked at. ``required``: without it nothing untrusted runs. ``fix`` is empty when ``ok``."""

    name: str
    ok: bool
    required: bool
    detail: str
    fix: str = ""


def examine(settings: SandboxSettings) -> list[Finding]:
    """The findings, in the order in which they should be fixed. Never raises and installs nothing."""
    return [
        _finding("python", lambda: ".".join(map(str, sys.version_info[:3]))),
        _finding("user", _user),
        _finding("bubblewrap", lambda: "version " + ".".join(map(str, bubblewrap_version()))),
        _finding("control groups", _cgroups),
        _finding("debootstrap", lambda: _tool("debootstrap"), required=recorded_rootfs(settings) is None),
        _finding("rootfs", lambda: _rootfs(settings)),
        _finding("trial run", lambda: _trial_run(settings)),
        _finding("git", lambda: _tool("git")),
        _finding("disk space", lambda: _disk(settings.cache), required=False),
        _finding("memory", _memory, required=False),
        _finding("cpus", lambda: f"{len(os.sched_getaffinity(0))}", required=False),
    ]


def _finding(name: str, look: Callable[[], str], required: bool = True) -> Finding:
    try:
        return Finding(name, True, required, look())
    except GymlineError as error:
        return Finding(name, False, required, f"{error.subject}: {error.rule}", error.fix)
    except OSError as error:
        return Finding(name, False, required, str(error), "Give this user access to it, or run as root.")


class _Missing(GymlineError):
    """What a look found wanting."""


def _user() -> str:
    if os.geteuid() != 0:
        raise _Missing(
            f"uid {os.geteuid()}", "overlays, limits and debootstrap need root", "Run Gymline as root, e.g. with sudo."
        )
    return "root"


def _cgroups() -> str:
    hierarchy = find_hierarchy()
    return f"v{hierarchy.version} at " + ", ".join(sorted({str(path) for path in hierarchy.parents.values()}))


def _tool(name: str) -> str:
    if path := shutil.which(name):
        return path
    raise _Missing(name, "it is not on PATH", f"Run `apt-get install {name}`.")


def _rootfs(settings: SandboxSettings) -> str:
    if root := recorded_rootfs(settings):
        return f"{root.folder} {root.digest}"
    raise _Missing(
        f"{rootfs_folder(settings)}", "it was not made yet", "It is made by the first build run as root (minutes)."
    )


def _trial_run(settings: SandboxSettings) -> str:
    root = recorded_rootfs(settings)
    if not root:
        raise _Missing("trial run", "there is no rootfs to run on", "Make the rootfs first.")
    completed = open_sandbox(settings).run(root, Command(["true"], limits=Limits(wall_seconds=30)))
    if not completed.ok:
        problem = completed.stderr.decode(errors="replace").strip()
        raise _Missing(
            "trial run", f"`true` ended with {completed.status} ({completed.ending}) {problem}", "See above."
        )
    return f"`true` in {completed.seconds * 1000:.0f} ms"


def _disk(cache: Path) -> str:
    existing = next(path for path in (cache, *cache.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free < _DISK_WANTED:
        raise _Missing(
            f"{existing}", f"{free / GIB:.1f} GiB are free; 10 are needed", "Free some, or move GYMLINE_SANDBOX_CACHE."
        )
    return f"{free / GIB:.0f} GiB free at {existing}"


def _memory() -> str:
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    available = int(fields["MemAvailable"].split()[0]) * 1024
    if available < _MEMORY_WANTED:
        raise _Missing(
            "memory", f"{available / GIB:.1f} GiB are available; builds want 4", "Free some, or lower limits."
        )
    return f"{available / GIB:.1f} GiB available"
