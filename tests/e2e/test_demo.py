"""The main job, told as one story on one home: from nothing, again, after edits, after a wipe.

The code under test is a copy of the checkout, so that edits to it are real edits.
"""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from tests.e2e.gymline import CHECKOUT, Home

PROGRAMS = ("gymline/inkwell-cpp", "gymline/ledgerkit-go", "gymline/routefind-rs", "gymline/tally-c")
REFUSED = {
    "gymline/fetchver-c": "gold_build: compile.sh fails offline: needs the network",
    "gymline/ringbuf-c-lib": "gold_build: library only: no executable among the products",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp("demo")
    copy = folder / "checkout"
    for name in ("assets", "cli", "gymline", "resources", "samples", "sensors"):
        shutil.copytree(CHECKOUT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CHECKOUT / "definitions.py", copy)
    return Home.new(folder / "home", copy)


@pytest.fixture(scope="module")
def first(home: Home) -> dict[str, Any]:
    return home.demo()


def _edit(home: Home, path: str, before: str, after: str) -> None:
    file = home.checkout / path
    text = file.read_text()
    assert before in text, f"{path} no longer has {before!r}"
    file.write_text(text.replace(before, after, 1))


def test_every_sample_ends_as_an_environment_or_as_a_refusal_with_its_reason(first: dict[str, Any]) -> None:
    assert first["failed"] == {}
    assert first["outcomes"] == {**dict.fromkeys(PROGRAMS, "environment"), **REFUSED}


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_environment_has_cases_of_many_kinds_and_scores_right(first: dict[str, Any], program: str) -> None:
    about = first["programs"][program]
    assert about["cases"] >= 20
    assert sum(1 for count in about["by_category"].values() if count) >= 3
    assert (about["oracle"], about["do_nothing"]) == (1.0, 0.0)


def test_a_second_run_rebuilds_nothing(home: Home, first: dict[str, Any]) -> None:
    second = home.demo()
    assert (second["rebuilt"], second["stale"]) == (0, 0)
    assert second["data_versions"] == first["data_versions"]


def test_settings_of_one_room_stale_that_room_only(home: Home, first: dict[str, Any]) -> None:
    assert set(home.stale(GYMLINE_SUITES_MAX_KEPT="149")) == {"test_suite"}
    assert set(home.stale(GYMLINE_PROGRAMS_MAX_FILES="7")) <= {"docs_bundle", "program_environment"}
    stale = home.stale(GYMLINE_CRAWL_MARKER_DEPTH="4")
    assert set(stale) == {"repository", "locked_commit", "build_markers", "source_tree"} & set(stale)
    assert home.stale(GYMLINE_SANDBOX_BACKPORTS="true") == {}


def test_a_comment_edited_in_the_build_room_rebuilds_nothing(home: Home, first: dict[str, Any]) -> None:
    _edit(home, "gymline/build/gold.py", "def build_gold(", "# An idle remark.\n\n\ndef build_gold(")
    _edit(home, "gymline/build/products.py", '"""', '"""Said otherwise. ')
    assert home.stale() == {}


def test_logic_edited_in_the_build_room_rebuilds_gold_and_equal_outcomes_stop_there(
    home: Home, first: dict[str, Any]
) -> None:
    _edit(home, "gymline/build/gold.py", '"| buildpack | reached', '"| pack | reached')
    stale = home.stale()
    assert set(stale) == {"gold_build"}
    assert len(stale["gold_build"]) == 6
    explained = home.run("plan", "--explain", "gold_build", "gymline/tally-c")
    assert "code changed" in explained
    assert "changed: code gymline/build/gold.py:_table" in explained
    waiting = home.run("plan", "--explain", "test_suite", "gymline/tally-c")
    assert "upstream pending: gold_build" in waiting
    assert "changed: code gymline/build/gold.py:_table" in waiting, "the root cause is named from further down too"

    after = home.demo()
    assert after["rebuilt"] == 6, "gold_build of each repository, and nothing after it"
    assert after["data_versions"] == first["data_versions"]


def test_an_accepted_code_change_rebuilds_nothing(home: Home, first: dict[str, Any]) -> None:
    _edit(home, "gymline/crawl/corpus.py", "| Repositories |", "| Count |")
    assert set(home.stale()) == {"repo_corpus"}
    home.run("lineage", "accept", "repo_corpus", "--reason", "only a heading in the metadata")
    assert home.stale() == {}


def test_a_new_commit_in_one_sample_rebuilds_only_its_chain(home: Home, first: dict[str, Any]) -> None:
    _edit(home, "samples/tally-c/README.md", "\n", "\n\nOne more line.\n")
    home.run("plan")
    output = home.run("demo")
    assert "gymline/tally-c" in output
    plan = home.plan()
    assert plan["stale"] == 0
    after = home.demo()
    assert after["rebuilt"] == 0
    assert after["data_versions"] != first["data_versions"]


def test_with_the_store_wiped_all_data_versions_come_back(home: Home, first: dict[str, Any]) -> None:
    before = home.demo()
    shutil.rmtree(home.folder / "store")
    stale = home.stale()
    assert "artifact missing" in str(stale)
    after = home.demo()
    assert after["rebuilt"] > 30
    assert after["data_versions"] == before["data_versions"]


def test_the_projection_comes_back_from_the_event_log(home: Home, first: dict[str, Any]) -> None:
    before = home.plan()
    for file in home.folder.glob("catalog.db*"):
        file.unlink()
    assert {k: v for k, v in home.plan().items() if k != "seconds"} == {
        k: v for k, v in before.items() if k != "seconds"
    }
    assert "events read" in home.run("lineage", "rebuild")
    assert home.stale() == {}
