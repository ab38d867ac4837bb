"""Copying what a mirror needs out of an origin.

From a local origin the object files are copied one by one: no git program runs over the origin's objects, so its
configuration cannot start anything, and an incomplete origin gives an equally incomplete copy, to be refused later
with the reason. The objects of initialised submodules come along into the same object folder.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from gymline.crawl import git
from gymline.errors import SourceError

_URL = re.compile(r"(https?|ssh|git)://[^-\s]\S*|[A-Za-z0-9_.]+@[A-Za-z0-9_.][A-Za-z0-9_.-]*:\S+")


def is_url(origin: str) -> bool:
    """Whether an origin is reached over a network."""
    return _URL.fullmatch(origin) is not None


def name_from(location: str) -> str:
    """``owner/name`` as the end of a URL or path has it; may be no valid name."""
    parts = [part for part in re.split("[/:]", location) if part not in ("", ".", "..")]
    return "/".join(parts[-2:]).removesuffix(".git")


def require_repository(path: Path) -> None:
    """Raises ``SourceError`` where there is no folder, no git repository or no commit at ``path``."""
    subject = f"origin {str(path)!r}"
    if not path.is_dir():
        raise SourceError(subject, "it is neither a folder nor a URL", "Give the path of a clone, or its URL")
    if git.ask(path, "rev-parse", "--absolute-git-dir") is None:
        raise SourceError(subject, "it is no git repository", "Give the folder that holds .git, or a bare clone")
    if _head(path)[1] is None:
        raise SourceError(subject, "it has no commits", "Commit something first")


def remote_of(path: Path) -> str | None:
    """The URL a clone was made from."""
    return git.ask(path, "config", "--get", "remote.origin.url") or None


def object_format(path: Path) -> str:
    """``sha1`` or ``sha256``."""
    return git.ask(path, "rev-parse", "--show-object-format") or "sha1"


def copy_local(path: Path, repository: Path) -> None:
    """Brings objects and HEAD of a local origin into a bare repository; what is there already stays."""
    common = git.run(path, "rev-parse", "--path-format=absolute", "--git-common-dir").rstrip(b"\n")
    folder = Path(os.fsdecode(common))
    for source in [folder, *_submodules(folder / "modules")]:
        for objects in _object_folders(source / "objects"):
            _copy_objects(objects, repository / "objects")
    if _is_file(folder / "shallow"):
        _copy(folder / "shallow", repository / "shallow")
    branch, commit = _head(path)
    if commit is not None:
        _set_head(repository, branch, commit)


def copy_url(url: str, repository: Path, commit: str | None) -> None:
    """Fetches all branches, and ``commit`` where no branch holds it. Raises ``SourceError``."""
    listed = git.run(repository, "ls-remote", "--symref", url, "HEAD", network=True).decode("utf-8", "replace")
    target = re.search(r"^ref: (refs/heads/\S+)\tHEAD$", listed, re.MULTILINE)
    head = re.search(r"^([0-9a-f]{40,64})\tHEAD$", listed, re.MULTILINE)
    if head is None:
        raise SourceError(f"origin {url!r}", "it has no commits", "Commit something first")
    git.run(repository, "fetch", "-q", "--no-tags", url, "+refs/heads/*:refs/heads/*", network=True)
    if commit and len(commit) in (40, 64) and not git.has_commit(repository, commit):
        git.run(repository, "fetch", "-q", "--no-tags", url, commit, network=True)
    _set_head(repository, target.group(1) if target else None, head.group(1))


def _head(path: Path) -> tuple[str | None, str | None]:
    """Branch ref (None when detached) and commit id (None when unborn). Reads no object."""
    return git.ask(path, "symbolic-ref", "-q", "HEAD"), git.ask(path, "rev-parse", "--verify", "-q", "HEAD")


def _set_head(repository: Path, branch: str | None, commit: str) -> None:
    if branch is None:
        git.run(repository, "update-ref", "--no-deref", "HEAD", commit)
    else:
        git.run(repository, "update-ref", branch, commit)
        git.run(repository, "symbolic-ref", "HEAD", branch)


def _submodules(modules: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(modules):
        if "HEAD" in files and "objects" in names:
            yield Path(folder)
        names[:] = sorted(name for name in names if name not in ("objects", "refs", "logs", "hooks"))


def _object_folders(objects: Path, depth: int = 5) -> Iterator[Path]:
    """The folder and those it borrows from, as ``git clone --shared`` leaves it."""
    yield objects
    alternates = objects / "info" / "alternates"
    if depth and _is_file(alternates):
        for line in alternates.read_bytes().splitlines():
            if line and not line.startswith((b"#", b'"')):
                yield from _object_folders(objects / os.fsdecode(line), depth - 1)


def _copy_objects(source: Path, target: Path) -> None:
    """Loose objects and packs only: commit graphs and other caches could claim what the objects do not say."""
    if not source.is_dir():
        return
    for shard in sorted(source.iterdir()):
        if re.fullmatch("[0-9a-f]{2}", shard.name) and shard.is_dir():
            (target / shard.name).mkdir(parents=True, exist_ok=True)
            for item in sorted(shard.iterdir()):
                if re.fullmatch("[0-9a-f]{38}|[0-9a-f]{62}", item.name):
                    _copy(item, target / shard.name / item.name)
    packs = source / "pack"
    if packs.is_dir():
        (target / "pack").mkdir(parents=True, exist_ok=True)
        # An index makes its pack visible, so it comes after it.
        for suffix in (".pack", ".idx"):
            for item in sorted(packs.glob(f"pack-*{suffix}")):
                _copy(item, target / "pack" / item.name)


def _copy(source: Path, target: Path) -> None:
    if (target.exists() and target.name != "shallow") or not _is_file(source):
        return
    partial = target.with_name(f"tmp_{target.name}")
    shutil.copyfile(source, partial, follow_symlinks=False)
    partial.rename(target)


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
