"""What can be added to a mirror, under which name, and what cannot."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest
from git_origins import FILES, commit, git

from gymline.crawl import Mirror
from gymline.errors import SourceError


def test_a_clone_is_named_after_its_remote_and_a_plain_one_after_its_folders(mirror: Mirror, origin: Path) -> None:
    assert mirror.add(str(origin)).name == "octo/tool"
    git(origin, "remote", "add", "origin", "git@example.invalid:someone/else.git")
    assert mirror.add(str(origin)).name == "someone/else"
    assert mirror.names() == ["octo/tool", "someone/else"]


def test_a_bare_repository_can_be_added(mirror: Mirror, origin: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(origin), str(tmp_path / "bare" / "tool.git"))
    git(tmp_path / "bare" / "tool.git", "remote", "remove", "origin")
    entry = mirror.add(str(tmp_path / "bare" / "tool.git"))
    assert entry.name == "bare/tool"
    assert mirror.head("bare/tool").commit == git(origin, "rev-parse", "HEAD")


def test_a_packed_a_shared_and_a_linked_clone_come_over_whole(mirror: Mirror, origin: Path, tmp_path: Path) -> None:
    git(origin, "gc", "-q")
    git(tmp_path, "clone", "-q", "--shared", str(origin), str(tmp_path / "shared"))
    git(origin, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    for name in ("shared", "linked"):
        mirror.add(str(tmp_path / name), f"a/{name}")
        git(mirror.repository(f"a/{name}"), "fsck", "--strict")
    assert mirror.head("a/linked").branch == "side"


def test_a_sha256_repository_can_be_added(mirror: Mirror, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "o/new")
    head = commit(tmp_path / "o" / "new")
    mirror.add(str(tmp_path / "o" / "new"))
    assert len(head) == 64 and mirror.head("o/new").commit == head
    assert mirror.metadata("o/new")["licence"] == "MIT"


@pytest.mark.parametrize("name", ["tool", "a/b/c", "a/b c", "a/..", "../b", ".x/b", "a/b\n", "a,b/c", "", "é/b"])
def test_a_name_that_cannot_be_a_key_is_refused_with_the_fix(mirror: Mirror, origin: Path, name: str) -> None:
    if name == "":
        git(origin, "remote", "add", "origin", "https://example.invalid/a+b/c+d")
        origin = origin.rename(origin.parent / "to ol")
    with pytest.raises(SourceError, match="--name"):
        mirror.add(str(origin), name or None)
    assert mirror.names() == []


def test_what_is_no_repository_is_refused_and_leaves_nothing(mirror: Mirror, origin: Path, tmp_path: Path) -> None:
    (origin / "sub").mkdir()
    (tmp_path / "file").write_text("")
    git(tmp_path, "init", "-q", "unborn")
    for source, rule in {
        str(tmp_path / "absent"): "neither a folder nor a URL",
        str(tmp_path / "file"): "neither a folder nor a URL",
        "ext::sh -c touch% /tmp/x": "neither a folder nor a URL",
        "https://-oProxyCommand=x/a/b": "neither a folder nor a URL",
        str(origin / "sub"): "no git repository",
        str(tmp_path / "unborn"): "no commits",
    }.items():
        with pytest.raises(SourceError, match=rule):
            mirror.add(source, "a/b")
    for unknown in ("0" * 40, "main", "--all", "HEAD"):
        with pytest.raises(SourceError, match="none of that id"):
            mirror.add(str(origin), "a/b", commit=unknown)
    assert mirror.names() == []
    assert [path.name for path in mirror.folder.iterdir() if path.name != ".lock"] == []


def test_a_name_can_be_used_once(mirror: Mirror, origin: Path) -> None:
    first = mirror.add(str(origin), "a/b")
    with pytest.raises(SourceError, match="has one of that name"):
        mirror.add(str(origin), "a/b.git")
    assert mirror.entry("a/b") == first
    mirror.remove("a/b")
    assert mirror.names() == [] and not mirror.repository("a/b").exists()
    for ask in (mirror.entry, mirror.remove, mirror.head, mirror.refresh, mirror.metadata):
        with pytest.raises(SourceError, match="none of that name"):
            ask("a/b")
    mirror.add(str(origin), "a/b")


def test_an_unpinned_repository_follows_its_local_origin_and_a_pinned_one_stays(mirror: Mirror, origin: Path) -> None:
    first = git(origin, "rev-parse", "HEAD")
    mirror.add(str(origin), "a/free")
    assert mirror.add(str(origin), "a/pinned", commit=first[:10]).commit == first
    second = commit(origin, {"more.c": "int more;\n"})
    assert mirror.head("a/free").commit == first, "only a refresh looks at the origin"
    assert mirror.refresh("a/free").commit == second
    assert mirror.refresh("a/pinned").commit == first
    git(origin, "checkout", "-q", "-b", "next")
    assert mirror.refresh("a/free").branch == "next"
    git(origin, "checkout", "-q", "--detach", first)
    detached = mirror.refresh("a/free")
    assert (detached.commit, detached.branch) == (first, None)


def test_an_origin_that_is_gone_or_broken_leaves_the_clone_as_it_was(mirror: Mirror, origin: Path) -> None:
    mirror.add(str(origin), "a/b")
    head = mirror.head("a/b")
    (origin / ".git" / "HEAD").unlink()
    broken = mirror.refresh("a/b")
    assert broken.commit == head.commit and broken.problem == "" and "no git repository" in broken.origin_problem
    origin.rename(origin.with_name("moved"))
    assert mirror.refresh("a/b") == head


def test_a_damaged_mirror_file_is_a_typed_error_that_says_what_it_reads(mirror: Mirror) -> None:
    mirror.folder.mkdir()
    for text in ("{", "[]", '{"repositories": {"a/b": {}}}', '{"repositories": {"../x": {"origin": ""}}}'):
        (mirror.folder / "mirror.json").write_text(text)
        with pytest.raises(SourceError):
            mirror.names()


def test_the_mirror_file_is_as_documented(mirror: Mirror, origin: Path) -> None:
    mirror.add(str(origin), licence="ISC")
    recorded = orjson.loads((mirror.folder / "mirror.json").read_bytes())
    assert recorded == {"repositories": {"octo/tool": {"origin": str(origin), "commit": None, "licence": "ISC"}}}
    assert mirror.metadata("octo/tool")["licence"] == "ISC"


def test_processes_may_add_at_once(mirror: Mirror, origin: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from gymline.crawl import Mirror\n"
        "Mirror(Path(sys.argv[1])).add(*sys.argv[2:])"
    )
    adders = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(mirror.folder), str(origin), f"a/n{i}"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for i in range(4)
    ]
    assert [adder.wait() for adder in adders] == [0] * 4
    assert mirror.names() == ["a/n0", "a/n1", "a/n2", "a/n3"]


def test_what_a_killed_add_left_is_cleared_by_the_next(mirror: Mirror, origin: Path) -> None:
    (mirror.folder / ".tmp-dead" / "clone").mkdir(parents=True)
    mirror.repository("a/b").mkdir(parents=True)
    (mirror.repository("a/b") / "half").write_text("")
    mirror.add(str(origin), "a/b")
    assert not (mirror.repository("a/b") / "half").exists() and not (mirror.folder / ".tmp-dead").exists()


def test_a_url_is_cloned_and_followed_only_when_asked(mirror: Mirror, origin: Path, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["git", "daemon", "--reuseaddr", "--export-all", f"--port={port}", "--listen=127.0.0.1"]
    daemon = subprocess.Popen([*command, f"--base-path={tmp_path}", str(tmp_path)], start_new_session=True)
    try:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        url = f"git://127.0.0.1:{port}/octo/tool"
        assert mirror.add(url).name == "octo/tool"
        first = mirror.head("octo/tool")
        assert (first.commit, first.branch) == (git(origin, "rev-parse", "HEAD"), "main")
        second = commit(origin, {"more.c": "int more;\n"})
        assert mirror.refresh("octo/tool") == first
        assert mirror.refresh("octo/tool", network=True).commit == second
        with pytest.raises(SourceError):
            mirror.add(f"git://127.0.0.1:{port}/octo/absent")
    finally:
        os.killpg(daemon.pid, signal.SIGKILL)
        daemon.wait()


def test_identity_names_branch_language_and_licence(mirror: Mirror, tmp_path: Path) -> None:
    body = "x" * 1000
    cases = {
        "c": ({"a.h": body, "b.c": "x"}, "C"),
        "cpp": ({"a.h": body, "b.cpp": "xx", "c.c": "x"}, "C++"),
        "go": ({"main.go": "x" * 10, "vendor/big.c": body, "README.md": body}, "Go"),
        "preprocessor": ({"main.cpp": "x" * 10, "testsuite/in.c": body}, "C++"),
        "only-tests": ({"tests/in.rs": body}, "Rust"),
        "python": ({"a.py": body, "b.c": "x"}, "Python"),
        "text": ({"README": body}, None),
    }
    for name, (files, language) in cases.items():
        commit(tmp_path / "o" / name, files)
        mirror.add(str(tmp_path / "o" / name))
        expected = {"name": f"o/{name}", "default_branch": "main", "language": language, "licence": None}
        assert mirror.metadata(f"o/{name}") == expected
    assert FILES["LICENSE"].startswith("MIT")


def test_a_mirror_at_a_place_that_is_no_folder_is_a_typed_error(origin: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(SourceError, match="it cannot be used"):
            Mirror(folder).add(str(origin), "a/b")
        with pytest.raises(SourceError, match="it cannot be used"):
            Mirror(folder).names()


def test_a_full_disk_while_adding_is_a_typed_error_and_leaves_the_mirror_as_it_was(
    mirror: Mirror, origin: Path, tmp_path: Path
) -> None:
    mirror.add(str(origin), "a/before")
    (origin / "big.bin").write_bytes(os.urandom(2_000_000))
    commit(origin)
    script = "import sys; from gymline.crawl import Mirror; from pathlib import Path\n"
    script += "Mirror(Path(sys.argv[1])).add(sys.argv[2], 'a/big')"
    limited = ["prlimit", "--fsize=1000000", sys.executable, "-c", script, str(mirror.folder), str(origin)]
    done = subprocess.run(limited, capture_output=True, text=True)
    assert "SourceError: mirror" in done.stderr and "it cannot be used: [Errno 27]" in done.stderr
    assert Mirror(mirror.folder).names() == ["a/before"]
    assert {path.name for path in mirror.folder.iterdir()} == {".lock", "a", "mirror.json"}
    assert mirror.add(str(origin), "a/big").name == "a/big"
