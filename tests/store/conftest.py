"""One store per back end, and a folder with everything a tree can hold."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest

from gymline.store import Store


@pytest.fixture(params=["folder", "file-url", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    urls: dict[str, str | Path] = {
        "folder": tmp_path / "store",
        "file-url": f"file://{tmp_path}/store",
        "memory": f"memory://{uuid.uuid4().hex}/store",
    }
    return Store(urls[request.param])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "content"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "src" / "main.c").write_text("int main(void) { return 0; }\n")
    (root / "src" / "deep" / "twin.c").write_text("int main(void) { return 0; }\n")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("src/deep")
    (root / "src" / "up").symlink_to("../run.sh")
    Path(os.fsdecode(os.fsencode(root) + b"/latin-\xe9")).write_bytes(b"\x00\xff")
    return root
