"""What every back end promises."""

from __future__ import annotations

import enum
import hashlib
import os
import socket
import threading
import uuid
from pathlib import Path
from typing import Any

import fsspec
import pytest

from gymline.errors import ArtifactDamaged, ArtifactMissing, StoreError
from gymline.store import Store, digest_bytes, digest_json, digest_tree, safe_link

ABSENT = "0" * 64


def damage(store: Store, digest: str, kind: str = "objects", content: bytes = b"damaged") -> None:
    """Replaces an object's bytes behind the store's back."""
    url = store.url if "://" in store.url else f"file://{store.url}"
    fs, root = fsspec.core.url_to_fs(url)
    path = f"{root}/{kind}/{digest[:2]}/{digest}"
    assert fs.exists(path)
    fs.rm_file(path)
    fs.pipe_file(path, content)


def quarantined(store: Store) -> list[str]:
    url = store.url if "://" in store.url else f"file://{store.url}"
    fs, root = fsspec.core.url_to_fs(url)
    return [path.rsplit("/", 1)[-1] for path in fs.find(f"{root}/quarantine")]


def test_a_blob_comes_back_under_its_sha256(store: Store) -> None:
    digest = store.put_bytes(b"\x00hello")
    assert digest == hashlib.sha256(b"\x00hello").hexdigest()
    assert store.get_bytes(digest) == b"\x00hello"
    assert store.has(digest) and store.digests() == {digest} and store.bytes_used() == 6


def test_an_empty_store_has_nothing_and_says_so(store: Store) -> None:
    assert store.digests() == set() and store.bytes_used() == 0 and store.verify() == []
    assert not store.has(ABSENT) and store.missing([ABSENT]) == {ABSENT}
    for read in (store.get_bytes, store.get_json, store.open_tree):
        with pytest.raises(ArtifactMissing, match=ABSENT):
            read(ABSENT)


def test_json_has_one_digest_whatever_the_order_of_its_keys(store: Store) -> None:
    digest = store.put_json({"b": [1, 2.5, None], "a": {"z": "é", "y": True}})
    assert digest == digest_json({"a": {"y": True, "z": "é"}, "b": (1, 2.5, None)})
    assert store.get_json(digest) == {"a": {"y": True, "z": "é"}, "b": [1, 2.5, None]}


class Colour(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    "value",
    [
        {"a": [float("nan")]},
        float("inf"),
        {1: "a"},
        {"a": Path("x")},
        [Colour.RED],
        {"a": b"bytes"},
        "\ud800",
        1 << 70,
        uuid.UUID(int=1),
    ],
    ids=repr,
)
def test_what_json_cannot_carry_is_refused(store: Store, value: Any) -> None:
    with pytest.raises(StoreError):
        store.put_json(value)
    assert store.digests() == set()


@pytest.mark.parametrize("digest", ["", "abc", "A" * 64, "../" * 22, "0" * 64 + "\n"])
def test_what_is_no_digest_is_refused(store: Store, digest: str) -> None:
    for ask in (store.get_bytes, store.has, store.open_tree, lambda d: store.missing([d])):
        with pytest.raises(StoreError, match="lowercase hex sha256"):
            ask(digest)


def test_a_file_of_many_chunks_is_stored_whole(store: Store, tmp_path: Path) -> None:
    content = os.urandom(3_000_001)
    (tmp_path / "big").write_bytes(content)
    assert store.get_bytes(store.put_file(tmp_path / "big")) == content


def test_a_path_that_is_no_regular_file_is_refused(store: Store, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/passwd")
    for name in ("pipe", "link", "absent", "."):
        with pytest.raises(StoreError):
            store.put_file(tmp_path / name)
    with pytest.raises(StoreError, match="no folder"):
        store.put_tree(tmp_path / "absent")


def test_a_tree_comes_back_as_it_was(store: Store, folder: Path, tmp_path: Path) -> None:
    digest = store.put_tree(folder)
    assert digest == digest_tree(folder)
    store.checkout(digest, tmp_path / "out")
    assert digest_tree(tmp_path / "out") == digest
    assert os.access(tmp_path / "out" / "run.sh", os.X_OK)
    assert (tmp_path / "out" / "empty").is_dir()
    assert str((tmp_path / "out" / "src" / "up").readlink()) == "../run.sh"
    entries = store.open_tree(digest).entries
    assert [e.path.encode("utf-8", "surrogateescape") for e in entries] == [
        b"empty", b"latin-\xe9", b"link", b"run.sh", b"src/deep/twin.c", b"src/main.c", b"src/up",
    ]  # fmt: skip
    assert [e.kind for e in entries] == ["d", "f", "l", "x", "f", "f", "l"]


def test_times_and_other_modes_are_no_content(folder: Path) -> None:
    before = digest_tree(folder)
    (folder / "src" / "main.c").chmod(0o600)
    os.utime(folder / "src" / "main.c", (0, 0))
    assert digest_tree(folder) == before
    (folder / "src" / "main.c").chmod(0o700)
    assert digest_tree(folder) != before


def test_paths_are_sorted_by_bytes_across_folders(tmp_path: Path, store: Store) -> None:
    for name in ("a/b", "a-b", "a.c", "ab"):
        (tmp_path / "t" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "t" / name).write_text(name)
    tree = store.open_tree(store.put_tree(tmp_path / "t"))
    assert [entry.path for entry in tree.entries] == ["a-b", "a.c", "a/b", "ab"]


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "src/../../outside", "src/../run.sh", "."])
def test_a_symlink_is_kept_only_where_it_cannot_lead_out(store: Store, folder: Path, target: str) -> None:
    (folder / "bad").symlink_to(target)
    if target == ".":
        assert store.has(store.put_tree(folder))
        return
    with pytest.raises(StoreError, match="bad"):
        store.put_tree(folder)
    with pytest.raises(StoreError, match="bad"):
        digest_tree(folder)


