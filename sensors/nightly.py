"""The nightly schedule: one run over exactly what is stale now in the first stale layer."""

from __future__ import annotations

import os

import dagster as dg

from assets import graph
from resources.planning import current_plan
from resources.runs import in_flight, layer_run_request
from resources.workspace import Workspace

NIGHTLY = "nightly"

ASSET_JOB = "__ASSET_JOB"
"""Dagster's implicit job over all assets. A job of our own could not hold assets of different partition sets."""


@dg.schedule(
    cron_schedule=os.environ.get("GYMLINE_NIGHTLY_CRON", "0 2 * * *"),
    job_name=ASSET_JOB,
    name=NIGHTLY,
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Plans, and requests the stale keys of the first stale layer in one run. The lineage sensor goes on "
    "from there. Refused partitions are settled outcomes and do not come back; failed ones do.",
)
def nightly(
    context: dg.ScheduleEvaluationContext, workspace: dg.ResourceParam[Workspace]
) -> dg.RunRequest | dg.SkipReason:
    plan = current_plan(context.instance, workspace, graph())
    layer = plan.next_layer(without=in_flight(context.instance))
    if layer is None:
        return dg.SkipReason("nothing is stale" if not plan.stale else "all that is stale is already being made")
    night = context.scheduled_execution_time.strftime("%Y-%m-%dT%H:%M:%S")
    return layer_run_request(layer, run_key=f"{NIGHTLY}:{night}", campaign=f"{NIGHTLY}:{night}", asked_by=NIGHTLY)


ASKERS = (NIGHTLY, "layer")
"""Values of the run tag ``gymline/lineage`` that belong to campaigns the lineage sensor carries on."""
