"""The documents and sample files of a repository that a solver gets, chosen by rule and without its source
code.

Content: ``files/`` with the chosen files at their own paths and ``manifest.json`` saying why each is in, and
why each candidate that is not was rejected."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

import orjson

from gymline.errors import SourceError
from gymline.lineage.produced import Check, Produced
from gymline.programs.settings import ProgramSettings
from gymline.programs.source_code import regular_files, why_code, windows

Kind = Literal["readme", "license", "manual", "asset"]
KINDS: tuple[Kind, ...] = ("readme", "license", "manual", "asset")

_README = re.compile(r"readme([.-][\w.-]*)?", re.I)
_LICENSE = re.compile(r"(licen[cs]e|copying|copyright|notice)([.-][\w.-]*)?", re.I)
_MAN_PAGE = re.compile(r".+\.[1-8]")
_MANUAL_FOLDERS = frozenset({"doc", "docs", "man", "manual", "manpages"})
_MANUAL_SUFFIXES = frozenset({".md", ".rst", ".adoc", ".txt", ".markdown", ".org", ".mdown"})
_ASSETS = (
    "asset assets corpus data demo demos example examples fixture fixtures input inputs resources sample samples"
    " test-data test_data testdata"
)
_ASSET_FOLDERS = frozenset(_ASSETS.split())
HEAD = 512


@dataclass(frozen=True)
class _Candidate:
    path: str
    file: Path
    kind: Kind
    why: str


def docs_bundle(source: Path, out: Path, settings: ProgramSettings) -> Produced:
    """Chooses and copies. ``source`` is a tree without history, ``out`` a new folder.

    Built even when there is little: a missing LICENSE is no fault here. The blocking check ``no_source_code``
    reads the result again. Raises ``SourceError`` where ``source`` is no folder.
    """
    if not source.is_dir():
        raise SourceError(f"source tree {source.name!r}", "is no folder", "Build source_tree first")
    files = out / "files"
    files.mkdir(parents=True)
    candidates = sorted(_candidates(source), key=lambda one: (KINDS.index(one.kind), one.path))
    quoted, code = _quoted_lines(source, candidates, settings), _code_digests(source)
    chosen: list[dict[str, str | int]] = []
    rejected: list[dict[str, str]] = []
    total = assets = 0
    for candidate in candidates:
        size = candidate.file.stat().st_size
        why_not = _why_not(candidate, size, quoted, code, settings)
        if not why_not and total + size > settings.docs_bytes:
            why_not = "the bundle is full"
        if not why_not and candidate.kind == "asset" and assets >= settings.docs_files:
            why_not = "enough sample files"
        if why_not:
            shown = candidate.path.encode("utf-8", "backslashreplace").decode()
            rejected.append({"path": shown, "why": why_not})
            continue
        total += size
        assets += candidate.kind == "asset"
        target = files / candidate.path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(candidate.file, target)
        chosen.append(
            {
                "path": candidate.path,
                "sha256": _sha256(target),
                "size": size,
                "kind": candidate.kind,
                "why": candidate.why,
            }
        )
    manifest = {"files": chosen, "rejected": sorted(rejected, key=lambda one: one["path"])}
    (out / "manifest.json").write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2) + b"\n")
    kinds = Counter(str(one["kind"]) for one in chosen)
    return Produced(
        content=out,
        checks=(_no_source_code(files, code),),
        metadata={
            "files": len(chosen),
            "bytes": total,
            "by_kind": {kind: kinds[kind] for kind in KINDS},
            "rejected": dict(sorted(Counter(one["why"] for one in rejected).items())),
        },
    )


def no_source_code(source: Path, files: Path) -> Check:
    """Whether no file of ``files`` is source code, by name or head, or has the bytes of a code file in
    ``source``."""
    return _no_source_code(files, _code_digests(source))


def _code_digests(source: Path) -> set[str]:
    return {
        _sha256(file) for path, file in regular_files(source) if why_code(path, _head(file)) and file.stat().st_size
    }


def _no_source_code(files: Path, code: set[str]) -> Check:
    found = [path for path, file in regular_files(files) if why_code(path, _head(file)) or _sha256(file) in code]
    said = f"source code in the bundle: {', '.join(found[:10])}" if found else "no source code in the bundle"
    return Check("no_source_code", not found, said, metadata={"code_files_compared": len(code)})


def _candidates(source: Path) -> list[_Candidate]:
    found: list[_Candidate] = []
    for path, file in regular_files(source):
        pure = PurePosixPath(path)
        folders = {part.lower() for part in pure.parts[:-1]}
        if len(pure.parts) == 1 and _README.fullmatch(pure.name):
            found.append(_Candidate(path, file, "readme", "README at the top"))
        elif len(pure.parts) == 1 and _LICENSE.fullmatch(pure.name):
            found.append(_Candidate(path, file, "license", "licence at the top"))
        elif _MAN_PAGE.fullmatch(pure.name) and re.search(rb"^\.(TH|Dd)\b", _head(file, 8192), re.M):
            found.append(_Candidate(path, file, "manual", "man page"))
        elif folders & _MANUAL_FOLDERS and pure.suffix.lower() in _MANUAL_SUFFIXES:
            found.append(_Candidate(path, file, "manual", "document in a documentation folder"))
        elif folders & _ASSET_FOLDERS:
            found.append(_Candidate(path, file, "asset", "sample file"))
    return found


def _why_not(candidate: _Candidate, size: int, quoted: set[int], code: set[str], settings: ProgramSettings) -> str:
    if not candidate.path.isprintable():
        return "its name cannot be printed"
    if any(part.startswith(".") for part in PurePosixPath(candidate.path).parts):
        return "hidden file"
    if size == 0 and candidate.kind != "asset":
        return "empty"
    if size > settings.docs_file_bytes:
        return "too large"
    why = why_code(candidate.path, _head(candidate.file))
    if why:
        return why
    if _sha256(candidate.file) in code:
        return "has the bytes of a source file"
    if _may_not_quote(candidate, size, settings) and not quoted.isdisjoint(windows(candidate.file)):
        return "quotes five lines of source code"
    return ""


def _may_not_quote(candidate: _Candidate, size: int, settings: ProgramSettings) -> bool:
    """A licence is quoted in every source file, and a README's examples may be the repository's own."""
    return candidate.kind in ("manual", "asset") and size <= settings.docs_file_bytes


def _quoted_lines(source: Path, candidates: list[_Candidate], settings: ProgramSettings) -> set[int]:
    """Hashes of those five-line runs of the candidates that the code outside documentation and sample folders has.

    Not all runs of the code: there may be gigabytes of it.
    """
    said: set[int] = set()
    for candidate in candidates:
        if _may_not_quote(candidate, candidate.file.stat().st_size, settings):
            said.update(windows(candidate.file))
    found: set[int] = set()
    for path, file in regular_files(source):
        folders = {part.lower() for part in PurePosixPath(path).parts[:-1]}
        if why_code(path, _head(file)) and not folders & (_ASSET_FOLDERS | _MANUAL_FOLDERS):
            found.update(said.intersection(windows(file)))
    return found


def _head(file: Path, size: int = HEAD) -> bytes:
    with file.open("rb") as opened:
        return opened.read(size)


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
