"""A program under test: a script whose first argument names what it does, well-behaved or hostile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gymline.cases.case import sha256

PROGRAM = Path(__file__).with_name("program")
Put = Callable[[bytes], str]


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    folder = tmp_path / "inputs"
    folder.mkdir()
    return folder


@pytest.fixture
def put(inputs: Path) -> Put:
    """Puts bytes into the suite's inputs and returns their digest."""

    def put(content: bytes) -> str:
        digest = sha256(content)
        (inputs / digest).write_bytes(content)
        return digest

    return put


@pytest.fixture
def program(tmp_path: Path) -> Path:
    target = tmp_path / "program"
    target.write_bytes(PROGRAM.read_bytes())
    target.chmod(0o755)
    return target
