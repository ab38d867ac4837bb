"""`shell` and `python` run a piece of untrusted code in the real sandbox."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gymline.sandbox import Command, Completed, Root, Sandbox

Run = Callable[..., Completed]


@pytest.fixture
def shell(sandbox: Sandbox, root: Root) -> Run:
    def run(script: str, **options: Any) -> Completed:
        return sandbox.run(root, Command(["sh", "-c", script], **options))

    return run


@pytest.fixture
def python(sandbox: Sandbox, root: Root) -> Run:
    def run(script: str, **options: Any) -> Completed:
        return sandbox.run(root, Command(["python3", "-c", script], **options))

    return run


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder
