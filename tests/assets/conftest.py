"""A home of its own in this process: a real Dagster instance, store, catalog and mirror."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from dagster import DagsterInstance

from assets import graph
from cli.execute import Tally, execute_layer, new_campaign, observe, shown, until_nothing_is_stale
from gymline.lineage.plan import Layer, Plan
from resources.planning import current_plan
from resources.workspace import Workspace

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class World:
    """What a test acts on. The methods are what the command line does."""

    folder: Path
    instance: DagsterInstance
    workspace: Workspace

    def add(self, name: str, sample: str) -> Path:
        """A repository made from a sample, followed by the mirror; returns its work tree."""
        folder = self.folder / "origins" / name
        shutil.copytree(CHECKOUT / "samples" / sample, folder)
        (folder / "NOTE").write_text(f"{name}\n")
        git(folder, "init", "-q", "-b", "main")
        commit(folder)
        self.workspace.mirror().add(str(folder), name)
        return folder

    def plan(self) -> Plan:
        return current_plan(self.instance, self.workspace, graph())

    def stale(self) -> dict[str, list[str]]:
        return {name: sorted(plan.stale) for name, plan in self.plan().assets.items() if plan.stale}

    def observe(self) -> None:
        observe(self.instance, self.workspace, Tally())

    def materialize(self, *assets: str) -> Tally:
        """The sources, then all that is stale of the assets (of all, if none is named)."""
        tally = Tally()
        with shown(tally, quiet=True):
            observe(self.instance, self.workspace, tally)
            until_nothing_is_stale(self.instance, self.workspace, tally, assets=assets or None)
        return tally

    def build(self, asset: str, *keys: str) -> Tally:
        tally = Tally()
        with shown(tally, quiet=True):
            execute_layer(self.instance, Layer(asset, keys), new_campaign(), tally)
        return tally


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True)


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "a commit")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(CHECKOUT / "dagster_home" / "dagster.yaml", home)
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    with DagsterInstance.get() as instance:
        yield World(tmp_path, instance, Workspace.from_environment())
