"""The three ways people use Gymline, against a real webserver and daemon: by hand, by night, by backfill.

One server for the module (it takes a while to start), one story told in order.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from dagster import AssetKey, AssetRecordsFilter, DagsterInstance

from assets import graph
from gymline.lineage.plan import fan_in_manifest, make_plan
from gymline.store import Store, digest_json
from resources.events import observation
from resources.planning import plan_inputs
from resources.workspace import REPOS, Workspace
from tests.e2e.gymline import CHECKOUT, Home
from tests.e2e.server import FINISHED, Server, running, until

LIBRARIES = ("lib/alpha", "lib/beta", "lib/delta", "lib/gamma")
PROGRAM = "gymline/tally-c"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A mirror of one program and four libraries, observed and not built."""
    folder = tmp_path_factory.mktemp("server")
    home = Home.new(folder / "home")
    for name in LIBRARIES:
        _commit(CHECKOUT / "samples" / "ringbuf-c-lib", folder / name.replace("/", "-"), f"made for {name}")
        home.run("repo", "add", str(folder / name.replace("/", "-")), "--name", name)
    _commit(CHECKOUT / "samples" / "tally-c", folder / "tally", "as it is")
    home.run("repo", "add", str(folder / "tally"), "--name", PROGRAM)
    return home


@pytest.fixture(scope="module")
def server(home: Home) -> Iterator[Server]:
    with running(home.folder, GYMLINE_NIGHTLY_CRON="* * * * *") as server:
        server.stop_schedule("nightly")
        yield server


def _commit(sample: Path, folder: Path, note: str) -> None:
    shutil.copytree(sample, folder)
    (folder / "NOTE").write_text(note + "\n")
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *command], check=True)


def _keys(run: dict[str, Any]) -> tuple[str, list[str]]:
    ((asset, op),) = yaml.safe_load(run["runConfigYaml"])["ops"].items()
    return asset, op["config"]["keys"]


def _assert_provenance_is_the_truth(home: Home) -> None:
    """What every settled record says it was made from is what its inputs are, and its code is the code of today."""
    with DagsterInstance.from_config(str(home.folder)) as instance:
        workspace = Workspace(
            store_url=str(home.folder / "store"),
            catalog_url=f"sqlite:///{home.folder / 'catalog.db'}",
            mirror_folder=str(home.folder / "mirror"),
        )
        catalog = workspace.catalog()
        inputs = plan_inputs(instance, workspace, graph(), catalog)
        catalog.dispose()
        plan = make_plan(graph(), inputs)
        looked_at = 0
        for name, node in graph().nodes.items():
            for key, record in inputs.records.get(name, {}).items():
                if node.is_source or plan.assets[name].state(key) != "fresh":
                    continue
                looked_at += 1
                assert record.code_version == inputs.code[name], (name, key)
                for edge in node.inputs:
                    expected = (
                        inputs.records[edge.asset][key].data_version
                        if edge.mapping == "identity"
                        else digest_json(fan_in_manifest(graph(), edge.asset, inputs.records, inputs.partitions))
                    )
                    assert record.inputs[edge.asset] == expected, (name, key, edge.asset)
                tags = instance.get_latest_materialization_event(AssetKey(name)).asset_materialization.tags  # type: ignore[union-attr]
                assert "dagster/data_version" in (tags or {})
        assert looked_at


def test_a_partition_materialized_by_hand_is_recorded_with_its_inputs(home: Home, server: Server) -> None:
    run = server.launch("repository", tags={"dagster/partition": PROGRAM})
    assert server.wait(run) == "SUCCESS"
    assert sorted(home.stale()["repository"]) == sorted(LIBRARIES)
    _assert_provenance_is_the_truth(home)


