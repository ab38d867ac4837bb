"""Dagster runs as the plan sees them: which keys a run is about, which are under way, which process is dead."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from typing import Any

import dagster as dg
from dagster import DagsterInstance, DagsterRun, RunsFilter
from dagster._core.storage.dagster_run import IN_PROGRESS_RUN_STATUSES

from gymline.lineage.plan import Layer
from gymline.sandbox.labels import start_time
from resources import dagster_tags as tags


def layer_run_config(layer: Layer) -> dict[str, Any]:
    """Op config that makes a run work on exactly the layer's keys.

    No partition tags: every backfill policy would split scattered keys into contiguous ranges.
    """
    return {"ops": {layer.asset: {"config": {"keys": list(layer.keys)}}}}


def layer_run_request(layer: Layer, *, run_key: str, campaign: str, asked_by: str) -> dg.RunRequest:
    """The request for one layer as one run."""
    return dg.RunRequest(
        run_key=run_key,
        asset_selection=[dg.AssetKey(layer.asset)],
        run_config=layer_run_config(layer),
        tags={tags.LINEAGE: asked_by, tags.CAMPAIGN: campaign, "gymline/keys": str(len(layer.keys))},
    )


def keys_of(run: DagsterRun) -> set[tuple[str, str]]:
    """The (asset, key) pairs a run is about: its exact key list, or its partition, or the ends of its range."""
    pairs = {
        (name, key)
        for name, op in run.run_config.get("ops", {}).items()
        for key in op.get("config", {}).get("keys", [])
    }
    for tag in (tags.PARTITION, tags.RANGE_START, tags.RANGE_END):
        if tag in run.tags:
            pairs |= {(key.to_user_string(), run.tags[tag]) for key in run.asset_selection or ()}
    return pairs


def in_flight(instance: DagsterInstance) -> set[tuple[str, str]]:
    """(asset, key) pairs of runs that are queued or going."""
    runs = instance.get_runs(RunsFilter(statuses=IN_PROGRESS_RUN_STATUSES))
    return {pair for run in runs for pair in keys_of(run)}


def campaign_runs(instance: DagsterInstance, campaign: str) -> list[DagsterRun]:
    """The runs of a campaign, newest first."""
    return list(instance.get_runs(RunsFilter(tags={tags.CAMPAIGN: campaign})))


def latest_campaign(instance: DagsterInstance, askers: Iterable[str]) -> str | None:
    """The campaign of the newest run that one of ``askers`` asked for."""
    found = instance.get_run_records(RunsFilter(tags={tags.LINEAGE: list(askers)}), limit=1)
    return found[0].dagster_run.tags.get(tags.CAMPAIGN) if found else None


def this_process() -> str:
    """Names this process so that a later one can tell whether it still lives."""
    return f"{socket.gethostname()}:{os.getpid()}:{start_time(os.getpid())}"


def reap_dead_runs(instance: DagsterInstance) -> list[str]:
    """Marks runs as failed whose command-line process on this host was killed; returns their ids."""
    dead: list[str] = []
    for run in instance.get_runs(RunsFilter(statuses=IN_PROGRESS_RUN_STATUSES)):
        host, _, rest = run.tags.get(tags.PROCESS, "").partition(":")
        pid, _, ticks = rest.partition(":")
        if host == socket.gethostname() and pid.isdigit() and start_time(int(pid)) != ticks:
            instance.report_run_failed(
                run, "The process that executed this run was killed; what it had recorded stays."
            )
            dead.append(run.run_id)
    return dead
