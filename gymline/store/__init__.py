"""Content-addressed artifacts: the same content is stored once, under its sha256, whoever built it.

Two kinds of object, each listed by one scan: ``objects/ab/abcd…`` holds blobs (files, JSON values) and
``trees/ab/abcd…`` the manifests of folders (``tree.py``), so that which digests are folders is known without
reading any blob. A blob is written before the manifest naming it, and each object appears by one atomic step.

``Store`` (``store.py``) owns meaning: digests, verification of every read, trees, checkouts. A ``Backend``
only moves bytes: ``local.py`` for a folder (and ``file://``), ``remote.py`` for every other fsspec URL. An
object whose bytes do not have its digest is moved to ``quarantine/`` when it is met: the next plan sees it
missing and rebuilds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, Protocol

from gymline.store.canonical import canonical_json, digest_bytes, digest_json
from gymline.store.store import Store
from gymline.store.tree import Entry, Tree, digest_tree, remove_tree, safe_link

__all__ = [
    "Backend",
    "Entry",
    "Kind",
    "Store",
    "Tree",
    "canonical_json",
    "digest_bytes",
    "digest_json",
    "digest_tree",
    "remove_tree",
    "safe_link",
]

Kind = Literal["objects", "trees"]


class Backend(Protocol):
    """Moves bytes by kind and digest. Raises ``OSError``; an absent object is ``FileNotFoundError``."""

    def read(self, kind: Kind, digest: str) -> bytes:
        """The whole object, not verified."""
        ...

    def read_many(self, kind: Kind, digests: Iterable[str]) -> dict[str, bytes]:
        """The objects that are there, in as few round trips as the back end can."""
        ...

    def chunks(self, kind: Kind, digest: str) -> Iterator[bytes]:
        """The object in pieces that fit in memory, not verified."""
        ...

    def size(self, kind: Kind, digest: str) -> int | None:
        """Bytes, or None where there is no such object."""
        ...

    def write(self, kind: Kind, digest: str, chunks: Iterable[bytes]) -> None:
        """Makes the object visible at once and whole when ``chunks`` ends; not at all when it raises."""
        ...

    def sizes(self, kind: Kind) -> dict[str, int]:
        """Bytes of every object of the kind."""
        ...

    def names(self, kind: Kind) -> set[str]:
        """Digests of every object of the kind, by one listing."""
        ...

    def quarantine(self, kind: Kind, digest: str) -> None:
        """Moves an object out of sight, to ``quarantine/``."""
        ...
