"""The one Dagster code location: puts assets, resources, schedules and sensors together, nothing else."""

from __future__ import annotations

import dagster as dg

from assets import definitions
from resources.workspace import Workspace
from sensors.lineage import lineage
from sensors.nightly import nightly

defs = dg.Definitions(
    assets=definitions(),
    schedules=[nightly],
    sensors=[lineage],
    resources={"workspace": Workspace.from_environment()},
    # One asset a run is the rule; where a person picks a chain, priorities order its steps within one process.
    executor=dg.in_process_executor,
)
