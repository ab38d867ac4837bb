"""Copies of untrusted trees on the host: links are copied as links, never followed."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

_DEEPEST = 30
_DEEPEST_COPIED = 100


def copy_tree(source: Path, target: Path, *, mtime: int, depth: int = 0) -> None:
    """Copies folders, regular files and links (as links) of ``source`` into the new folder ``target``.

    Modes become 0755 or 0644 and every time ``mtime``: equal times keep make from regenerating checked-in files.
    Sockets, pipes and devices are left out, and what is nested beyond any honest tree (100 levels; ``depth`` is that
    of ``source``).
    """
    target.mkdir(parents=True)
    with os.scandir(source) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            mode = entry.stat(follow_symlinks=False).st_mode
            into = target / entry.name
            if stat.S_ISLNK(mode):
                into.symlink_to(Path(entry.path).readlink())
            elif stat.S_ISDIR(mode):
                if depth < _DEEPEST_COPIED:
                    copy_tree(Path(entry.path), into, mtime=mtime, depth=depth + 1)
                continue
            elif stat.S_ISREG(mode):
                shutil.copyfile(entry.path, into, follow_symlinks=False)
                into.chmod(0o755 if mode & 0o100 else 0o644)
            else:
                continue
            os.utime(into, (mtime, mtime), follow_symlinks=False)
    target.chmod(0o755)
    os.utime(target, (mtime, mtime))


def regular_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every regular file below ``folder`` by relative path, sorted, without going through links.

    Folders nested beyond any honest build (30 levels) are not entered.
    """
    folders = [folder]
    found: list[Path] = []
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    found.append(Path(entry.path))
                elif entry.is_dir(follow_symlinks=False) and len(Path(entry.path).parts) < len(folder.parts) + _DEEPEST:
                    folders.append(Path(entry.path))
    for path in sorted(found):
        yield str(path.relative_to(folder)), path
