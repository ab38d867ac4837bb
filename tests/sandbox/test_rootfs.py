"""The rootfs: made once, read in no time, identified by its content."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gymline.errors import SandboxUnavailable
from gymline.sandbox import Root
from gymline.sandbox.rootfs import prepare_rootfs, rootfs_folder, tree_digest
from gymline.sandbox.settings import SandboxSettings


def test_a_second_call_only_reads_the_recorded_digest(root: Root) -> None:
    started = time.perf_counter()
    again = prepare_rootfs(SandboxSettings())
    assert time.perf_counter() - started < 0.05
    assert again == root
    assert root.digest.startswith("sha256:")


def test_the_rootfs_has_the_toolchains_and_nothing_of_the_host(shell, root: Root) -> None:
    done = shell(
        "for tool in gcc g++ make cmake go cargo rustc python3 git; do command -v $tool || echo no $tool; done"
    )
    assert b"no " not in done.stdout
    version = shell("go version").stdout.split()[2].decode()
    assert tuple(int(part) for part in version.removeprefix("go").split(".")[:2]) >= (1, 20)
    for path in ("etc/resolv.conf", "etc/machine-id", "etc/apt/apt.conf.d/90gymline-host"):
        assert (root.folder / path).read_bytes() == b""
    assert list((root.folder / "dev").iterdir()) == []


def test_a_changed_recipe_is_another_rootfs() -> None:
    settings = SandboxSettings()
    assert rootfs_folder(settings) == rootfs_folder(SandboxSettings(mirror="mirror.example"))
    assert rootfs_folder(settings) != rootfs_folder(SandboxSettings(packages=("git",)))
    assert rootfs_folder(settings) != rootfs_folder(SandboxSettings(backports=False))


def test_the_digest_sees_content_modes_and_links_but_not_times_and_caches(tmp_path: Path) -> None:
    def make(name: str) -> Path:
        folder = tmp_path / name
        (folder / "etc").mkdir(parents=True)
        (folder / "var/log").mkdir(parents=True)
        (folder / "etc/file").write_text("x")
        (folder / "etc/link").symlink_to("file")
        return folder

    one, two = make("one"), make("two")
    (two / "var/log/dpkg.log").write_text("today")
    (two / "etc/hostname").write_text("host")
    (one / "etc/hostname").write_text("other")
    assert tree_digest(one) == tree_digest(two)
    (two / "etc/file").chmod(0o755)
    assert tree_digest(one) != tree_digest(two)
    (two / "etc/file").chmod((one / "etc/file").stat().st_mode & 0o777)
    (two / "etc/link").unlink()
    (two / "etc/link").symlink_to("hostname")
    assert tree_digest(one) != tree_digest(two)


def test_without_debootstrap_the_fix_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailable, match="apt-get install debootstrap"):
        prepare_rootfs(SandboxSettings(cache=tmp_path / "cache"))
