"""What a hurried user does: wrong names, wrong settings, twice at once. Each is one clear line, never a traceback."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gymline.store import digest_bytes
from tests.assets.conftest import commit, git
from tests.e2e.gymline import CHECKOUT, Home


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp("cli")
    origin = folder / "origin"
    shutil.copytree(CHECKOUT / "samples" / "ringbuf-c-lib", origin)
    git(origin, "init", "-q", "-b", "main")
    commit(origin)
    home = Home.new(folder / "home")
    home.run("repo", "add", str(origin), "--name", "lib/ring")
    home.run("materialize", "--stale", "repository", "repo_corpus", "locked_commit", "build_markers", "source_tree")
    return home


def _refused(output: str) -> str:
    assert "Traceback" not in output
    assert output.strip(), "it says why"
    return output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["plan", "--explain", "nope", "lib/ring"], "no asset of that name"),
        (["plan", "--explain", "gold_build", "no/body"], "has no such key"),
        (["materialize", "nope"], "no asset of that name"),
        (["materialize", "gold_build", "-p", "no/body"], "has no such key"),
        (["materialize", "repo_corpus", "-p", "no/body"], "it has no partitions"),
        (["materialize", "--stale", "-p", "no/body"], "no partition set has it"),
        (["approve", "nope"], "no asset of that name"),
        (["approve", "mirror_head"], "observed, not built"),
        (["lineage", "accept", "mirror_head", "--reason", "x"], "only a built asset"),
        (["lineage", "accept", "repository", "--reason", " "], "with a reason"),
        (["repo", "remove", "no/body"], "none of that name"),
        (["repo", "add", "/nowhere/at/all", "--name", "a/b"], "a/b|nowhere"),
        (["export", "gold_build", "lib/ring", "/tmp/x-out"], "has not been built"),
        (["score", "lib/ring", "/nowhere"], "has no such key"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_name_is_one_line_that_says_what_is_wrong(home: Home, arguments: list[str], says: str) -> None:
    output = _refused(home.run(*arguments, status=1))
    assert any(words in output for words in says.split("|"))


@pytest.mark.parametrize(
    "environment",
    [
        {"GYMLINE_JOBS": "abc"},
        {"GYMLINE_JOBS": "²"},
        {"GYMLINE_BUILD_JOBS": "many"},
        {"GYMLINE_CATALOG_URL": "nosuchdatabase://x"},
        {"GYMLINE_STORE_URL": "nosuchscheme://x"},
        {"DAGSTER_HOME": "/proc/nowhere"},
    ],
    ids=lambda value: ",".join(value),
)
def test_a_wrong_setting_is_one_line(home: Home, environment: dict[str, str]) -> None:
    _refused(home.run("plan", status=1, **environment))


def test_an_export_never_overwrites(home: Home, tmp_path: Path) -> None:
    target = tmp_path / "corpus.json"
    home.run("export", "repo_corpus", "-", str(target))
    before = target.read_bytes()
    assert b"lib/ring" in before
    assert "it exists" in _refused(home.run("export", "repo_corpus", "-", str(target), status=1))
    assert target.read_bytes() == before


def test_commands_that_start_at_once_in_a_new_home_all_work(tmp_path: Path) -> None:
    home = Home.new(tmp_path / "home")
    with ThreadPoolExecutor(4) as pool:
        for output in pool.map(lambda _: home.run("plan"), range(4)):
            assert "repo_corpus" in output


def test_a_damaged_catalog_says_that_it_may_be_deleted(home: Home, tmp_path: Path) -> None:
    copy = tmp_path / "home"
    shutil.copytree(home.folder, copy)
    for file in copy.glob("catalog.db*"):
        file.unlink()
    (copy / "catalog.db").write_bytes(b"garbage" * 1000)
    assert "may be deleted" in _refused(Home(copy).run("plan", status=1))
    (copy / "catalog.db").unlink()
    assert Home(copy).stale() == home.stale()


def test_verify_finds_a_damaged_blob_and_the_plan_rebuilds_what_holds_it(home: Home, tmp_path: Path) -> None:
    copy = Home(tmp_path / "home")
    shutil.copytree(home.folder, copy.folder)
    assert "all artifacts are whole" in copy.run("verify")
    before = copy.stale()
    digest = digest_bytes((CHECKOUT / "samples" / "ringbuf-c-lib" / "Makefile").read_bytes())
    blob = copy.folder / "store" / "objects" / digest[:2] / digest
    blob.chmod(0o644)
    blob.write_bytes(blob.read_bytes()[:-1])
    assert copy.stale() == before, "a plan reads no blob"
    assert f"damaged: {blob.name}" in copy.run("verify", status=1)
    assert "artifact missing" in str(copy.stale()["source_tree"]["lib/ring"])


def test_help_teaches_every_command(home: Home) -> None:
    for command in ("plan", "materialize", "approve", "demo", "doctor", "export", "score", "repo", "lineage", "verify"):
        assert "Usage:" in home.run(command, "--help")
