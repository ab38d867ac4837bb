"""What the program was seen to do, as the worker reports it."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Ending = Literal["exited", "timeout", "output", "unstartable", "spoiled"]
"""``spoiled``: twice, the second time alone in a sandbox of its own, the program took the worker down with
it."""


@dataclass(frozen=True)
class Content:
    """Bytes by digest. ``preview`` is for reports (2,000 bytes); ``content`` is there when it was
    recorded."""

    sha256: str
    size: int
    preview: str = ""
    content: bytes | None = None


EMPTY = Content("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 0, "", b"")


@dataclass(frozen=True)
class LeftFile:
    """A regular file that is new or changed after the program ended."""

    path: str
    content: Content


@dataclass(frozen=True)
class Observation:
    """One invocation's outcome. ``status`` is 0..255 (128 + signal when killed), None when nothing ran to an
    end."""

    id: str
    ending: Ending
    status: int | None
    seconds: float = 0.0
    stdout: Content = EMPTY
    stderr: Content = EMPTY
    files: tuple[LeftFile, ...] = ()
    removed: tuple[str, ...] = ()
    """Laid files that are gone."""
    files_complete: bool = True
    """Whether ``files`` is everything: False beyond the caps on number, bytes and depth."""
    detail: str = ""

    @property
    def recorded(self) -> Mapping[str, bytes]:
        """Digest to bytes of stdout and of every left file, when the observation was recorded."""
        contents = (self.stdout, *(file.content for file in self.files))
        return {one.sha256: one.content for one in contents if one.content is not None}


def from_worker(record: Mapping[str, Any]) -> Observation:
    """The observation in an authenticated result line."""
    return Observation(
        id=record["id"],
        ending=record["ending"],
        status=record["status"],
        seconds=record["seconds"],
        stdout=_content(record.get("stdout")),
        stderr=_content(record.get("stderr")),
        files=tuple(LeftFile(file["path"], _content(file)) for file in record["files"]),
        removed=tuple(record.get("removed", ())),
        files_complete=record.get("files_complete", True),
        detail=record.get("detail", ""),
    )


def _content(about: Mapping[str, Any] | None) -> Content:
    if about is None:
        return EMPTY
    packed = about.get("content")
    content = zlib.decompress(base64.b64decode(packed)) if packed is not None else None
    return Content(about["sha256"], about["size"], about.get("preview", ""), content)
