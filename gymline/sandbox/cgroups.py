"""Memory, process and CPU limits by control groups: v2 where the controllers are delegated, else v1.

A silent, read-only or shadowed control group makes a limit vanish, so every value is read back after it is set and a
difference is a ``SandboxError``. Without usable control groups there is no sandbox: ``SandboxUnavailable``.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gymline.errors import SandboxError, SandboxUnavailable
from gymline.sandbox import Limits

CONTROLLERS = ("memory", "pids", "cpu")
_PERIOD_US = 100_000
_PAGE = os.sysconf("SC_PAGE_SIZE")
_OWN_PROCESSES = 2
"""Bubblewrap's monitor and its pid 1 live in the group too; the command gets its full number on top."""


@dataclass(frozen=True)
class Hierarchy:
    """Where new groups go: controller → parent folder (under v2 one folder for all)."""

    version: int
    parents: Mapping[str, Path]

    def folders(self, name: str) -> dict[str, Path]:
        """The folders of the group ``name``, one a controller."""
        return {controller: parent / name for controller, parent in self.parents.items()}

    def names(self, prefix: str) -> set[str]:
        """The groups that exist with this prefix, in any controller."""
        return {path.name for parent in set(self.parents.values()) for path in parent.glob(f"{prefix}*")}


def find_hierarchy() -> Hierarchy:
    """The control groups this process may use.

    Raises:
        SandboxUnavailable: neither v2 nor v1 offers memory, pids and cpu to this user.
    """
    own: dict[str, str] = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        own.update({name: path for name in controllers.split(",")})
    mounts = list(_cgroup_mounts())
    hierarchy = _find_v2(mounts, own.get("", "/")) or _find_v1(mounts, own)
    if hierarchy:
        return hierarchy
    raise SandboxUnavailable(
        "control groups",
        "no v2 or v1 hierarchy offers memory, pids and cpu limits to this user",
        "Run as root on a host that mounts /sys/fs/cgroup read-write (a container: --privileged --cgroupns=host).",
    )