def test_a_climb_after_a_name_is_not_safe_since_the_name_may_be_a_link() -> None:
    assert safe_link("a/b", "../c") and safe_link("a/b", "./../c/d")
    assert not safe_link("a/b", "../../c") and not safe_link("a/b", "c/../../..") and not safe_link("b", "c/..")


def test_devices_pipes_and_sockets_are_refused(store: Store, tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    os.mkfifo(tmp_path / "p" / "pipe")
    (tmp_path / "s").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s" / "sock"))
        for name in ("p", "s"):
            with pytest.raises(StoreError, match="sockets"):
                store.put_tree(tmp_path / name)


def test_writing_to_a_checkout_does_not_reach_the_store(store: Store, folder: Path, tmp_path: Path) -> None:
    digest = store.put_tree(folder)
    store.checkout(digest, tmp_path / "one")
    (tmp_path / "one" / "src" / "main.c").write_text("changed")
    assert store.verify() == []
    store.checkout(digest, tmp_path / "two")
    assert digest_tree(tmp_path / "two") == digest


def test_a_checkout_makes_a_new_folder_or_nothing(store: Store, folder: Path, tmp_path: Path) -> None:
    digest = store.put_tree(folder)
    (tmp_path / "there").mkdir()
    with pytest.raises(StoreError, match="exists"):
        store.checkout(digest, tmp_path / "there")
    damage(store, digest_bytes(b"#!/bin/sh\n"))
    with pytest.raises(ArtifactDamaged):
        store.checkout(digest, tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} <= {"content", "store", "there"}


def test_damage_is_met_by_the_read_and_quarantined_so_that_a_put_repairs_it(store: Store) -> None:
    digest = store.put_bytes(b"intact!")
    damage(store, digest, content=b"rotten!")
    with pytest.raises(ArtifactDamaged, match=digest):
        store.get_bytes(digest)
    assert quarantined(store) == [digest]
    assert store.missing([digest]) == {digest} and not store.has(digest)
    with pytest.raises(ArtifactMissing):
        store.get_bytes(digest)
    store.put_bytes(b"intact!")
    assert store.get_bytes(digest) == b"intact!"


def test_a_put_replaces_a_cut_object(store: Store, tmp_path: Path) -> None:
    digest = store.put_bytes(b"content")
    damage(store, digest, content=b"con")
    store.put_bytes(b"content")
    assert store.get_bytes(digest) == b"content"
    damage(store, digest, content=b"")
    (tmp_path / "file").write_bytes(b"content")
    store.put_file(tmp_path / "file")
    assert store.get_bytes(digest) == b"content"


def test_a_tree_is_missing_when_one_of_its_files_is(store: Store, folder: Path) -> None:
    tree, other = store.put_tree(folder), store.put_json({"other": 1})
    assert store.missing([tree, other, ABSENT]) == {ABSENT}
    damage(store, digest_bytes(b"#!/bin/sh\n"))
    assert store.missing([tree, other]) == set(), "a plan lists, it does not read blobs"
    assert store.verify() == [digest_bytes(b"#!/bin/sh\n")]
    assert store.missing([tree, other]) == {tree}
    assert store.put_tree(folder) == tree
    assert store.missing([tree, other]) == set()


def test_a_damaged_manifest_counts_as_missing(store: Store, folder: Path) -> None:
    tree = store.put_tree(folder)
    damage(store, tree, kind="trees")
    assert store.missing([tree]) == {tree}
    assert quarantined(store) == [tree]


def test_a_manifest_that_would_write_outside_is_refused(store: Store, tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "a").write_text("x")
    store.put_tree(tmp_path / "t")
    for row in (["../a", "f", ABSENT], ["/a", "f", ABSENT], ["a//b", "d", ""], ["a", "l", "/etc"]):
        evil = b'{"tree":[["%s","%s","%s"]]}' % tuple(part.encode() for part in row)
        digest = digest_bytes(evil)
        url = store.url if "://" in store.url else f"file://{store.url}"
        fs, root = fsspec.core.url_to_fs(url)
        fs.makedirs(f"{root}/trees/{digest[:2]}", exist_ok=True)
        fs.pipe_file(f"{root}/trees/{digest[:2]}/{digest}", evil)
        with pytest.raises(StoreError):
            store.checkout(digest, tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_verify_reports_progress_over_every_object(store: Store, folder: Path) -> None:
    store.put_tree(folder)
    seen: list[tuple[int, int]] = []
    assert store.verify(lambda done, total: seen.append((done, total))) == []
    assert seen == [(i, 4) for i in range(1, 5)]


def test_many_threads_may_put_the_same_and_different_things(store: Store) -> None:
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for i in range(40):
                for content in (b"shared-%d" % i, b"own-%d-%d" % (number, i)):
                    assert store.get_bytes(store.put_bytes(content)) == content
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and len(store.digests()) == 40 * 7 and store.verify() == []


@pytest.mark.parametrize("url", ["nosuch://bucket/x", "dask://nowhere"])
def test_a_url_of_an_unknown_kind_is_a_typed_error(url: str) -> None:
    with pytest.raises(StoreError, match="no such kind of URL"):
        Store(url)
