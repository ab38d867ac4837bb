"""Reads files that came out of a sandbox without following a link to anywhere else.

A program can leave a symlink to a host file, a FIFO that blocks the reader, or swap a folder for a link between two
looks. So every path is opened beneath its folder by ``openat2`` with no links followed (component by component with
O_NOFOLLOW where the kernel lacks it), without blocking, and only regular files are read, up to a bound.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gymline.errors import SandboxError

_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS, _RESOLVE_NO_SYMLINKS, _RESOLVE_BENEATH = 0x02, 0x04, 0x08
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_DEEPEST = 100
_CHUNK = 1024 * 1024

_libc = ctypes.CDLL(None, use_errno=True)


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def read_file(folder: Path, relative: str, max_bytes: int) -> bytes:
    """The bytes of a regular file beneath ``folder``.

    Raises:
        FileNotFoundError: there is none.
        SandboxError: a link is on the way, it is no regular file, or it has more than ``max_bytes``.
    """
    with _folder(folder) as base, _opened(base, relative) as (descriptor, status):
        if not stat.S_ISREG(status.st_mode):
            raise _refusal(relative, "it is not a regular file")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise _refusal(relative, f"it is larger than {max_bytes} bytes")
    return content


def copy_tree(folder: Path, target: Path, max_bytes: int, max_files: int) -> None:
    """Copies the files, folders, modes' execute bits and inner links beneath ``folder`` to ``target``, a new folder.

    A symlink is kept only when it is relative and stays inside. Modes become 644, 755 for executables and folders.

    Raises:
        SandboxError: a device, FIFO, socket or outward link is in it, or it exceeds a bound; ``target`` is then
            incomplete.
    """
    target.mkdir()
    with _folder(folder) as base:
        _copy(base, "", target, _Allowance(max_bytes, max_files), _DEEPEST)


@dataclass
class _Allowance:
    bytes_left: int
    files_left: int

    def take_file(self, relative: str) -> None:
        self.files_left -= 1
        if self.files_left < 0:
            raise _refusal(relative, "the folder has too many files")

    def take_bytes(self, relative: str, count: int) -> None:
        self.bytes_left -= count
        if self.bytes_left < 0:
            raise _refusal(relative, "the folder is too large")


def _copy(base: int, prefix: str, target: Path, allowance: _Allowance, depth: int) -> None:
    if depth == 0:
        raise _refusal(prefix, f"folders are nested more than {_DEEPEST} deep")
    for name in sorted(os.listdir(base), key=os.fsencode):
        relative = prefix + name
        allowance.take_file(relative)
        try:
            kind = stat.S_IFMT(os.stat(name, dir_fd=base, follow_symlinks=False).st_mode)
            if kind == stat.S_IFLNK:
                link = os.readlink(name, dir_fd=base)
                _check_link(relative, link)
                (target / name).symlink_to(link)
            elif kind in (stat.S_IFDIR, stat.S_IFREG):
                with _opened(base, name) as (descriptor, status):
                    _copy_opened(descriptor, status, relative, target / name, allowance, depth)
            else:
                raise _refusal(relative, "it is a device, FIFO or socket")
        except FileNotFoundError as error:
            raise _refusal(relative, "it changed while it was read") from error


def _copy_opened(
    descriptor: int, status: os.stat_result, relative: str, target: Path, allowance: _Allowance, depth: int
) -> None:
    if stat.S_ISDIR(status.st_mode):
        target.mkdir()
        _copy(descriptor, relative + "/", target, allowance, depth - 1)
        return
    if not stat.S_ISREG(status.st_mode):
        raise _refusal(relative, "it changed into something else while it was read")
    with target.open("xb") as copy:
        while chunk := os.read(descriptor, _CHUNK):
            allowance.take_bytes(relative, len(chunk))
            copy.write(chunk)
    target.chmod(0o755 if status.st_mode & 0o111 else 0o644)


def _check_link(relative: str, link: str) -> None:
    depth = len(PurePosixPath(relative).parts) - 1
    for part in PurePosixPath(link).parts:
        depth += -1 if part == ".." else 1
        if part == "/" or depth < 0:
            raise _refusal(relative, f"it is a link to {link!r}, out of the folder")


@contextmanager
def _folder(folder: Path) -> Generator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _opened(base: int, relative: str) -> Generator[tuple[int, os.stat_result]]:
    parts = PurePosixPath(relative).parts
    if not parts or relative.startswith("/") or ".." in parts:
        raise _refusal(relative, "it is not a plain relative path")
    try:
        descriptor = open_beneath(base, relative)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EXDEV, errno.ENXIO, errno.ENOTDIR):
            raise _refusal(relative, f"a link, socket or file is in its way ({error.strerror})") from error
        raise
    try:
        yield descriptor, os.fstat(descriptor)
    finally:
        os.close(descriptor)


def open_beneath(base: int, relative: str) -> int:
    """A descriptor to read ``relative`` beneath the open folder ``base``; OSError ELOOP or EXDEV when a link is in
    the way."""
    how = _OpenHow(_READ, 0, _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS)
    if sys.platform == "linux":
        path = os.fsencode(relative)
        descriptor = _libc.syscall(_OPENAT2, base, path, ctypes.byref(how), ctypes.sizeof(how))
        if descriptor >= 0:
            return descriptor
        number = ctypes.get_errno()
        if number not in (errno.ENOSYS, errno.EPERM):
            raise OSError(number, os.strerror(number), relative)
    return open_by_components(base, relative)


def open_by_components(base: int, relative: str) -> int:
    """As ``open_beneath``, for kernels (or seccomp filters) without openat2: no component may be a link."""
    *folders, name = PurePosixPath(relative).parts
    current = os.dup(base)
    try:
        for part in folders:
            inner = os.open(part, _READ | os.O_DIRECTORY, dir_fd=current)
            os.close(current)
            current = inner
        return os.open(name, _READ, dir_fd=current)
    finally:
        os.close(current)


def _refusal(relative: str, rule: str) -> SandboxError:
    return SandboxError(f"sandbox file {relative!r}", rule, "It is left where it is; nothing of it was taken over.")
