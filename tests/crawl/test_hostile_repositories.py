"""Repositories that try to run something, or to write where they should not."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from git_origins import commit, forge, git

from gymline.crawl import CrawlSettings, Mirror, export_source, lock_commit, observe_head

SETTINGS = CrawlSettings()


def go_all_the_way(mirror: Mirror, origin: Path, out: Path) -> object:
    mirror.add(str(origin), "evil/repo")
    head = observe_head("evil/repo", mirror, SETTINGS)
    locked = lock_commit(mirror.metadata("evil/repo"), head, mirror, SETTINGS)
    return export_source(locked.content, "evil/repo", mirror, out) if locked.outcome == "built" else locked


def test_no_program_that_a_repository_names_is_run(mirror: Mirror, origin: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f'#!/bin/sh\necho "$0 $@" >> {ran}\ncat\n')
    script.chmod(0o755)
    commit(origin, {".gitattributes": "* filter=evil diff=evil merge=evil\n", "data.txt": "as it is\r\n"})
    for key in (
        "core.fsmonitor", "core.sshCommand", "core.gitProxy", "core.editor", "core.pager", "core.askPass",
        "core.alternateRefsCommand", "filter.evil.smudge", "filter.evil.clean", "filter.evil.process",
        "diff.evil.textconv", "diff.external", "credential.helper", "uploadpack.packObjectsHook",
        "remote.origin.uploadpack",
    ):  # fmt: skip
        git(origin, "config", key, str(script))
    git(origin, "config", "filter.evil.required", "true")
    git(origin, "config", "core.hooksPath", str(tmp_path / "hooks"))
    for folder in (tmp_path / "hooks", origin / ".git" / "hooks"):
        folder.mkdir(exist_ok=True)
        for hook in ("post-checkout", "post-merge", "reference-transaction", "pre-auto-gc", "post-update", "update"):
            (folder / hook).write_text(script.read_text())
            (folder / hook).chmod(0o755)
    ran.unlink(missing_ok=True)  # git config itself may have asked fsmonitor
    go_all_the_way(mirror, origin, tmp_path / "out")
    assert not ran.exists(), ran.read_text()
    with suppress(subprocess.CalledProcessError):
        git(origin, "status")
    assert ran.exists(), "an ordinary command does run them, so this test can fail"
    assert (tmp_path / "out" / "data.txt").read_bytes() == b"as it is\r\n"


def test_a_partial_clone_does_not_fetch_what_it_lacks(mirror: Mirror, origin: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
    script.chmod(0o755)
    lost = git(origin, "rev-parse", "HEAD:tool.c")
    (origin / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": str(tmp_path),
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": str(script),
    }.items():
        git(origin, "config", key, value)
    produced = go_all_the_way(mirror, origin, tmp_path / "out")
    assert "incomplete clone" in produced.reason  # type: ignore[attr-defined]
    assert not ran.exists()
    with pytest.raises(subprocess.CalledProcessError):
        git(origin, "cat-file", "-p", lost)
    assert ran.exists(), "an ordinary read does run it, so this test can fail"


@pytest.mark.parametrize("name", [b".git", b".GIT", b"..", b"."])
def test_a_path_that_a_checkout_must_not_write_is_refused(
    mirror: Mirror, origin: Path, tmp_path: Path, name: bytes
) -> None:
    blob = git(origin, "rev-parse", "HEAD:tool.c")
    link = git(origin, "hash-object", "-w", "--stdin", stdin=b"..")
    for entry in (("100644", blob, name), ("120000", link, name)):
        target = Mirror(tmp_path / f"mirror-{entry[0]}")
        forge(origin, [entry])
        produced = go_all_the_way(target, origin, tmp_path / "out")
        assert "is not allowed" in produced.reason  # type: ignore[attr-defined]
    assert not (tmp_path / "out").exists()


def test_a_link_and_a_folder_of_one_name_are_refused(mirror: Mirror, origin: Path, tmp_path: Path) -> None:
    link = git(origin, "hash-object", "-w", "--stdin", stdin=str(tmp_path / "target").encode())
    tree = git(origin, "rev-parse", "HEAD^{tree}")
    (tmp_path / "target").mkdir()
    forge(origin, [("120000", link, b"a"), ("40000", tree, b"a")])
    produced = go_all_the_way(mirror, origin, tmp_path / "out")
    assert "is not allowed" in produced.reason  # type: ignore[attr-defined]
    assert list((tmp_path / "target").iterdir()) == []


def test_links_that_lead_out_are_left_out_and_named(mirror: Mirror, origin: Path, tmp_path: Path) -> None:
    for name, target in {"abs": "/etc/passwd", "up": "../../x", "ok": "tool.c", "tricky": "ok/../../x"}.items():
        (origin / name).symlink_to(target)
    commit(origin, {})
    produced = go_all_the_way(mirror, origin, tmp_path / "out")
    assert produced.metadata["left_out"] == ["abs", "tricky", "up"]  # type: ignore[attr-defined]
    assert (tmp_path / "out" / "ok").is_symlink()
    assert not any((tmp_path / "out" / name).is_symlink() for name in ("abs", "tricky", "up"))


def test_odd_but_honest_names_are_exported_as_they_are(mirror: Mirror, origin: Path, tmp_path: Path) -> None:
    blob = git(origin, "rev-parse", "HEAD:tool.c")
    names = [b"--help", b"a\nb", b"a\tb", b"caf\xe9", b'q"uote']
    forge(origin, [("100644", blob, name) for name in sorted(names)])
    go_all_the_way(mirror, origin, tmp_path / "out")
    assert {bytes(path.name.encode("utf-8", "surrogateescape")) for path in (tmp_path / "out").iterdir()} == set(names)


def test_trees_that_unfold_into_billions_of_files_end_early(mirror: Mirror, origin: Path, tmp_path: Path) -> None:
    oid, mode = git(origin, "rev-parse", "HEAD:tool.c"), "100644"
    for _ in range(10):
        record = b"".join(f"{mode} d{i}".encode() + b"\0" + bytes.fromhex(oid) for i in range(10))
        oid = git(origin, "hash-object", "-w", "-t", "tree", "--stdin", stdin=record)
        mode = "40000"
    git(origin, "update-ref", "HEAD", git(origin, "commit-tree", oid, "-m", "bomb"))
    mirror.add(str(origin), "evil/bomb")
    produced = observe_head("evil/bomb", mirror, CrawlSettings(max_files=1000))
    assert produced["problem"] == "it has more than 1000 files"


def test_an_object_folder_that_borrows_and_links_gives_no_host_files(
    mirror: Mirror, origin: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    objects = origin / ".git" / "objects"
    (objects / "ab").mkdir(exist_ok=True)
    (objects / "ab" / ("c" * 38)).symlink_to(secret)
    (objects / "pack").mkdir(exist_ok=True)
    (objects / "pack" / "pack-x.pack").symlink_to(secret)
    (objects / "info").mkdir(exist_ok=True)
    (objects / "info" / "alternates").write_text(f"{tmp_path}\n/dev\n/proc/self\n{objects}\n")
    go_all_the_way(mirror, origin, tmp_path / "out")
    texts = [path.read_bytes() for path in mirror.folder.rglob("*") if path.is_file()]
    assert b"secret" not in b"".join(texts)
    assert (tmp_path / "out" / "tool.c").exists()


def test_folders_nested_beyond_any_honest_tree_are_refused_in_a_reason_one_can_read(
    mirror: Mirror, origin: Path, tmp_path: Path
) -> None:
    blob = git(origin, "rev-parse", "HEAD:tool.c")
    git(origin, "update-index", "--add", "--cacheinfo", f"100644,{blob},{'d/' * 1400}tool.c")
    git(origin, "commit", "-q", "-m", "deep")
    produced = go_all_the_way(mirror, origin, tmp_path / "out")
    reason = produced.reason  # type: ignore[attr-defined]
    assert reason.endswith("is not allowed") and len(reason) < 400
