"""From an added repository to its files: each step's outcome, and the reasons for refusals."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from git_origins import FILES, commit, git

from gymline.crawl import (
    CrawlSettings,
    Mirror,
    corpus,
    detect_markers,
    export_source,
    lock_commit,
    observe_head,
    validate_repository,
)
from gymline.errors import SourceError
from gymline.store import digest_tree

SETTINGS = CrawlSettings()


def lock(mirror: Mirror, name: str, settings: CrawlSettings = SETTINGS) -> Any:
    head = observe_head(name, mirror, settings)
    return lock_commit(mirror.metadata(name), head, mirror, settings)


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()}


def with_submodule(tmp_path: Path) -> tuple[Path, Path]:
    commit(tmp_path / "libs" / "part", {"part.c": "int part;\n"})
    commit(tmp_path / "libs" / "inner", {"inner.c": "int inner;\n"})
    git(tmp_path / "libs" / "part", "submodule", "-q", "add", str(tmp_path / "libs" / "inner"), "deep")
    commit(tmp_path / "libs" / "part", {})
    top = tmp_path / "octo" / "top"
    commit(top)
    git(top, "submodule", "-q", "add", str(tmp_path / "libs" / "part"), "lib/part")
    commit(top, {})
    return top, tmp_path / "libs" / "part"


def test_a_complete_repository_goes_all_the_way(mirror: Mirror, origin: Path, tmp_path: Path) -> None:
    (origin / "run.sh").write_text("#!/bin/sh\n")
    (origin / "run.sh").chmod(0o755)
    (origin / "link").symlink_to("tool.c")
    head = commit(origin, {})
    mirror.add(str(origin))
    identity = validate_repository(mirror.metadata("octo/tool"), SETTINGS)
    assert identity.content == {"name": "octo/tool", "default_branch": "main", "language": "C", "licence": "MIT"}
    locked = lock_commit(identity.content, observe_head("octo/tool", mirror, SETTINGS), mirror, SETTINGS)
    assert locked.content == {"commit": head, "tree": git(origin, "rev-parse", "HEAD^{tree}")}
    assert detect_markers(locked.content, "octo/tool", mirror, SETTINGS).content == {"markers": {"make": ["Makefile"]}}
    exported = export_source(locked.content, "octo/tool", mirror, tmp_path / "out")
    assert exported.outcome == "built" and exported.content == tmp_path / "out"
    shutil.rmtree(origin / ".git")
    assert digest_tree(tmp_path / "out") == digest_tree(origin)


@pytest.mark.parametrize(
    ("language", "licence", "reason"),
    [
        (None, "MIT", "no programming language"),
        ("Python", "MIT", "its main language is Python, not one of C, C++, Go, Rust"),
        ("C", None, "no licence"),
    ],
)
def test_a_repository_that_is_none_of_ours_is_an_outcome(language: str, licence: str, reason: str) -> None:
    metadata = {"name": "a/b", "default_branch": "main", "language": language, "licence": licence}
    produced = validate_repository(metadata, SETTINGS)
    assert produced.outcome == "refused" and produced.content == {"refused": produced.reason}
    assert reason in produced.reason


def test_without_the_requirement_a_licence_may_be_unknown() -> None:
    metadata = {"name": "a/b", "default_branch": "main", "language": "C", "licence": None}
    assert validate_repository(metadata, CrawlSettings(require_licence=False)).outcome == "built"


def test_an_incomplete_clone_is_refused_for_its_missing_objects(mirror: Mirror, origin: Path) -> None:
    lost = git(origin, "rev-parse", "HEAD:tool.c")
    (origin / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    mirror.add(str(origin))
    produced = lock(mirror, "octo/tool")
    assert produced.outcome == "refused" and lost in produced.reason and "incomplete clone" in produced.reason


def test_a_clone_that_lost_its_root_tree_is_refused(mirror: Mirror, origin: Path) -> None:
    lost = git(origin, "rev-parse", "HEAD^{tree}")
    mirror.add(str(origin))
    path = mirror.repository("octo/tool") / "objects" / lost[:2] / lost[2:]
    path.unlink()
    origin.rename(origin.with_name("moved"))  # or the refresh would bring it back
    assert mirror.metadata("octo/tool")["language"] is None
    assert lost in lock(mirror, "octo/tool").reason


def test_a_blob_whose_bytes_are_not_its_own_is_not_exported(mirror: Mirror, origin: Path, tmp_path: Path) -> None:
    mirror.add(str(origin))
    locked = lock(mirror, "octo/tool").content
    objects = mirror.repository("octo/tool") / "objects"
    blob, other = git(origin, "rev-parse", "HEAD:tool.c"), git(origin, "rev-parse", "HEAD:Makefile")
    (objects / blob[:2] / blob[2:]).chmod(0o644)
    shutil.copyfile(objects / other[:2] / other[2:], objects / blob[:2] / blob[2:])
    with pytest.raises(SourceError, match=blob):
        export_source(locked, "octo/tool", mirror, tmp_path / "out")


def test_initialised_submodules_come_along_nested_ones_too(mirror: Mirror, tmp_path: Path) -> None:
    top, _ = with_submodule(tmp_path)
    git(top, "submodule", "update", "-q", "--init", "--recursive")
    mirror.add(str(top))
    locked = lock(mirror, "octo/top")
    assert locked.outcome == "built" and locked.metadata["submodules"] == 2
    export_source(locked.content, "octo/top", mirror, tmp_path / "out")
    assert files_of(tmp_path / "out") == {
        *FILES, ".gitmodules", "lib/part/.gitmodules", "lib/part/part.c", "lib/part/deep/inner.c",
    }  # fmt: skip


def test_a_missing_submodule_is_refused_until_the_mirror_has_it(mirror: Mirror, tmp_path: Path) -> None:
    top, part = with_submodule(tmp_path)
    git(tmp_path, "clone", "-q", str(top), str(tmp_path / "octo" / "clone"))
    mirror.add(str(tmp_path / "octo" / "clone"), "octo/clone")
    refusal = lock(mirror, "octo/clone")
    assert refusal.outcome == "refused" and "submodule 'lib/part'" in refusal.reason and "is missing" in refusal.reason
    mirror.add(str(part))
    observed = observe_head("octo/clone", mirror, SETTINGS)
    assert (
        "submodule 'lib/part/deep'" in observed["problem"]
        and "submodule 'lib/part/deep'" in lock(mirror, "octo/clone").reason
    )
    mirror.add(str(tmp_path / "libs" / "inner"), "other/name")
    assert lock(mirror, "octo/clone").outcome == "built"
    assert observe_head("octo/clone", mirror, SETTINGS) == observed | {"problem": ""}


def test_lfs_pointers_are_counted(mirror: Mirror, origin: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 1\n"
    commit(origin, {".gitattributes": "*.bin filter=lfs\n", "a.bin": pointer, "b.txt": "plain text " * 20})
    mirror.add(str(origin))
    assert lock(mirror, "octo/tool").metadata["lfs_pointers"] == 1


def test_a_repository_too_large_is_refused(mirror: Mirror, origin: Path) -> None:
    mirror.add(str(origin))
    assert "more than 2 files" in lock(mirror, "octo/tool", CrawlSettings(max_files=2)).reason
    assert lock(mirror, "octo/tool", CrawlSettings(max_files=3)).outcome == "built"
    assert "larger than 10 bytes" in lock(mirror, "octo/tool", CrawlSettings(max_bytes=10)).reason


def test_markers_are_sorted_by_depth_and_vendored_or_deep_ones_do_not_count(mirror: Mirror, tmp_path: Path) -> None:
    names = ["z/Makefile", "CMakeLists.txt", "src/CMakeLists.txt", "a/CMakeLists.txt", "go.mod", "Cargo.toml"]
    hidden = ["vendor/x/meson.build", "a/b/c/d/package.json", "docs/configure.txt"]
    commit(tmp_path / "o" / "many", dict.fromkeys(names + hidden, "x"))
    (tmp_path / "o" / "many" / "meson.build").symlink_to("go.mod")
    commit(tmp_path / "o" / "many", {})
    mirror.add(str(tmp_path / "o" / "many"))
    locked = lock(mirror, "o/many").content
    assert detect_markers(locked, "o/many", mirror, SETTINGS).content["markers"] == {
        "cargo": ["Cargo.toml"],
        "cmake": ["CMakeLists.txt", "a/CMakeLists.txt", "src/CMakeLists.txt"],
        "gomod": ["go.mod"],
        "make": ["z/Makefile"],
    }
    only_npm = CrawlSettings(markers={"npm": ("package.json",)})
    refusal = detect_markers(locked, "o/many", mirror, only_npm)
    assert refusal.outcome == "refused" and "package.json" in refusal.reason


def test_an_export_needs_an_empty_folder(mirror: Mirror, origin: Path, tmp_path: Path) -> None:
    mirror.add(str(origin))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("")
    with pytest.raises(SourceError, match="not empty"):
        export_source(lock(mirror, "octo/tool").content, "octo/tool", mirror, tmp_path / "out")
    assert os.listdir(tmp_path / "out") == ["mine"]  # noqa: PTH208


def test_the_corpus_joins_what_got_through_and_counts_what_did_not() -> None:
    identity = {"language": "C", "licence": "MIT"}
    key = {"commit": "c" * 40, "tree": "d" * 40}
    produced = corpus(
        {"b/b": identity, "a/a": identity, "c/c": identity, "d/d": {"refused": "no licence | none"}},
        {"a/a": key, "b/b": key, "c/c": {"refused": "incomplete"}},
        {"a/a": {"markers": {"make": ["Makefile"], "cmake": ["x"]}}, "b/b": {"refused": "no markers"}},
    )
    row = {"name": "a/a", **identity, **key, "markers": ["cmake", "make"]}
    assert produced.content == {"repositories": [row]}
    counts = [produced.metadata[stage] for stage in ("observed", "validated", "locked", "with_markers")]
    assert counts == [4, 3, 2, 1]
    assert "| locked | 2 |" in produced.metadata["funnel"]
    assert "| no licence / none | 1 |" in produced.metadata["refused"]
    assert corpus({}, {}, {}).content == {"repositories": []}
