"""The samples as repositories."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_origins import git

from gymline.crawl import Mirror, mirror_samples
from gymline.errors import SourceError


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        (tmp_path / "samples" / name / "src").mkdir(parents=True)
        (tmp_path / "samples" / name / "src" / "main.c").write_text(f"/* {name} */\n")
        (tmp_path / "samples" / name / ".gitignore").write_text("*.c\n")
        (tmp_path / "samples" / name / "build.sh").write_text("#!/bin/sh\n")
        (tmp_path / "samples" / name / "build.sh").chmod(0o755)
    return tmp_path / "samples"


def test_a_sample_has_the_same_commit_on_every_machine(samples: Path, tmp_path: Path) -> None:
    heads = []
    for folder in ("first", "second"):
        mirror = Mirror(tmp_path / folder)
        assert mirror_samples(samples, mirror) == ["gymline/one", "gymline/two"]
        heads.append(mirror.head("gymline/one"))
    assert heads[0] == heads[1]
    assert (heads[0].commit or "")[:12] == "cfcd6c59d3da"


def test_only_a_changed_sample_gets_a_commit_and_it_follows_the_last(samples: Path, mirror: Mirror) -> None:
    mirror_samples(samples, mirror)
    one, two = mirror.head("gymline/one").commit, mirror.head("gymline/two").commit
    mirror_samples(samples, mirror)
    assert (mirror.head("gymline/one").commit, mirror.head("gymline/two").commit) == (one, two)
    (samples / "one" / "src" / "main.c").write_text("/* changed */\n")
    mirror_samples(samples, mirror)
    assert mirror.head("gymline/two").commit == two
    changed = mirror.head("gymline/one").commit
    assert changed not in (one, None)
    assert git(mirror.repository("gymline/one"), "rev-parse", f"{changed}^") == one
    dates = git(mirror.repository("gymline/one"), "log", "--format=%ct").split()
    assert dates == ["1700000001", "1700000000"]


def test_ignored_files_and_modes_are_committed(samples: Path, mirror: Mirror) -> None:
    mirror_samples(samples, mirror)
    listed = git(mirror.repository("gymline/one"), "ls-tree", "-r", "HEAD").splitlines()
    assert [(line.split()[0], line.split("\t")[1]) for line in listed] == [
        ("100644", ".gitignore"),
        ("100755", "build.sh"),
        ("100644", "src/main.c"),
    ]


def test_a_mirror_may_move_with_its_samples(samples: Path, mirror: Mirror) -> None:
    mirror_samples(samples, mirror)
    moved = Mirror(mirror.folder.rename(mirror.folder.with_name("moved")))
    (samples / "two" / "new.c").write_text("")
    before = moved.head("gymline/two").commit
    mirror_samples(samples, moved)
    assert moved.head("gymline/two").commit != before


def test_a_folder_without_samples_is_a_typed_error(mirror: Mirror, tmp_path: Path) -> None:
    for folder in (tmp_path / "absent", tmp_path):
        with pytest.raises(SourceError, match="no folder in it"):
            mirror_samples(folder, mirror)
