"""Names that say who owns a sandbox, and the reaper that removes what a dead owner left.

A sandbox is called ``gymline-PID-START-N``: its supervisor's pid, that process's start time (pids come again) and a
counter. Its control group and its state folder carry that name, and the state folder links to the group's folders and
to the overlay's work folder, which may lie where the reaper would not look. Mounts live in the sandbox's own mount
namespace and go with its last process.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from gymline.errors import StoreError
from gymline.sandbox.cgroups import Hierarchy, kill_group, remove_group
from gymline.store import remove_tree

PREFIX = "gymline-"
WORK_LINK = "work"
_GROUP_LINK = "cgroup-"
_NAME = re.compile(r"gymline-(\d+)-(\d+)-\d+")
_numbers = itertools.count()


def new_name() -> str:
    """A name for one more sandbox of this process."""
    pid = os.getpid()
    return f"{PREFIX}{pid}-{start_time(pid)}-{next(_numbers)}"


def live_folder(cache: Path) -> Path:
    """The folder of the state folders of running sandboxes."""
    return cache / "live"


def record_group(state: Path, folders: Mapping[str, Path]) -> None:
    """Links the folders of the sandbox's control group (not yet made) in its state folder."""
    for controller, folder in folders.items():
        (state / f"{_GROUP_LINK}{controller}").symlink_to(folder)


def reap_leftovers(cache: Path, hierarchy: Hierarchy) -> list[str]:
    """Kills and removes the sandboxes whose supervisor is dead; the names of those removed, sorted."""
    live = live_folder(cache)
    states = {path.name for path in live.glob(f"{PREFIX}*")} if live.is_dir() else set[str]()
    orphans = sorted(name for name in states | hierarchy.names(PREFIX) if is_orphan(name))
    for name in orphans:
        links = {link.name: link.readlink() for link in (live / name).glob(f"{_GROUP_LINK}*")}
        folders = hierarchy.folders(name) | links
        kill_group(folders, name)
        remove_group(folders, name)
        remove_state(live / name)
    return orphans


def remove_state(state: Path) -> None:
    """Removes a state folder and the overlay work folder it points to (which lies beside the layer it served)."""
    work = state / WORK_LINK
    if work.is_symlink():
        _try_to_remove(work.readlink())
    _try_to_remove(state)


def _try_to_remove(folder: Path) -> None:
    """What cannot be removed now is tried again by the next reaper; it must not keep sandboxes from starting."""
    with suppress(StoreError):
        remove_tree(folder)


def is_orphan(name: str) -> bool:
    """Whether a name of this module's names an owner, on this machine, that is dead."""
    match = _NAME.fullmatch(name)
    return match is not None and start_time(int(match[1])) != match[2]


def start_time(pid: int) -> str | None:
    """When a process started, in clock ticks after boot; None when there is none (a zombie is none)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else fields[19]
