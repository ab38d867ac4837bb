"""Copies of trees that strangers wrote."""

from __future__ import annotations

import os
from pathlib import Path

from gymline.build.trees import copy_tree, regular_files
from gymline.store import remove_tree


def test_folders_nested_without_end_are_copied_as_deep_as_anyone_goes(tmp_path: Path) -> None:
    source, here = tmp_path / "source", Path.cwd()
    source.mkdir()
    try:
        os.chdir(source)
        for _ in range(3_000):
            Path("d").mkdir()
            os.chdir("d")
        Path("deepest").touch()
    finally:
        os.chdir(here)
    (source / "main.c").write_text("int x;\n")
    copy_tree(source, tmp_path / "copy", mtime=0)
    assert [path for path, _ in regular_files(tmp_path / "copy")] == ["main.c"]
    assert sum(1 for _ in os.walk(tmp_path / "copy")) == 101
    remove_tree(source)


def test_pipes_are_not_waited_for_and_links_stay_links(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    os.mkfifo(source / "pipe")
    (source / "link").symlink_to("/etc/passwd")
    copy_tree(source, tmp_path / "copy", mtime=0)
    assert os.listdir(tmp_path / "copy") == ["link"]  # noqa: PTH208
    assert (tmp_path / "copy" / "link").is_symlink()
