"""A mirror and a small origin."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_origins import commit

from gymline.crawl import Mirror


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror(tmp_path / "mirror")


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    folder = tmp_path / "octo" / "tool"
    commit(folder)
    return folder
