"""Taking a commit's files out, byte for byte: no checkout, so no filter, no line-ending change, no hook."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gymline.crawl import git
from gymline.crawl.contents import SUBMODULE, SYMLINK, contents_of
from gymline.crawl.mirror import Mirror
from gymline.crawl.settings import CrawlSettings
from gymline.errors import SourceError
from gymline.lineage.produced import Produced, refused
from gymline.store import safe_link
from gymline.store.tree import to_str

# Paths are bytes here, and pathlib has none.
# ruff: noqa: PTH103, PTH118, PTH120, PTH123, PTH211


def export_source(
    lock: Mapping[str, Any], name: str, mirror: Mirror, out: Path, settings: CrawlSettings | None = None
) -> Produced:
    """Writes the files of the locked tree, submodules included, into ``out`` (new or empty); content is ``out``.

    Symlinks that could lead out of it are left out and listed in the metadata. Refused where the mirror no longer has
    what was locked. Raises ``SourceError`` when a blob is damaged, or ``out`` is not empty.
    """
    contents = contents_of(mirror, name, str(lock["tree"]), settings or CrawlSettings())
    if contents.problem:
        return refused(contents.problem)
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        raise SourceError(f"folder {str(out)!r}", "it is not empty", "Give a new folder for the source")
    base = os.fsencode(out)
    links: list[tuple[bytes, bytes]] = []
    written = size = 0
    for part in contents.parts:
        files = [file for file in part.files if file.mode != SUBMODULE]
        for file, blob in zip(files, git.read_blobs(part.repository, [f.object_id for f in files]), strict=True):
            path = part.path(file)
            if file.mode == SYMLINK:
                links.append((path, b"".join(blob)))
                continue
            target = os.path.join(base, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            mode = 0o755 if file.mode == "100755" else 0o644
            with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
                for piece in blob:
                    stream.write(piece)
                    size += len(piece)
                os.fchmod(stream.fileno(), mode)
            written += 1
    # Last, so that no file is ever written through one.
    left_out: list[str] = []
    for path, link in links:
        if not safe_link(to_str(path), to_str(link)) or b"\0" in link or len(link) > 4095:
            left_out.append(path.decode("utf-8", "backslashreplace"))
            continue
        target = os.path.join(base, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.symlink(link, target)
    metadata = {"files": written, "symlinks": len(links) - len(left_out), "left_out": left_out, "bytes": size}
    return Produced(out, metadata=metadata)
