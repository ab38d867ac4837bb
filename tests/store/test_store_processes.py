"""Several processes on one local store, and processes that die in the middle."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gymline.errors import StoreError
from gymline.store import Store, digest_tree

PUT_FOREVER = """
import os, sys
from pathlib import Path
from gymline.store.local import LocalBackend

def pieces():
    yield b"x" * 100_000
    print("writing", flush=True)
    sys.stdin.read()

LocalBackend(Path(sys.argv[1])).write("objects", "ab" * 32, pieces())
"""

PUT_TREE = """
import sys
from pathlib import Path
from gymline.store import Store
store = Store(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
print(store.put_tree(Path(sys.argv[2])))
"""


def start(script: str, *arguments: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_kill_9_in_the_middle_of_a_put_leaves_nothing_visible_and_the_next_open_cleans_up(
    tmp_path: Path,
) -> None:
    root = tmp_path / "store"
    writer = start(PUT_FOREVER, root)
    assert writer.stdout and writer.stdout.readline() == "writing\n"

    other = Store(root)
    assert len(files(root / "tmp")) == 1, "a living writer's file is left alone"
    assert other.digests() == set()

    writer.kill()
    writer.communicate()
    assert Store(root).digests() == set()
    assert files(root) == [] and list((root / "tmp").iterdir()) == []
    assert other.get_bytes(other.put_bytes(b"still works")) == b"still works"


def test_two_processes_may_put_the_same_tree_at_once(tmp_path: Path) -> None:
    content = tmp_path / "content"
    content.mkdir()
    for i in range(200):
        (content / f"{i}.txt").write_text(f"{i % 150}\n" * 50)
    writers = [start(PUT_TREE, tmp_path / "store", content) for _ in range(2)]
    for writer in writers:
        assert writer.stdout and writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("go\n")
        writer.stdin.flush()
    printed = [writer.communicate()[0].strip() for writer in writers]
    assert printed == [digest_tree(content)] * 2
    store = Store(tmp_path / "store")
    assert store.missing(printed) == set() and store.verify() == []
    assert len(store.digests()) == 151


def test_a_file_that_changes_while_it_is_stored_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "growing.log"
    path.write_text("one")
    store = Store(tmp_path / "store")
    size = store._backend.size

    def size_then_change(*arguments: object) -> int | None:
        path.write_text("two")
        return size(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(store._backend, "size", size_then_change)
    with pytest.raises(StoreError, match="changed while it was stored"):
        store.put_file(path)
    assert store.digests() == set() and files(tmp_path / "store") == []


def test_a_store_where_no_folder_can_be_made_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="put failed"):
        Store(tmp_path / "file" / "store").put_bytes(b"x")
