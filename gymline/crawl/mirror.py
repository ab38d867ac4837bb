"""A local mirror: a folder of bare git repositories that the crawl observes instead of a host's API.

``owner/name.git`` beside ``mirror.json``, which says where each came from, the commit it is pinned to and the licence
someone stated. Changes are made under one lock, into a hidden temporary folder that is then renamed; the file is
replaced last when adding and first when removing, so that what it names is always whole.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import orjson

from gymline.crawl import git, origin
from gymline.crawl.languages import main_language
from gymline.crawl.licences import recognise_licence
from gymline.errors import SourceError

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*/(?!\.{1,2}$)[A-Za-z0-9._-]+")
_LISTED = 100_000


@dataclass(frozen=True)
class MirrorEntry:
    """One repository of the mirror. ``origin`` is a URL or path (relative ones lie inside the mirror); ``commit`` the
    pin, if any; ``licence`` an SPDX id someone stated."""

    name: str
    origin: str
    commit: str | None
    licence: str | None


@dataclass(frozen=True)
class Head:
    """What a repository would be locked to. ``branch`` is None when HEAD is detached; ``problem`` says why there is
    no commit. ``origin_problem`` says why a refresh could not read the origin: it names paths, so it is no content."""

    commit: str | None
    branch: str | None
    problem: str = ""
    origin_problem: str = ""


class Mirror:
    """The mirror in ``folder``, made when something is first added. Raises ``SourceError`` for names it lacks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self._known: tuple[object, dict[str, MirrorEntry]] = (None, {})

    def add(
        self, source: str, name: str | None = None, commit: str | None = None, licence: str | None = None
    ) -> MirrorEntry:
        """Clones ``source`` (a path or URL) as ``owner/name``, pinned to ``commit`` if given.

        Raises ``SourceError``: neither a path nor a URL, no git repository, no commits, unknown commit, a name that
        is taken or cannot be a key.
        """
        source = source.removeprefix("file://")
        remote = origin.is_url(source)
        path = Path(source).expanduser().resolve()
        if not remote:
            origin.require_repository(path)
        name = _valid_name(name or (origin.name_from(source) if remote else _name_of(path)))
        with self._locked(), tempfile.TemporaryDirectory(prefix=".tmp-", dir=self.folder) as temporary:
            if name in self._read():
                raise SourceError(f"repository {name!r}", "the mirror has one of that name", "Choose another --name")
            clone = Path(temporary) / "clone"
            git.initialise(clone, "sha1" if remote else origin.object_format(path))
            if remote:
                origin.copy_url(source, clone, commit)
            else:
                origin.copy_local(path, clone)
            stated = source if remote else str(path)
            if path.is_relative_to(self.folder):
                stated = str(path.relative_to(self.folder))
            entry = MirrorEntry(name, stated, commit and _resolved(clone, commit), licence)
            target = self.repository(name)
            shutil.rmtree(target, ignore_errors=True)  # left by an add that was killed before it was recorded
            target.parent.mkdir(exist_ok=True)
            clone.rename(target)
            self._write(self._read() | {name: entry})
        return entry

    def remove(self, name: str) -> None:
        """Forgets a repository and deletes its clone."""
        with self._locked():
            self.entry(name)
            self._write({key: entry for key, entry in self._read().items() if key != name})
            shutil.rmtree(self.repository(name), ignore_errors=True)

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self._read())

    def entry(self, name: str) -> MirrorEntry:
        """What is recorded of one repository."""
        try:
            return self._read()[name]
        except KeyError:
            known = "Add it with: gymline repo add PATH|URL --name owner/name"
            raise SourceError(f"repository {name!r}", "the mirror has none of that name", known) from None

    def repository(self, name: str) -> Path:
        """The folder of the bare clone."""
        return self.folder / f"{name}.git"

    def refresh(self, name: str, *, network: bool = False) -> Head:
        """Follows an unpinned origin that is still there (over the network only if asked) and returns the head.

        An origin that is gone or broken leaves the clone as it is; ``origin_problem`` then says so.
        """
        entry = self.entry(name)
        path = self.folder / entry.origin
        remote = origin.is_url(entry.origin)
        try:
            if entry.commit is None and remote and network:
                with self._locked():
                    origin.copy_url(entry.origin, self.repository(name), None)
            elif entry.commit is None and not remote and path.exists():
                origin.require_repository(path)
                with self._locked():
                    origin.copy_local(path, self.repository(name))
        except (SourceError, OSError) as error:
            return replace(self.head(name), origin_problem=str(error))
        return self.head(name)

    def head(self, name: str) -> Head:
        """The pinned commit, or the tip of the default branch."""
        repository, pinned = self.repository(name), self.entry(name).commit
        branch = git.ask(repository, "symbolic-ref", "-q", "HEAD")
        branch = branch and branch.removeprefix("refs/heads/")
        commit = pinned or git.ask(repository, "rev-parse", "--verify", "-q", "HEAD")
        if commit is None:
            return Head(None, branch, "it has no commits")
        if not git.has_commit(repository, commit):
            return Head(None, branch, f"the commit {commit} is missing")
        return Head(commit, branch)

    def metadata(self, name: str) -> dict[str, Any]:
        """Identity: name, default branch, main language and licence (each None where not known)."""
        head, repository = self.head(name), self.repository(name)
        files = git.list_files(repository, head.commit, _LISTED).files if head.commit else ()
        return {
            "name": name,
            "default_branch": head.branch,
            "language": main_language(files),
            "licence": self.entry(name).licence or recognise_licence(repository, files),
        }

    def holder(self, name: str, url: str, commit: str) -> Path | None:
        """The clone that holds a submodule's commit: the repository's own, or the entry that ``url`` names."""
        wanted = origin.name_from(url)
        if "/" not in wanted:
            wanted = f"{name.split('/')[0]}/{wanted}"
        entries = self._read().values()
        others = [e.name for e in entries if e.name == wanted or e.origin == url.removeprefix("file://")]
        candidates = (self.repository(candidate) for candidate in [name, *sorted(others)])
        return next((path for path in candidates if git.has_commit(path, commit)), None)

    def _read(self) -> dict[str, MirrorEntry]:
        """The entries; parsed again only when the file was replaced."""
        path = self.folder / "mirror.json"
        try:
            now = path.stat()
            stamp = (now.st_ino, now.st_mtime_ns, now.st_size)
            if self._known[0] != stamp:
                recorded = cast("dict[str, dict[str, Any]]", orjson.loads(path.read_bytes())["repositories"])
                entries = {
                    name: MirrorEntry(_valid_name(name), r["origin"], r.get("commit"), r.get("licence"))
                    for name, r in recorded.items()
                }
                self._known = (stamp, entries)
            return self._known[1]
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise _unusable(self.folder, error) from error
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            fix = 'It reads {"repositories": {"owner/name": {"origin": …, "commit": …, "licence": …}}}'
            raise SourceError(f"mirror {str(path)!r}", f"it cannot be read: {error!r}", fix) from error

    def _write(self, entries: dict[str, MirrorEntry]) -> None:
        recorded = {
            entry.name: {"origin": entry.origin, "commit": entry.commit, "licence": entry.licence}
            for entry in entries.values()
        }
        options = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2
        partial = self.folder / ".mirror.json"
        with partial.open("wb") as file:
            file.write(orjson.dumps({"repositories": recorded}, option=options) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        partial.rename(self.folder / "mirror.json")

    @contextmanager
    def _locked(self) -> Generator[None]:
        """For changes. What the system refuses (a full disk, rights) is a ``SourceError`` about the mirror."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                for leftover in self.folder.glob(".tmp-*"):
                    shutil.rmtree(leftover, ignore_errors=True)
                yield
            finally:
                os.close(descriptor)
        except OSError as error:
            raise _unusable(self.folder, error) from error


def _unusable(folder: Path, error: OSError) -> SourceError:
    return SourceError(f"mirror {str(folder)!r}", f"it cannot be used: {error}", "Check its disk and rights")


def _name_of(path: Path) -> str:
    """From the URL a clone came from, else from its folders."""
    remote = origin.remote_of(path)
    named = origin.name_from(remote) if remote else ""
    return named if _NAME.fullmatch(named) else origin.name_from(str(path))


def _valid_name(name: str) -> str:
    name = name.removesuffix(".git")
    if not _NAME.fullmatch(name):
        rule = "a repository is called owner/name, with letters, digits, '-', '_' and '.' only"
        raise SourceError(f"name {name!r}", rule, "Give one with --name owner/name")
    return name


def _resolved(repository: Path, commit: str) -> str:
    found = None
    if re.fullmatch("[0-9a-f]{7,64}", commit):
        found = git.ask(repository, "rev-parse", "--verify", "-q", f"{commit}^{{commit}}")
    if found is None:
        raise SourceError(f"commit {commit!r}", "the origin has none of that id", "Give the SHA of a commit it has")
    return found
