"""``gymline plan --explain`` names the true cause, one claim a cause. The world is tests/assets' own."""

from __future__ import annotations

import shutil
import time

import pytest

from assets import graph
from gymline.errors import LineageError
from resources import planning
from resources.planning import explain
from tests.assets.conftest import World, commit, world  # noqa: F401

LIBRARY = "lib/ring"
CHEAP = ("repository", "locked_commit", "build_markers", "repo_corpus", "source_tree")


@pytest.fixture
def settled(world: World) -> World:  # noqa: F811
    world.add(LIBRARY, "ringbuf-c-lib")
    world.materialize(*CHEAP)
    return world


def _explained(world: World, asset: str, key: str = LIBRARY) -> str:  # noqa: F811
    return "\n".join(explain(world.instance, world.workspace, graph(), asset, key))


def test_fresh_and_never_built(settled: World) -> None:
    assert _explained(settled, "source_tree") == f"source_tree {LIBRARY}: fresh"
    assert "never built" in _explained(settled, "gold_build")


def test_new_upstream_content_and_what_waits_for_it(settled: World) -> None:
    origin = settled.folder / "origins" / LIBRARY
    (origin / "NOTE").write_text("other\n")
    commit(origin)
    settled.observe()
    assert "stale\n  input changed: mirror_head" in _explained(settled, "locked_commit")
    waiting = _explained(settled, "source_tree")
    assert "pending\n  upstream pending: locked_commit" in waiting
    assert "input changed: mirror_head" in waiting, "the root cause stands below"


def test_a_fan_in_names_the_keys_that_changed(settled: World) -> None:
    settled.add("lib/second", "ringbuf-c-lib")
    settled.materialize("repository", "locked_commit", "build_markers")
    explained = _explained(settled, "repo_corpus", "")
    assert "input changed: repository" in explained
    assert "changed: lib/second" in explained
    assert f"changed: {LIBRARY}" not in explained


def test_a_changed_setting_is_named(settled: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GYMLINE_CRAWL_MARKER_DEPTH", "5")
    assert "changed: setting CrawlSettings.marker_depth" in _explained(settled, "build_markers")


def test_a_changed_fingerprint_is_named(settled: World, monkeypatch: pytest.MonkeyPatch) -> None:
    node = graph().nodes["gold_build"]
    assert node.code is not None
    before = planning.code_manifest(node.code, {"rootfs": "one"}).parts
    after = planning.code_manifest(node.code, {"rootfs": "two"}).parts
    assert planning.differences(before, after) == ["fingerprint rootfs"]


def test_a_missing_artifact(settled: World) -> None:
    shutil.rmtree(settled.folder / "home" / "store" / "trees")
    assert "artifact missing" in _explained(settled, "source_tree")


def test_a_source_that_is_due_and_what_waits_for_it(settled: World, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(planning.time, "time", lambda: now + 2 * 3600)
    assert "source due (observed 2.0 h ago, to be observed every 1.0 h)" in _explained(settled, "mirror_head")
    waiting = _explained(settled, "locked_commit")
    assert "upstream pending: mirror_head" in waiting or "upstream pending: repository" in waiting
    assert "source due" in waiting


def test_a_refusal_upstream(world: World) -> None:  # noqa: F811
    origin = world.add(LIBRARY, "ringbuf-c-lib")
    for licence in ("LICENSE", "README.md"):
        (origin / licence).unlink(missing_ok=True)
    commit(origin)
    world.materialize(*CHEAP)
    assert "refused: no licence" in _explained(world, "repository")
    assert "blocked\n  upstream refused: repository (no licence" in _explained(world, "locked_commit")
    assert "no licence" in _explained(world, "source_tree")


@pytest.mark.parametrize(("asset", "key"), [("nope", LIBRARY), ("gold_build", "no/body"), ("repo_corpus", "x")])
def test_an_unknown_asset_or_partition_is_a_typed_error_that_says_what_there_is(
    settled: World, asset: str, key: str
) -> None:
    with pytest.raises(LineageError):
        _explained(settled, asset, key)


def test_the_code_manifest_of_a_record_is_kept_so_that_a_change_can_be_named(settled: World) -> None:
    catalog = settled.workspace.catalog()
    record = catalog.records(["source_tree"])["source_tree"][LIBRARY]
    catalog.dispose()
    parts = settled.workspace.store().get_json(record.code_version)
    assert "code gymline/crawl/source.py:export_source" in parts
