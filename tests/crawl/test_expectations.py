"""The corpus table's Great Expectations suite accepts a sound table and names what is broken in another."""

from __future__ import annotations

from typing import Any

import pytest

from gymline.crawl.expectations import corpus_check
from gymline.crawl.settings import CrawlSettings

SETTINGS = CrawlSettings()


def row(name: str, /, **changes: Any) -> dict[str, Any]:
    sound = {"name": name, "language": "C", "licence": "MIT", "commit": "a" * 40, "tree": "b" * 40, "markers": ["make"]}
    return {**sound, **changes}


def test_a_sound_table_passes() -> None:
    check = corpus_check([row("a/b"), row("a/c", language="Go", commit="c" * 64)], SETTINGS)
    assert check.passed, check.description
    assert check.blocking


def test_an_empty_table_is_sound() -> None:
    assert corpus_check([], SETTINGS).passed


@pytest.mark.parametrize(
    ("changes", "column"),
    [
        ({"name": "a/b"}, "name"),
        ({"name": "noowner"}, "name"),
        ({"commit": "main"}, "commit"),
        ({"tree": ""}, "tree"),
        ({"language": "COBOL"}, "language"),
        ({"licence": None}, "licence"),
        ({"markers": []}, "systems"),
    ],
    ids=lambda value: str(value),
)
def test_a_broken_row_fails_the_check_and_names_the_column(changes: dict[str, Any], column: str) -> None:
    check = corpus_check([row("a/b"), row("a/c", **changes)], SETTINGS)
    assert not check.passed
    assert f"of {column}" in check.description


def test_a_licence_may_lack_where_none_is_required() -> None:
    assert corpus_check([row("a/b"), row("a/c", licence=None)], CrawlSettings(require_licence=False)).passed
