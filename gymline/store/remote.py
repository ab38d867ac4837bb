"""A store at any fsspec URL (``s3://``, ``gcs://``, ``memory://``).

Object stores show an upload only when it is complete, so there is no temporary name to rename from. On file
systems without that promise the verification of every read meets a cut upload.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import fsspec  # pyright: ignore[reportMissingTypeStubs]

from gymline.store.canonical import CHUNK

if TYPE_CHECKING:
    from gymline.store import Kind


class RemoteBackend:
    """Listings are asked of the service each time: fsspec's directory cache would hide other writers."""

    def __init__(self, url: str) -> None:
        fs, root = cast("tuple[Any, str]", fsspec.core.url_to_fs(url, use_listings_cache=False))  # pyright: ignore
        self._fs = fs
        self._root = root.rstrip("/")

    def read(self, kind: Kind, digest: str) -> bytes:
        return cast(bytes, self._fs.cat_file(self._path(kind, digest)))

    def read_many(self, kind: Kind, digests: Iterable[str]) -> dict[str, bytes]:
        paths = {self._path(kind, digest): digest for digest in digests}
        if not paths:
            return {}
        found = cast("dict[str, Any]", self._fs.cat(list(paths), on_error="return"))
        failed = [e for e in found.values() if isinstance(e, Exception) and not isinstance(e, FileNotFoundError)]
        if failed:
            raise failed[0]
        return {path.rsplit("/", 1)[-1]: data for path, data in found.items() if isinstance(data, bytes)}

    def chunks(self, kind: Kind, digest: str) -> Iterator[bytes]:
        with self._fs.open(self._path(kind, digest), "rb") as file:
            while chunk := cast(bytes, file.read(CHUNK)):
                yield chunk

    def size(self, kind: Kind, digest: str) -> int | None:
        try:
            return int(self._fs.size(self._path(kind, digest)))
        except FileNotFoundError:
            return None

    def write(self, kind: Kind, digest: str, chunks: Iterable[bytes]) -> None:
        path = self._path(kind, digest)
        self._fs.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        try:
            with self._fs.open(path, "wb") as file:
                for chunk in chunks:
                    file.write(chunk)
        except BaseException:
            with suppress(FileNotFoundError):
                self._fs.rm_file(path)
            raise

    def sizes(self, kind: Kind) -> dict[str, int]:
        found = cast("dict[str, dict[str, Any]]", self._fs.find(f"{self._root}/{kind}", detail=True))
        named = ((path.rsplit("/", 1)[-1], detail) for path, detail in found.items())
        return {name: int(detail["size"]) for name, detail in named if len(name) == 64}

    def names(self, kind: Kind) -> set[str]:
        found = cast("list[str]", self._fs.find(f"{self._root}/{kind}"))
        return {name for path in found if len(name := path.rsplit("/", 1)[-1]) == 64}

    def quarantine(self, kind: Kind, digest: str) -> None:
        self._fs.makedirs(f"{self._root}/quarantine", exist_ok=True)
        with suppress(FileNotFoundError):
            self._fs.mv(self._path(kind, digest), f"{self._root}/quarantine/{digest}")

    def _path(self, kind: Kind, digest: str) -> str:
        return f"{self._root}/{kind}/{digest[:2]}/{digest}"
