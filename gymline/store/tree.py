"""Folders as content: a sorted manifest of paths, kinds and digests.

The manifest is canonical JSON, ``{"tree": [[path, kind, value], …]}`` sorted by path bytes. Kinds: ``f`` a
file and ``x`` an executable one (value: the blob's digest), ``l`` a symlink (its target), ``d`` an empty
folder (""). The owner's executable bit is content; other modes, owners and times are not.

Paths are bytes on disk. In Python they are ``str`` with UTF-8 and surrogateescape, whatever the locale; in
the manifest, which cannot hold lone surrogates, a path or target that is not UTF-8 is ``{"hex": "…"}``.
"""

# Paths are bytes here, and pathlib has none.
# ruff: noqa: PTH115, PTH118

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import orjson

from gymline.errors import StoreError
from gymline.store.canonical import CHUNK, canonical_json, digest_bytes

EntryKind = Literal["f", "x", "l", "d"]


@dataclass(frozen=True)
class Entry:
    """One line of a manifest. ``value`` is a digest (f, x), a link target (l) or empty (d)."""

    path: str
    kind: EntryKind
    value: str


@dataclass(frozen=True)
class Tree:
    """A folder's entries, sorted by path bytes."""

    entries: tuple[Entry, ...]

    def blobs(self) -> set[str]:
        """Digests of the files."""
        return {entry.value for entry in self.entries if entry.kind in "fx"}

    def manifest(self) -> bytes:
        """The canonical bytes; their sha256 is the tree's digest."""
        return canonical_json({"tree": [[_text(e.path), e.kind, _text(e.value)] for e in self.entries]})


def file_digests(manifest: bytes, digest: str) -> set[str]:
    """The blobs a manifest lists, without checking its paths: seven times faster than ``parse``, for planning.

    Raises ``StoreError`` for what is no manifest.
    """
    try:
        return {value for _, kind, value in orjson.loads(manifest)["tree"] if kind in ("f", "x")}
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"tree {digest}", f"its manifest cannot be read: {error}", "Store the folder again") from error


def to_bytes(path: str) -> bytes:
    """The bytes on disk of a path as this module's ``str``."""
    return path.encode("utf-8", "surrogateescape")


def to_str(path: bytes) -> str:
    """The inverse of ``to_bytes``."""
    return path.decode("utf-8", "surrogateescape")


def safe_link(path: str, target: str) -> bool:
    """Whether a symlink at ``path`` cannot lead out of its tree.

    ``..`` may only come first: after a name it starts from where that name, perhaps itself a link, leads.
    """
    parts = target.split("/")
    leading = next((i for i, part in enumerate(parts) if part not in ("..", ".")), len(parts))
    climbs = parts[:leading].count("..")
    return bool(target) and not target.startswith("/") and ".." not in parts[leading:] and climbs <= path.count("/")


def digest_tree(folder: Path) -> str:
    """The digest ``Store.put_tree`` would return, with no store. Raises ``StoreError`` as it does."""
    return digest_bytes(scan(folder, lambda path: measure(path)[0]).manifest())


def measure(path: bytes) -> tuple[str, int]:
    """Digest and size of a regular file, read in pieces."""
    digest, size = hashlib.sha256(), 0
    for chunk in file_chunks(path):
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size


def file_chunks(path: bytes) -> Iterator[bytes]:
    """A regular file in pieces; a link, device or pipe that took its place is refused with ``StoreError``."""
    name = repr(to_str(path))
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise StoreError(name, f"it cannot be read: {error.strerror}", "Correct the path") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise StoreError(name, "it is no regular file", "Store files, or a folder as a tree")
        while chunk := os.read(descriptor, CHUNK):
            yield chunk
    finally:
        os.close(descriptor)


def remove_tree(folder: Path) -> None:
    """Removes a folder, if it is there, however deep: an untrusted program nests folders beyond the recursion limit
    that ``shutil.rmtree`` ends at. Raises ``StoreError`` where something could not be removed.
    """
    done = subprocess.run(["rm", "-rf", "--", folder], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise StoreError(f"folder {folder}", f"it cannot be removed ({done.stderr.strip()})", "Remove it by hand")


def scan(folder: Path, put: Callable[[bytes], str]) -> Tree:
    """The tree of a folder; ``put`` turns each file into its digest. Raises ``StoreError``."""
    root = os.fsencode(folder)
    if not folder.is_dir():
        raise StoreError(repr(str(folder)), "it is no folder", "Give a folder to store as a tree")
    entries = [_entry(path, item, put) for path, item in sorted(_walk(root, b""), key=lambda pair: pair[0])]
    return Tree(tuple(entries))


def parse(manifest: bytes, digest: str) -> Tree:
    """The inverse of ``Tree.manifest``. Raises ``StoreError`` for what could lead a checkout astray."""
    try:
        rows = cast("list[list[Any]]", orjson.loads(manifest)["tree"])
        entries = tuple(Entry(_untext(path), kind, _untext(value)) for path, kind, value in rows)
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise StoreError(f"tree {digest}", f"its manifest cannot be read: {error}", "Rebuild the asset") from error
    for entry in entries:
        outside = any(part in ("", ".", "..") for part in entry.path.split("/")) or "\0" in entry.path
        if outside or entry.kind not in ("f", "x", "l", "d"):
            raise StoreError(f"tree {digest}", f"the entry {entry.path!r} is not allowed", "Rebuild the asset")
        if entry.kind == "l" and not safe_link(entry.path, entry.value):
            raise StoreError(f"tree {digest}", f"the link {entry.path!r} leads out of it", "Rebuild the asset")
    return Tree(entries)


def _walk(root: bytes, prefix: bytes) -> Iterator[tuple[bytes, os.DirEntry[bytes]]]:
    """Everything that is not a folder, and the empty folders."""
    with os.scandir(os.path.join(root, prefix) if prefix else root) as items:
        for item in items:
            path = prefix + b"/" + item.name if prefix else item.name
            if item.is_dir(follow_symlinks=False):
                children = iter(_walk(root, path))
                first = next(children, None)
                if first is None:
                    yield path, item
                else:
                    yield first
                    yield from children
            else:
                yield path, item


def _entry(path: bytes, item: os.DirEntry[bytes], put: Callable[[bytes], str]) -> Entry:
    name = to_str(path)
    mode = item.stat(follow_symlinks=False).st_mode
    if stat.S_ISREG(mode):
        return Entry(name, "x" if mode & 0o100 else "f", put(item.path))
    if stat.S_ISDIR(mode):
        return Entry(name, "d", "")
    if stat.S_ISLNK(mode):
        target = to_str(os.readlink(item.path))
        if safe_link(name, target):
            return Entry(name, "l", target)
        raise StoreError(repr(name), f"the symlink leads out of its folder, to {target!r}", "Leave it out")
    raise StoreError(repr(name), "devices, pipes and sockets are no content", "Leave it out of the folder")


def _text(text: str) -> str | dict[str, str]:
    try:
        text.encode()
    except UnicodeEncodeError:
        return {"hex": to_bytes(text).hex()}
    return text


def _untext(text: str | dict[str, str]) -> str:
    return text if isinstance(text, str) else to_str(bytes.fromhex(text["hex"]))
