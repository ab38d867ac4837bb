"""Observation, validation, commit lock and markers: what is decided before any file is taken out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymline.crawl import git
from gymline.crawl.contents import Contents, contents_of
from gymline.crawl.languages import is_vendored
from gymline.crawl.mirror import Mirror
from gymline.crawl.settings import CrawlSettings
from gymline.lineage.produced import Produced, refused

_LFS = b"version https://git-lfs.github.com/spec/v1\n"


def validate_repository(metadata: Mapping[str, Any], settings: CrawlSettings) -> Produced:
    """The identity (``Mirror.metadata``) as content, or why the repository is none of ours."""
    language, licence = metadata["language"], metadata["licence"]
    if language is None:
        return refused("no programming language is recognised in it")
    if language not in settings.languages:
        return refused(f"its main language is {language}, not one of {', '.join(settings.languages)}")
    if licence is None and settings.require_licence:
        return refused("no licence is recognised in it and none is stated in the mirror")
    return Produced({key: metadata[key] for key in ("name", "default_branch", "language", "licence")})


def observe_metadata(name: str, mirror: Mirror, settings: CrawlSettings) -> dict[str, Any]:
    """``Mirror.metadata`` now, after following the origin if that is allowed: either source may be looked at first."""
    if settings.follow_tip:
        mirror.refresh(name)
    return mirror.metadata(name)


def observe_head(name: str, mirror: Mirror, settings: CrawlSettings) -> dict[str, Any]:
    """``{"commit", "branch", "problem"}`` of a repository now, its origin followed if it may be.

    The problem covers what the mirror lacks (objects, submodules), so that supplying it changes the observation and
    the refused lock becomes stale.
    """
    head = mirror.refresh(name) if settings.follow_tip else mirror.head(name)
    problem = head.problem
    if head.commit is not None:
        tree = git.root_tree(mirror.repository(name), head.commit)
        problem = contents_of(mirror, name, tree, settings).problem
    return {"commit": head.commit, "branch": head.branch, "problem": problem}


def lock_commit(
    identity: Mapping[str, Any], head: Mapping[str, Any], mirror: Mirror, settings: CrawlSettings
) -> Produced:
    """``{"commit", "tree"}`` of the head as it was observed (``observe_head``), or why it cannot be locked.

    Refused: no commit, missing objects or submodules, paths that are not allowed, too large.
    """
    name = str(identity["name"])
    if head["commit"] is None:
        return refused(head["problem"])
    tree = git.root_tree(mirror.repository(name), head["commit"])
    contents = contents_of(mirror, name, tree, settings)
    if contents.problem:
        return refused(contents.problem)
    metadata = {
        "branch": head["branch"] or "(detached)",
        "files": sum(len(part.files) for part in contents.parts),
        "bytes": sum(file.size for part in contents.parts for file in part.files),
        "submodules": len(contents.parts) - 1,
        "lfs_pointers": _lfs_pointers(contents),
    }
    return Produced({"commit": head["commit"], "tree": tree}, metadata=metadata)


def detect_markers(lock: Mapping[str, Any], name: str, mirror: Mirror, settings: CrawlSettings) -> Produced:
    """``{"markers": {build system: [paths]}}``, shallow paths first; refused where there is none.

    Vendored folders and submodules do not count.
    """
    files = git.list_files(mirror.repository(name), str(lock["tree"]), settings.max_files).files
    systems = {file_name: system for system, names in settings.markers.items() for file_name in names}
    found: dict[str, list[str]] = {}
    for file in files:
        try:
            path = file.path.decode()
        except UnicodeDecodeError:
            continue
        system = systems.get(path.rpartition("/")[2])
        deep = path.count("/") > settings.marker_depth or is_vendored(file.path)
        if system and not deep and file.mode.startswith("100"):
            found.setdefault(system, []).append(path)
    if not found:
        return refused("no build marker is found: it has none of " + ", ".join(sorted(systems)))
    markers = {system: sorted(found[system], key=lambda path: (path.count("/"), path)) for system in sorted(found)}
    return Produced({"markers": markers}, metadata={system: len(paths) for system, paths in markers.items()})


def _lfs_pointers(contents: Contents) -> int:
    """How many files are pointers to content that git itself does not have."""
    count = 0
    for part in contents.parts:
        attributes = [f for f in part.files if f.path.rpartition(b"/")[2] == b".gitattributes" and f.size < git.CHUNK]
        if any(b"filter=lfs" in git.read_blob(part.repository, file.object_id) for file in attributes):
            small = [f.object_id for f in part.files if f.mode.startswith("100") and len(_LFS) < f.size < 1024]
            count += sum(b"".join(blob).startswith(_LFS) for blob in git.read_blobs(part.repository, small))
    return count
