"""Claims about the program chain under Dagster: what is recorded, what comes back, what stops cleanly."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from dagster import AssetKey, DagsterRunStatus, RunsFilter, build_schedule_context, build_sensor_context

from gymline.errors import LineageError
from gymline.lineage.batch import Failed
from resources import dagster_tags as tags
from resources.runs import reap_dead_runs, this_process
from sensors.lineage import lineage
from sensors.nightly import nightly
from tests.assets.conftest import CHECKOUT, World, commit

LIBRARY = "lib/ring"
BEFORE_GOLD = ("repository", "locked_commit", "build_markers", "repo_corpus", "source_tree")


def _take_sandbox_away(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """A PATH with git and nothing that could isolate anything."""
    folder.mkdir()
    for name in ("git", "sh", "env", "rm"):
        (folder / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(folder))


@pytest.fixture
def without_sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _take_sandbox_away(monkeypatch, tmp_path / "bin")


def _tick(world: World) -> Any:
    return nightly(
        build_schedule_context(
            instance=world.instance,
            resources={"workspace": world.workspace},
            scheduled_execution_time=datetime(2026, 1, 1, 2, 0, tzinfo=UTC),
        )
    )


def test_without_a_sandbox_what_runs_untrusted_code_refuses_and_says_what_to_install(
    world: World, without_sandbox: None
) -> None:
    world.add(LIBRARY, "ringbuf-c-lib")
    tally = world.materialize()
    assert {asset for asset, _ in tally.rebuilt} == set(BEFORE_GOLD)
    ((failed, reason),) = tally.failed.items()
    assert failed == ("gold_build", LIBRARY)
    assert "SandboxUnavailable" in reason
    assert "bubblewrap" in reason
    assert world.stale() == {"gold_build": [LIBRARY]}, "an infrastructure failure is no outcome"


def test_every_stage_that_runs_untrusted_code_refuses_without_a_sandbox(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    world.add("made/tally", "tally-c")
    assert not world.materialize().failed
    _take_sandbox_away(monkeypatch, tmp_path / "bin")
    before = world.plan().assets
    for asset in ("gold_build", "test_suite", "program_environment"):
        failed = world.build(asset, "made/tally").failed
        assert "apt-get install bubblewrap" in failed[asset, "made/tally"]
        assert before[asset].fresh == 1, "what was made before stays"


def test_an_infrastructure_failure_comes_back_the_next_night_and_a_refusal_does_not(
    world: World, without_sandbox: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add(LIBRARY, "ringbuf-c-lib")
    world.materialize()
    tick = _tick(world)
    assert tick.run_config == {"ops": {"gold_build": {"config": {"keys": [LIBRARY]}}}}

    monkeypatch.setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    assert not world.materialize().failed
    gold = world.plan().assets["gold_build"]
    assert (gold.fresh, gold.refused) == (1, 1)
    assert _tick(world).skip_message == "nothing is stale"


def test_keys_that_a_run_is_already_making_are_left_out_of_the_night(world: World) -> None:
    world.add("lib/one", "ringbuf-c-lib")
    world.add("lib/two", "ringbuf-c-lib")
    world.observe()
    assert _tick(world).run_config["ops"]["repository"]["config"]["keys"] == ["lib/one", "lib/two"]
    _pretend_run(world, "repository", "lib/one")
    assert _tick(world).run_config["ops"]["repository"]["config"]["keys"] == ["lib/two"]


def test_a_campaign_tries_no_key_twice_and_then_says_it_is_complete(world: World, without_sandbox: None) -> None:
    world.add(LIBRARY, "ringbuf-c-lib")
    world.materialize(*BEFORE_GOLD)
    run = _pretend_run(world, "gold_build", LIBRARY, **{tags.LINEAGE: "nightly", tags.CAMPAIGN: "nightly:1"})
    context = build_sensor_context(instance=world.instance, resources={"workspace": world.workspace})
    assert "is not done" in lineage(context).skip_message
    world.instance.report_run_failed(world.instance.get_run_by_id(run))
    assert "complete" in lineage(context).skip_message
    assert world.stale() == {"gold_build": [LIBRARY]}
    again = build_sensor_context(
        instance=world.instance, resources={"workspace": world.workspace}, cursor=context.cursor
    )
    assert lineage(again).skip_message == "nightly:1 is complete"


def _pretend_run(world: World, asset: str, key: str, **run_tags: str) -> str:
    """A run that was launched and is going: what the plan sees of it is its config, tags and status."""
    from definitions import defs

    run = world.instance.create_run_for_job(
        defs.resolve_implicit_global_asset_job_def(),
        run_config={"ops": {asset: {"config": {"keys": [key]}}}},
        asset_selection=frozenset({AssetKey(asset)}),
        tags=run_tags,
        status=DagsterRunStatus.STARTED,
    )
    return run.run_id


def test_a_new_commit_is_named_as_the_cause(world: World) -> None:
    origin = world.add(LIBRARY, "ringbuf-c-lib")
    world.materialize(*BEFORE_GOLD)
    (origin / "NOTE").write_text("changed\n")
    commit(origin)
    assert world.stale() == {"gold_build": [LIBRARY]}, "what was not looked at is not known"
    world.observe()
    plan = world.plan().assets["locked_commit"]
    assert sorted(plan.stale) == [LIBRARY]
    assert [(r.kind, r.subject) for r in plan.stale[LIBRARY]] == [("input changed", "mirror_head")]


def test_building_by_hand_before_its_input_names_what_to_build(world: World) -> None:
    world.add(LIBRARY, "ringbuf-c-lib")
    world.observe()
    tally = world.build("locked_commit", LIBRARY)
    assert "its input 'repository' has not been built" in tally.failed["locked_commit", LIBRARY]
    assert not tally.rebuilt


def test_an_asset_can_read_only_what_it_declares(world: World) -> None:
    from assets import graph
    from gymline.lineage.work import Work

    work = Work(graph().nodes["build_markers"], LIBRARY, world.workspace.store(), world.folder / "s", {}, {})
    for read in (work.json, work.folder, work.each):
        with pytest.raises(LineageError, match="without declaring it"):
            read("repository")


def test_a_damaged_artifact_is_a_typed_error_and_is_rebuilt(world: World) -> None:
    world.add(LIBRARY, "ringbuf-c-lib")
    world.materialize(*BEFORE_GOLD)
    catalog = world.workspace.catalog()
    version = catalog.records(["source_tree"])["source_tree"][LIBRARY].data_version
    catalog.dispose()
    objects = Path(os.environ["DAGSTER_HOME"]) / "store" / "trees" / version[:2] / version
    objects.chmod(0o644)
    objects.write_bytes(b"{}")
    tally = world.build("gold_build", LIBRARY)
    assert "ArtifactDamaged" in tally.failed["gold_build", LIBRARY]
    assert [r.kind for r in world.plan().assets["source_tree"].stale[LIBRARY]] == ["artifact missing"]
    assert ("source_tree", LIBRARY) in world.materialize("source_tree").rebuilt
    assert world.stale() == {"gold_build": [LIBRARY]}


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_process_stopped_in_the_middle_leaves_a_record_the_next_run_continues_from(
    world: World, how: signal.Signals
) -> None:
    for number in range(3):
        world.add(f"lib/n{number}", "ringbuf-c-lib")
    child = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", "import cli; cli.main()", "materialize", "--stale"],
        cwd=CHECKOUT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while not _going(world, "gold_build") and time.monotonic() < deadline:
        time.sleep(0.2)
    child.send_signal(how)
    status = child.wait(60)
    if how is signal.SIGKILL:
        assert len(_in_progress(world)) == 1
        assert len(reap_dead_runs(world.instance)) == 1
    else:
        assert status == 130
    assert not _in_progress(world)
    before = world.stale()["gold_build"]
    assert before, "it was killed before all were made"
    tally = world.materialize()
    assert not tally.failed
    assert sorted(key for asset, key in tally.rebuilt if asset == "gold_build") == before
    assert world.stale() == {}


def _in_progress(world: World) -> list[str]:
    runs = world.instance.get_runs(RunsFilter(statuses=[DagsterRunStatus.STARTED, DagsterRunStatus.STARTING]))
    return [run.run_id for run in runs]


def _going(world: World, asset: str) -> bool:
    runs = world.instance.get_runs(RunsFilter(statuses=[DagsterRunStatus.STARTED]))
    return any(AssetKey(asset) in (run.asset_selection or ()) for run in runs)


def test_a_kill_between_a_gold_build_and_the_set_of_programs_is_made_up_for(world: World) -> None:
    world.add("made/tally", "tally-c")
    world.add(LIBRARY, "ringbuf-c-lib")
    assert not world.materialize(*BEFORE_GOLD, "gold_build").failed
    world.instance.delete_dynamic_partition("programs", "made/tally")
    world.instance.add_dynamic_partitions("programs", [LIBRARY])
    assert world.stale() == {"docs_bundle": ["made/tally"], "test_suite": ["made/tally"]}


def test_a_living_process_is_not_taken_for_dead(world: World) -> None:
    world.add(LIBRARY, "ringbuf-c-lib")
    _pretend_run(world, "repository", LIBRARY, **{tags.PROCESS: this_process()})
    assert reap_dead_runs(world.instance) == []


def test_a_repository_that_left_the_mirror_leaves_the_plan(world: World) -> None:
    world.add("lib/one", "ringbuf-c-lib")
    world.add("lib/two", "ringbuf-c-lib")
    world.materialize(*BEFORE_GOLD)
    world.workspace.mirror().remove("lib/one")
    world.observe()
    assert world.stale() == {"repo_corpus": [""], "gold_build": ["lib/two"]}


def test_a_wiped_asset_is_built_again(world: World) -> None:
    world.add(LIBRARY, "ringbuf-c-lib")
    world.materialize("repository", "locked_commit")
    world.instance.wipe_assets([AssetKey("locked_commit")])
    reasons = world.plan().assets["locked_commit"].stale[LIBRARY]
    assert [r.kind for r in reasons] == ["never built"]


def test_a_failed_blocking_check_withholds_the_record(world: World) -> None:
    from assets import graph
    from gymline.lineage.batch import Batch
    from gymline.lineage.code import CodeManifest
    from gymline.lineage.produced import Check, Produced

    batch = Batch(
        graph(),
        graph().nodes["repo_corpus"],
        {},
        {"repos": []},
        world.workspace.store(),
        CodeManifest({}),
        world.folder / "scratch",
    )
    bad = Produced({"x": 1}, checks=[Check("sound", False, "it is not")])
    advice = Produced({"x": 1}, checks=[Check("nice", False, "could be nicer", blocking=False)])
    (withheld,) = batch.run([""], lambda work: bad, jobs=1)
    (recorded,) = batch.run([""], lambda work: advice, jobs=1)
    assert isinstance(withheld, Failed)
    assert "sound: it is not" in str(withheld.error)
    assert not isinstance(recorded, Failed)
