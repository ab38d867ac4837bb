"""All files of a commit with its submodules, and the reason where they cannot all be had.

A tree is a claim made by strangers: paths that climb out or into ``.git``, entries twice, objects that are not
there, trees that unfold into billions of files. Each is found here, before anything is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from gymline.crawl import git
from gymline.crawl.git import TreeFile
from gymline.crawl.mirror import Mirror
from gymline.crawl.settings import CrawlSettings

SUBMODULE = "160000"
SYMLINK = "120000"
_NESTED = 5
_LONGEST_PATH, _DEEPEST_PATH = 3000, 100
"""Bytes and folders of a path; what copies a tree later adds a folder of its own in front, and recurses."""
_LONGEST_SHOWN = 300


@dataclass(frozen=True)
class Part:
    """The files one repository gives: the commit's own (``prefix`` empty), or a submodule's below ``prefix``."""

    repository: Path
    prefix: bytes
    files: tuple[TreeFile, ...]

    def path(self, file: TreeFile) -> bytes:
        """The file's path in the whole."""
        return self.prefix + file.path


@dataclass(frozen=True)
class Contents:
    """``problem`` is empty when everything is there; it reads the same whenever the commit and the mirror do."""

    parts: tuple[Part, ...]
    problem: str = ""


def contents_of(mirror: Mirror, name: str, tree: str, settings: CrawlSettings) -> Contents:
    """Everything a tree of the repository reaches, submodules included."""
    parts: list[Part] = []
    for found in _parts(mirror, name, mirror.repository(name), tree, b"", settings, 0):
        if isinstance(found, str):
            return Contents((), found)
        parts.append(found)
        if sum(len(part.files) for part in parts) > settings.max_files:
            return Contents((), f"it has more than {settings.max_files} files")
        if sum(file.size for part in parts for file in part.files) > settings.max_bytes:
            return Contents((), f"it is larger than {settings.max_bytes} bytes")
    return Contents(tuple(parts))


def _parts(
    mirror: Mirror, name: str, repository: Path, tree: str, prefix: bytes, settings: CrawlSettings, depth: int
) -> Iterator[Part | str]:
    where = f" of submodule {_shown(prefix[:-1])}" if prefix else ""
    missing = git.missing_objects(repository, tree)
    if missing is None:
        yield f"damaged clone: the tree {tree}{where} cannot be read"
        return
    if missing:
        yield f"incomplete clone: of its objects{where} {len(missing)} cannot be found, first {missing[0]}"
        return
    listing = git.list_files(repository, tree, settings.max_files + 1)
    if not listing.complete and len(listing.files) <= settings.max_files:
        yield f"damaged clone: the tree {tree}{where} cannot be listed"
        return
    if bad := _bad_path(prefix, listing.files):
        yield f"the path {_shown(bad)}{where} is not allowed"
        return
    yield Part(repository, prefix, listing.files)
    links = [file for file in listing.files if file.mode == SUBMODULE]
    urls = _submodule_urls(repository, listing.files) if links else {}
    for link in links:
        path = prefix + link.path
        stated = f"submodule {_shown(path)} at {link.object_id}"
        holder = mirror.holder(name, urls.get(link.path, ""), link.object_id)
        if depth == _NESTED:
            yield f"{stated} lies more than {_NESTED} submodules deep"
        elif holder is None:
            yield f"{stated} is missing: neither the clone nor another repository of the mirror has it"
        else:
            subtree = git.root_tree(holder, link.object_id)
            yield from _parts(mirror, name, holder, subtree, path + b"/", settings, depth + 1)


def _bad_path(prefix: bytes, files: tuple[TreeFile, ...]) -> bytes | None:
    """The first path that a checkout could be led astray by."""
    kept = {file.path for file in files}
    if len(kept) != len(files):
        return next(a.path for a, b in pairwise(files) if a.path == b.path)
    for path in (file.path for file in files):
        parts = path.split(b"/")
        if any(part in (b"", b".", b"..") or part.lower() == b".git" or len(part) > 255 for part in parts):
            return path
        whole = prefix + path
        if len(whole) > _LONGEST_PATH or whole.count(b"/") > _DEEPEST_PATH:
            return path
        if any(b"/".join(parts[:i]) in kept for i in range(1, len(parts))):
            return path
    return None


def _submodule_urls(repository: Path, files: tuple[TreeFile, ...]) -> dict[bytes, str]:
    """Path to URL, as ``.gitmodules`` has them."""
    listed = [file for file in files if file.path == b".gitmodules" and file.mode.startswith("100")]
    if not listed or listed[0].size > git.CHUNK:
        return {}
    text = git.read_blob(repository, listed[0].object_id)
    settings: dict[str, dict[str, str]] = {}
    for line in (git.ask(repository, "config", "--no-includes", "-f", "-", "--list", stdin=text) or "").splitlines():
        if match := re.fullmatch(r"submodule\.(.*)\.(path|url)=(.*)", line):
            settings.setdefault(match[1], {})[match[2]] = match[3]
    return {s["path"].encode(): s["url"] for s in settings.values() if "path" in s and "url" in s}


def _shown(path: bytes) -> str:
    return repr(path.decode("utf-8", "backslashreplace")[:_LONGEST_SHOWN])