def test_a_nightly_tick_and_the_sensor_carry_on_until_nothing_is_stale(home: Home, server: Server) -> None:
    before = home.plan()
    first = next(asset for asset in before["assets"] if asset["stale"])
    assert first["asset"] == "repository"

    state = server.ask(
        "mutation($s: ScheduleSelector!) { startSchedule(scheduleSelector: $s) { __typename } }",
        s={"repositoryLocationName": "definitions", "repositoryName": "__repository__", "scheduleName": "nightly"},
    )
    assert state["startSchedule"]["__typename"] == "ScheduleStateResult", state
    nightly = until("the nightly tick", lambda: server.runs(gymline__lineage="nightly") or None, seconds=150)
    server.stop_schedule("nightly")
    assert len(nightly) == 1
    assert _keys(nightly[0]) == ("repository", sorted(first["stale"])), "exactly what was stale, and nothing pending"
    assert not {"dagster/partition", "dagster/asset_partition_range_start"} & {t["key"] for t in nightly[0]["tags"]}

    campaign = next(t["value"] for t in nightly[0]["tags"] if t["key"] == "gymline/campaign")
    until("the end of the campaign", lambda: True if home.plan()["stale"] == 0 else None, seconds=600, every=5)
    runs = server.runs(gymline__campaign=campaign)
    order = [_keys(run)[0] for run in runs]
    assert order == sorted(order, key=graph().order.index), "one layer a run, inputs first"
    assert len(order) == len(set(order))
    assert {run["status"] for run in runs} == {"SUCCESS"}
    assert {run["runId"] for run in runs} & {nightly[0]["runId"]}
    plan = home.plan()
    assert (plan["stale"], plan["pending"]) == (0, 0)
    gold = next(a for a in plan["assets"] if a["asset"] == "gold_build")
    assert (gold["fresh"], gold["refused"]) == (5, 4)
    assert next(a for a in plan["assets"] if a["asset"] == "program_environment")["fresh"] == 1
    _assert_provenance_is_the_truth(home)


def test_the_next_night_does_not_retry_what_was_refused(home: Home, server: Server) -> None:
    tick = server.dry_run_schedule("nightly")
    assert tick["error"] is None
    assert not tick["runRequests"]
    assert tick["skipReason"] == "nothing is stale"


def test_a_range_backfill_is_one_run_and_records_each_partition(home: Home, server: Server) -> None:
    backfill = server.backfill("locked_commit", list(LIBRARIES))
    runs = until(
        "the backfill's run",
        lambda: [r for r in server.runs(dagster__backfill=backfill) if r["status"] in FINISHED] or None,
    )
    assert [run["status"] for run in runs] == ["SUCCESS"]
    assert home.plan()["stale"] == 0, "rebuilt with equal content: nothing after it is stale"
    _assert_provenance_is_the_truth(home)


def test_of_200_scattered_keys_one_failure_costs_no_other(home: Home, server: Server) -> None:
    """Records of a source for keys that no mirror has are enough: the asset reads only what was observed."""
    keys = [f"bulk/r{number:03}" for number in range(400)]
    store = Store(home.folder / "store")
    broken = keys[200]
    with DagsterInstance.from_config(str(home.folder)) as instance:
        instance.add_dynamic_partitions(REPOS, keys)
        for key in keys:
            content = {"name": key, "default_branch": "main", "language": "C", "licence": "MIT"}
            event = observation("mirror_metadata", key, store.put_json(content))
            instance.report_runless_asset_event(event)
    digest = digest_json({"name": broken, "default_branch": "main", "language": "C", "licence": "MIT"})
    damaged = home.folder / "store" / "objects" / digest[:2] / digest
    damaged.chmod(0o644)
    damaged.write_bytes(b"not what it was")

    scattered = keys[::2]
    run = server.launch("repository", tags={}, run_config={"ops": {"repository": {"config": {"keys": scattered}}}})
    assert server.wait(run) == "FAILURE"
    explained = home.run("plan", "--explain", "repository", broken)
    assert "stale" in explained or "pending" in explained
    stale = {key for key in home.stale().get("repository", {}) if key.startswith("bulk/")}
    pending = {k for a in home.plan()["assets"] if a["asset"] == "repository" for k in a["pending"]}
    assert (stale | pending) & set(scattered) == {broken}
    assert set(keys[1::2]) <= stale
    with DagsterInstance.from_config(str(home.folder)) as instance:
        found = instance.fetch_materializations(
            AssetRecordsFilter(AssetKey("repository"), asset_partitions=scattered), limit=500
        ).records
    assert sorted(r.partition_key or "" for r in found) == sorted(set(scattered) - {broken})
    for record in found:
        content = {"name": record.partition_key, "default_branch": "main", "language": "C", "licence": "MIT"}
        tags = record.asset_materialization.tags if record.asset_materialization else {}
        assert (tags or {})["dagster/input_data_version/mirror_metadata"] == digest_json(content)
    _assert_provenance_is_the_truth(home)
