"""Files that come out of a workspace an untrusted program wrote to."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from gymline.errors import SandboxError
from gymline.sandbox import Mount
from gymline.sandbox.outfiles import copy_tree, open_beneath, open_by_components, read_file


def test_a_file_is_read(workspace: Path) -> None:
    (workspace / "a").mkdir()
    (workspace / "a/b").write_bytes(b"content")
    assert read_file(workspace, "a/b", 7) == b"content"
    with pytest.raises(SandboxError, match="larger than 6"):
        read_file(workspace, "a/b", 6)
    with pytest.raises(FileNotFoundError):
        read_file(workspace, "a/c", 6)


def test_a_symlink_in_the_workspace_does_not_leak_host_files(shell, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("host secret")
    script = f"ln -s {tmp_path}/secret file; ln -s {tmp_path} folder; ln -s ../secret up; ln -s /proc/self/root magic"
    shell(script, cwd="/job", mounts=[Mount(workspace, "/job", True)])
    for name in ("file", "folder/secret", "up", f"magic{tmp_path}/secret", "../secret", f"{tmp_path}/secret", "."):
        with pytest.raises(SandboxError):
            read_file(workspace, name, 1000)
    for name in ("file", "folder", "up", "magic"):
        only = tmp_path / f"only-{name}"
        only.mkdir()
        (workspace / name).rename(only / name)
        with pytest.raises(SandboxError, match="out of the folder"):
            copy_tree(only, tmp_path / f"copy-{name}", 1000, 10)


def test_a_fifo_a_socket_or_a_device_does_not_hang_the_reader(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(workspace / "fifo")
    os.mknod(workspace / "device", 0o600 | 0o20000, os.makedev(1, 5))
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(workspace)  # A socket's path is short.
        server.bind("socket")
    for name in ("fifo", "device", "socket"):
        with pytest.raises(SandboxError):
            read_file(workspace, name, 1000)
    with pytest.raises(SandboxError, match="device, FIFO or socket"):
        copy_tree(workspace, tmp_path / "copy", 1000, 10)


@pytest.mark.parametrize("open_it", [open_beneath, open_by_components])
def test_both_ways_of_opening_follow_no_link(open_it, workspace: Path) -> None:
    (workspace / "real").mkdir()
    (workspace / "real/file").write_text("x")
    (workspace / "link").symlink_to("real")
    (workspace / "last").symlink_to("real/file")
    base = os.open(workspace, os.O_RDONLY)
    try:
        os.close(open_it(base, "real/file"))
        for name in ("link/file", "last"):
            with pytest.raises(OSError):
                open_it(base, name)
    finally:
        os.close(base)


def test_a_tree_is_copied_with_inner_links_and_execute_bits(workspace: Path, tmp_path: Path) -> None:
    (workspace / "bin").mkdir()
    (workspace / "bin/run").write_text("#!/bin/sh\n")
    (workspace / "bin/run").chmod(0o4711)
    (workspace / "bin/plain").write_text("x")
    (workspace / "bin/link").symlink_to("../bin/run")
    copy_tree(workspace, tmp_path / "copy", 100, 10)
    copy = tmp_path / "copy/bin"
    assert {path.name: oct(path.lstat().st_mode & 0o7777) for path in copy.iterdir() if not path.is_symlink()} == {
        "run": "0o755",
        "plain": "0o644",
    }
    assert (copy / "link").readlink() == Path("../bin/run")


def test_a_tree_beyond_its_bounds_is_refused(workspace: Path, tmp_path: Path) -> None:
    for number in range(5):
        (workspace / str(number)).write_text("xxxxxxxxxx")
    with pytest.raises(SandboxError, match="too many files"):
        copy_tree(workspace, tmp_path / "one", 1000, 4)
    with pytest.raises(SandboxError, match="too large"):
        copy_tree(workspace, tmp_path / "two", 49, 5)
