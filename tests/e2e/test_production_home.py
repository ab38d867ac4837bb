"""The production variant of dagster.yaml, on a real PostgreSQL for Dagster's storage and the catalog."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.assets.conftest import commit, git
from tests.e2e.gymline import CHECKOUT, Home
from tests.postgres import Postgres


def test_the_production_home_plans_materializes_and_settles(tmp_path: Path, postgres: Postgres) -> None:
    home = Home.new(tmp_path / "home")
    shutil.copy(CHECKOUT / "dagster_home" / "dagster.production.yaml", home.folder / "dagster.yaml")
    databases = {"GYMLINE_PG_URL": postgres.new_database(), "GYMLINE_CATALOG_URL": postgres.new_database()}
    origin = tmp_path / "origin"
    shutil.copytree(CHECKOUT / "samples" / "ringbuf-c-lib", origin)
    git(origin, "init", "-q", "-b", "main")
    commit(origin)
    home.run("repo", "add", str(origin), "--name", "lib/ring", **databases)
    stages = ("repository", "locked_commit", "build_markers", "repo_corpus", "source_tree")
    assert "5 rebuilt, 0 failed" in home.run("materialize", "--stale", *stages, **databases)
    assert set(home.stale(**databases)) == {"gold_build"}
    assert "0 rebuilt" in home.run("materialize", "--stale", *stages, **databases)
    assert not list(home.folder.glob("catalog.db*")), "nothing fell back to SQLite"
