"""The lineage sensor: when a campaign's run has ended, it requests the next layer, until nothing is stale."""

from __future__ import annotations

import dagster as dg

from assets import graph
from resources.planning import current_plan
from resources.runs import campaign_runs, in_flight, keys_of, latest_campaign, layer_run_request, reap_dead_runs
from resources.workspace import Workspace
from sensors.nightly import ASKERS


@dg.sensor(
    asset_selection=dg.AssetSelection.all(),
    name="lineage",
    minimum_interval_seconds=5,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Carries a nightly campaign on: after each run it plans again and requests the next stale layer. "
    "Within one campaign no partition is tried twice; what failed waits for the next night.",
)
def lineage(
    context: dg.SensorEvaluationContext, workspace: dg.ResourceParam[Workspace]
) -> dg.RunRequest | dg.SkipReason:
    instance = context.instance
    reap_dead_runs(instance)
    campaign = latest_campaign(instance, ASKERS)
    if campaign is None:
        return dg.SkipReason("no campaign has been started yet")
    # A tick must cost nothing once there is nothing to do: planning takes seconds on a large corpus.
    if context.cursor == campaign:
        return dg.SkipReason(f"{campaign} is complete")
    runs = campaign_runs(instance, campaign)
    going = [run.run_id for run in runs if not run.is_finished]
    if going:
        return dg.SkipReason(f"run {going[0]} of {campaign} is not done")
    tried = {pair for run in runs for pair in keys_of(run)}
    layer = current_plan(instance, workspace, graph()).next_layer(without=tried | in_flight(instance))
    if layer is None:
        context.update_cursor(campaign)
        return dg.SkipReason(f"{campaign} is complete: nothing is stale that it has not tried")
    return layer_run_request(layer, run_key=f"{campaign}#{len(runs)}", campaign=campaign, asked_by=ASKERS[1])