def _cgroup_mounts() -> Iterator[tuple[str, str, Path, list[str]]]:
    """(type, root inside the hierarchy, mount point, super options) of each cgroup mount."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            yield kind, left.split(" ")[3], Path(left.split(" ")[4]), options.split(",")


def _find_v2(mounts: list[tuple[str, str, Path, list[str]]], own: str) -> Hierarchy | None:
    for kind, root, point, _ in mounts:
        if kind != "cgroup2":
            continue
        folder = _beneath(point, root, own)
        # A group that holds processes hands out no controllers, so ours become siblings of the nearest one that does.
        for parent in [folder, *folder.parents]:
            if not parent.is_relative_to(point):
                break
            enabled = (parent / "cgroup.subtree_control").read_text().split()
            if set(CONTROLLERS) <= set(enabled) and os.access(parent, os.W_OK):
                return Hierarchy(2, dict.fromkeys(CONTROLLERS, parent))
        if _hand_out_controllers(folder):
            return Hierarchy(2, dict.fromkeys(CONTROLLERS, folder))
    return None


def _hand_out_controllers(folder: Path) -> bool:
    """A container sees its own group as the top one: its processes move to a leaf, so that the top can have
    children with limits. True when that worked."""
    offered = (folder / "cgroup.controllers").read_text().split()
    if not set(CONTROLLERS) <= set(offered) or not os.access(folder, os.W_OK):
        return False
    try:
        leaf = folder / "gymline.host"
        leaf.mkdir(exist_ok=True)
        for pid in (folder / "cgroup.procs").read_text().split():
            (leaf / "cgroup.procs").write_text(pid)
        (folder / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in CONTROLLERS))
    except OSError:
        return False
    return True


def _find_v1(mounts: list[tuple[str, str, Path, list[str]]], own: Mapping[str, str]) -> Hierarchy | None:
    parents: dict[str, Path] = {}
    for kind, root, point, options in mounts:
        for controller in CONTROLLERS:
            if kind == "cgroup" and controller in options:
                folder = _beneath(point, root, own.get(controller, "/"))
                if os.access(folder, os.W_OK):
                    parents[controller] = folder
    return Hierarchy(1, parents) if len(parents) == len(CONTROLLERS) else None


def _beneath(point: Path, root: str, own: str) -> Path:
    """Our own group seen through a mount of the hierarchy's ``root`` at ``point``; the mount itself when the path
    in /proc is one of another namespace."""
    relative = own.removeprefix(root if root != "/" else "").lstrip("/")
    folder = point / relative
    return folder if folder.is_dir() else point


class Group:
    """One sandbox's control group: made with its limits, read back, killed as a whole, removed.

    Raises:
        SandboxError: a limit could not be set, or reads back as another value.
    """

    def __init__(self, hierarchy: Hierarchy, name: str, limits: Limits) -> None:
        self.name = name
        self._version = hierarchy.version
        self._folders = hierarchy.folders(name)
        try:
            for folder in set(self._folders.values()):
                folder.mkdir()
            for path, value in self._settings(limits):
                path.write_text(value)
                found = " ".join(path.read_text().split())
                if found != value:
                    raise SandboxError(
                        f"control group {path}", f"set to {value} it reads {found}", "Check the host's cgroups."
                    )
        except OSError as error:
            self.remove()
            raise SandboxError(
                f"control group {name}", f"a limit cannot be set ({error})", "Run `gymline doctor`."
            ) from error
        except SandboxError:
            self.remove()
            raise

    def _settings(self, limits: Limits) -> list[tuple[Path, str]]:
        memory, pids, cpu = (self._folders[name] for name in CONTROLLERS)
        bound = str(limits.memory_bytes // _PAGE * _PAGE)
        quota = str(max(1000, int(limits.cpus * _PERIOD_US)))
        settings = [(pids / "pids.max", str(limits.processes + _OWN_PROCESSES))]
        if self._version == 2:
            settings += [(memory / "memory.max", bound), (cpu / "cpu.max", f"{quota} {_PERIOD_US}")]
            swap, no_swap = memory / "memory.swap.max", "0"
        else:
            settings += [
                (memory / "memory.limit_in_bytes", bound),
                (cpu / "cpu.cfs_period_us", str(_PERIOD_US)),
                (cpu / "cpu.cfs_quota_us", quota),
            ]
            swap, no_swap = memory / "memory.memsw.limit_in_bytes", bound
        if swap.exists():
            settings.append((swap, no_swap))
        elif len(Path("/proc/swaps").read_text().splitlines()) > 1:
            raise SandboxError(
                f"control group {self.name}",
                "the host swaps, and this kernel cannot limit that per group",
                "Boot with swapaccount=1 or turn swap off.",
            )
        return settings

    @property
    def join_files(self) -> list[Path]:
        """A process joins by writing 0 to each of these."""
        return sorted({folder / "cgroup.procs" for folder in self._folders.values()})

    def processes(self) -> list[int]:
        """The processes in the group now (zombies included)."""
        return _processes(self._folders)

    def peak_memory_bytes(self) -> int | None:
        """The most memory the group ever used, page cache and tmpfs included; None where the kernel does not say."""
        name = "memory.peak" if self._version == 2 else "memory.max_usage_in_bytes"
        path = self._folders["memory"] / name
        return int(path.read_text()) if path.exists() else None

    def memory_kills(self) -> int:
        """How many processes the kernel killed because the group was out of memory."""
        name = "memory.events" if self._version == 2 else "memory.oom_control"
        found = re.search(r"(?m)^oom_kill (\d+)$", (self._folders["memory"] / name).read_text())
        return int(found[1]) if found else 0

    def kill(self) -> None:
        """Kills every process in the group and waits until none is left."""
        kill_group(self._folders, self.name)

    def remove(self) -> None:
        """Removes the (empty) group."""
        remove_group(self._folders, self.name)


def _processes(folders: Mapping[str, Path]) -> list[int]:
    pids: set[int] = set()
    for folder in set(folders.values()):
        try:
            pids.update(int(pid) for pid in (folder / "cgroup.procs").read_text().split())
        except OSError as error:
            # Another thread may be removing the group: the file is gone, or its open descriptor leads nowhere.
            if error.errno not in (errno.ENOENT, errno.ENODEV):
                raise
    return sorted(pids)


def kill_group(folders: Mapping[str, Path], name: str, patience: float = 20.0) -> None:
    """Kills until the group is empty. A pid namespace's pid 1 is among them, so forks cannot outrun this.

    Raises:
        SandboxError: something outlived ``patience`` seconds of SIGKILL (stuck in the kernel).
    """
    deadline = time.monotonic() + patience
    pause = 0.0005
    while pids := _processes(folders):
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        if time.monotonic() > deadline:
            raise SandboxError(
                f"control group {name}", f"processes {pids} outlived SIGKILL", "Look at their /proc/PID/stack."
            )
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


def remove_group(folders: Mapping[str, Path], name: str, patience: float = 10.0) -> None:
    """Removes the group's folders; those already gone are fine.

    Raises:
        SandboxError: one is still busy after ``patience`` seconds.
    """
    deadline = time.monotonic() + patience
    for folder in set(folders.values()):
        while folder.exists():
            try:
                folder.rmdir()
            except OSError as error:
                # An exiting process still counts for a moment after it left cgroup.procs.
                if time.monotonic() > deadline:
                    raise SandboxError(
                        f"control group {name}", f"it cannot be removed ({error})", f"Try `rmdir {folder}`."
                    ) from error
                time.sleep(0.001)
