"""Bounds what a sandbox writes to the host's file system.

The folders belong to the caller and lie on the caller's file system, so neither a sized file system nor a project quota
can be put under them. Instead: RLIMIT_FSIZE bounds one file, and a watcher compares the blocks under the writable
folders, and of deleted files that are still open, with those at the start. It looks again when the file system's free
space dropped by half of what is left of the bound, and now and then anyway. It can be overrun by what fits between two
looks (about 0.1 s of writing). The private /tmp is a tmpfs of fixed size: filling that is ``ENOSPC`` inside.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path

_INODE_BYTES = 4096


class DiskWatch:
    """Watches ``folders`` for growth by more than ``bound`` bytes.

    Args:
        processes: the pids whose deleted open files count too.
    """

    def __init__(self, folders: Sequence[Path], bound: int, processes: Callable[[], list[int]]) -> None:
        self._folders = [folder for folder in folders if folder.is_dir()]
        self._bound = bound
        self._processes = processes
        self._start, _ = self._used()
        self._left = bound
        self._free = self._free_bytes()
        self._next_look = 0.0

    def exceeded(self) -> bool:
        """Whether more than the bound was written since the start, as far as a cheap look can tell."""
        if not self._folders:
            return False
        now = time.monotonic()
        if self._free - self._free_bytes() < self._left // 2 and now < self._next_look:
            return False
        self._free = self._free_bytes()
        used, readable = self._used()
        self._left = self._bound - (used - self._start)
        self._next_look = now + max(1.0, 20 * (time.monotonic() - now))
        return self._left < 0 or not readable

    def _free_bytes(self) -> int:
        systems = {folder.stat().st_dev: os.statvfs(folder) for folder in self._folders}
        return sum(system.f_bavail * system.f_frsize for system in systems.values())

    def _used(self) -> tuple[int, bool]:
        """Bytes under the folders, and whether all of them could be looked at: a tree too deep to walk could hide
        anything, so it counts as too much."""
        used, readable = 0, True
        devices = {folder.stat().st_dev for folder in self._folders}
        pending = [str(folder) for folder in self._folders]
        while pending:
            try:
                with os.scandir(pending.pop()) as entries:
                    for entry in entries:
                        try:
                            status = entry.stat(follow_symlinks=False)
                        except FileNotFoundError:
                            continue
                        used += status.st_blocks * 512 // max(1, status.st_nlink) + _INODE_BYTES
                        if stat.S_ISDIR(status.st_mode):
                            pending.append(entry.path)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                readable = False
        return used + _deleted_bytes(self._processes(), devices), readable


def _deleted_bytes(pids: list[int], devices: set[int]) -> int:
    seen: dict[tuple[int, int], int] = {}
    for pid in pids:
        try:
            for descriptor in Path(f"/proc/{pid}/fd").iterdir():
                status = descriptor.stat()
                if stat.S_ISREG(status.st_mode) and status.st_nlink == 0 and status.st_dev in devices:
                    seen[status.st_dev, status.st_ino] = status.st_blocks * 512
        except OSError:
            continue
    return sum(seen.values())
