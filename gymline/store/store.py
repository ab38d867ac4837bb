"""The store itself: digests, verification, trees and checkouts over a back end that moves bytes."""

# The names in a tree are bytes, and pathlib has none.
# ruff: noqa: PTH103, PTH118, PTH120, PTH123, PTH211

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from gymline.errors import ArtifactDamaged, ArtifactMissing, StoreError
from gymline.store.canonical import canonical_json, digest_bytes
from gymline.store.local import LocalBackend
from gymline.store.remote import RemoteBackend
from gymline.store.tree import Tree, file_chunks, file_digests, measure, parse, scan, to_bytes

if TYPE_CHECKING:
    from gymline.store import Backend, Kind

KINDS: tuple[Kind, ...] = ("objects", "trees")

_MANIFESTS_AT_ONCE = 500


class Store:
    """Artifacts by digest. Methods may be called from many threads and processes at once.

    Args:
        url: a folder, or an fsspec URL. A local folder is made when something is first put there.
        durable: sync to disk before an object becomes visible (local folders only).

    Digests are lowercase hex sha256. Everything raises ``StoreError`` when the back end fails; reads raise
    ``ArtifactMissing``, or ``ArtifactDamaged`` after moving the object to quarantine.
    """

    def __init__(self, url: str | Path, *, durable: bool = True) -> None:
        self.url = str(url)
        self._backend: Backend
        with self._failures("open"):
            if isinstance(url, Path) or "://" not in url or url.startswith("file://"):
                self._backend = LocalBackend(Path(self.url.removeprefix("file://")).absolute(), durable=durable)
            else:
                try:
                    self._backend = RemoteBackend(url)
                except (ImportError, ValueError) as error:
                    raise StoreError(
                        f"store {self.url}",
                        f"no such kind of URL can be opened: {error}",
                        "Give a folder, or a URL whose fsspec package is installed",
                    ) from error

    def put_bytes(self, data: bytes) -> str:
        """Stores a blob; returns its digest. Cheap when it is there already."""
        return self._put("objects", data)

    def put_json(self, value: object) -> str:
        """Stores a value's canonical JSON; returns its digest. Raises ``StoreError`` for what is no JSON."""
        return self.put_bytes(canonical_json(value))

    def put_file(self, path: Path) -> str:
        """Stores a regular file as a blob without holding it in memory; returns its digest."""
        return self._put_path(os.fsencode(path))

    def put_tree(self, folder: Path) -> str:
        """Stores a folder; returns the digest of its manifest.

        Raises ``StoreError`` for devices, pipes, sockets, and symlinks that are absolute or lead out of it.
        """
        with self._failures(f"put the folder {folder.name!r}"):
            return self._put("trees", scan(folder, self._put_path).manifest())

    def get_bytes(self, digest: str) -> bytes:
        """The verified bytes of a blob, or of a tree's manifest."""
        with self._failures("read"):
            for kind in KINDS:
                with suppress(FileNotFoundError):
                    return self._verified(kind, digest, self._backend.read(kind, _checked(digest)))
        raise _missing(digest)

    def get_json(self, digest: str) -> Any:
        """The JSON value of a verified blob."""
        try:
            return orjson.loads(self.get_bytes(digest))
        except orjson.JSONDecodeError as error:
            raise StoreError(f"blob {digest}", f"it is no JSON: {error}", "Read it with get_bytes") from error

    def open_tree(self, digest: str) -> Tree:
        """The entries of a stored folder. The files themselves are not touched."""
        with self._failures("read"), suppress(FileNotFoundError):
            data = self._backend.read("trees", _checked(digest))
            return parse(self._verified("trees", digest, data), digest)
        raise _missing(digest)

    def checkout(self, digest: str, target: Path) -> None:
        """Lays a stored folder out as the new folder ``target``: all of it, verified, or nothing.

        The files are copies: writing to them does not reach the store.
        """
        tree = self.open_tree(digest)
        if os.path.lexists(target):
            raise StoreError(repr(str(target)), "a checkout makes a new folder, and it exists", "Remove it first")
        with self._failures(f"check out to {target.name!r}"):
            target.parent.mkdir(parents=True, exist_ok=True)
            partial = Path(tempfile.mkdtemp(prefix=".checkout-", dir=target.parent))
            try:
                self._lay_out(tree, partial)
                partial.chmod(0o755)
                partial.rename(target)
            except BaseException:
                shutil.rmtree(partial, ignore_errors=True)
                raise

    def has(self, digest: str) -> bool:
        """Whether the object is there. For a tree this says nothing of its files: ask ``missing``."""
        with self._failures("look up"):
            return any(self._backend.size(kind, _checked(digest)) is not None for kind in KINDS)

    def digests(self) -> set[str]:
        """Every blob and tree that is there."""
        with self._failures("list"):
            return self._backend.names("objects") | self._backend.names("trees")

    def missing(self, contents: Iterable[str]) -> set[str]:
        """Those of ``contents`` that are absent, or a tree one of whose files is absent.

        One listing and the manifests are read, no blob. A damaged manifest is quarantined and missing.
        """
        wanted = {_checked(digest) for digest in contents}
        with self._failures("list"):
            blobs, trees = self._backend.names("objects"), self._backend.names("trees")
        absent = wanted - blobs - trees
        for some in _batches(sorted(wanted & trees)):
            with self._failures("read"):
                manifests = self._backend.read_many("trees", some)
            absent.update(digest for digest in some if not self._is_whole(digest, manifests.get(digest), blobs))
        return absent

    def _is_whole(self, digest: str, manifest: bytes | None, blobs: Set[str]) -> bool:
        try:
            return manifest is not None and file_digests(self._verified("trees", digest, manifest), digest) <= blobs
        except StoreError:
            return False

    def verify(self, progress: Callable[[int, int], None] | None = None) -> list[str]:
        """Re-hashes every object and moves damaged ones to quarantine; returns their digests, sorted.

        ``progress`` is called with (objects done, objects in all).
        """
        with self._failures("list"):
            work: list[tuple[Kind, str]] = [
                (kind, name) for kind in KINDS for name in sorted(self._backend.names(kind))
            ]
        damaged: set[str] = set()
        for done, (kind, digest) in enumerate(work, start=1):
            try:
                for _ in self._chunks(kind, digest):
                    pass
            except ArtifactDamaged:
                damaged.add(digest)
            except ArtifactMissing:
                pass  # removed by someone else since the listing
            if progress:
                progress(done, len(work))
        return sorted(damaged)

    def bytes_used(self) -> int:
        """Bytes of all objects, quarantine left out."""
        with self._failures("list"):
            return sum(sum(self._backend.sizes(kind).values()) for kind in KINDS)

    def _put(self, kind: Kind, data: bytes) -> str:
        digest = digest_bytes(data)
        with self._failures("put"):
            if self._backend.size(kind, digest) != len(data):
                self._backend.write(kind, digest, [data])
        return digest

    def _put_path(self, path: bytes) -> str:
        digest, size = measure(path)
        with self._failures("put"):
            if self._backend.size("objects", digest) != size:
                self._backend.write("objects", digest, _unchanged(path, digest))
        return digest

    def _lay_out(self, tree: Tree, root: Path) -> None:
        base = os.fsencode(root)
        # Links last: no file is ever written through one.
        for entry in sorted(tree.entries, key=lambda entry: entry.kind == "l"):
            path = os.path.join(base, to_bytes(entry.path))
            os.makedirs(path if entry.kind == "d" else os.path.dirname(path), exist_ok=True)
            if entry.kind == "l":
                os.symlink(to_bytes(entry.value), path)
            elif entry.kind != "d":
                mode = 0o755 if entry.kind == "x" else 0o644
                with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
                    for chunk in self._chunks("objects", entry.value):
                        file.write(chunk)
                    os.fchmod(file.fileno(), mode)

    def _chunks(self, kind: Kind, digest: str) -> Iterator[bytes]:
        """An object in pieces; raises at its end when they were not the ones its digest names."""
        actual = hashlib.sha256()
        with self._failures("read"):
            try:
                for chunk in self._backend.chunks(kind, _checked(digest)):
                    actual.update(chunk)
                    yield chunk
            except FileNotFoundError:
                raise _missing(digest) from None
        if actual.hexdigest() != digest:
            raise self._damaged(kind, digest)

    def _verified(self, kind: Kind, digest: str, data: bytes) -> bytes:
        if digest_bytes(data) != digest:
            raise self._damaged(kind, digest)
        return data

    def _damaged(self, kind: Kind, digest: str) -> ArtifactDamaged:
        with self._failures("quarantine"):
            self._backend.quarantine(kind, digest)
        return ArtifactDamaged(
            f"artifact {digest}",
            "its bytes do not have its digest; it was moved to quarantine/",
            "Materialize again: the next plan counts it as missing",
        )

    @contextmanager
    def _failures(self, action: str) -> Generator[None]:
        """Turns what the system raises into ``StoreError``."""
        try:
            yield
        except OSError as error:
            raise StoreError(f"store {self.url}", f"{action} failed: {error}", "Check disk and rights") from error


def _unchanged(path: bytes, digest: str) -> Iterator[bytes]:
    """The file's pieces; raises at their end when they are not those that were hashed before."""
    actual = hashlib.sha256()
    for chunk in file_chunks(path):
        actual.update(chunk)
        yield chunk
    if actual.hexdigest() != digest:
        raise StoreError(repr(os.fsdecode(path)), "it changed while it was stored", "Store finished files only")


def _checked(digest: str) -> str:
    if not re.fullmatch("[0-9a-f]{64}", digest):
        raise StoreError(f"digest {digest!r}", "it is no lowercase hex sha256", "Pass what a put returned")
    return digest


def _missing(digest: str) -> ArtifactMissing:
    return ArtifactMissing(f"artifact {digest}", "it is not in the store", "Materialize the asset that makes it")


def _batches(digests: Sequence[str]) -> Iterator[Sequence[str]]:
    """A corpus has more manifests than should be in memory at once."""
    for start in range(0, len(digests), _MANIFESTS_AT_ONCE):
        yield digests[start : start + _MANIFESTS_AT_ONCE]
