"""One measurement in a process of its own: a plan, the floor below it, or Dagster's resolver beside it.

``lineage_child.py plan|floor|peer`` reads a JSON object from stdin and prints one; the home is the environment's.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

STARTED = time.monotonic()
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import dagster as dg  # noqa: E402
import sqlalchemy as sa  # noqa: E402

from assets import graph  # noqa: E402
from resources.planning import current_plan  # noqa: E402
from resources.workspace import Workspace  # noqa: E402


def plan(_asked: dict[str, Any]) -> dict[str, Any]:
    with dg.DagsterInstance.get() as instance:
        workspace, started = Workspace.from_environment(), time.monotonic()
        made = current_plan(instance, workspace, graph())
        seconds = time.monotonic() - started
    return {
        "seconds": round(seconds, 3),
        "process_seconds": round(time.monotonic() - STARTED, 3),
        "peak_mb": _peak_mb(),
        "fresh": sum(each.fresh for each in made.assets.values()),
        "blocked": sum(len(each.blocked) for each in made.assets.values()),
        "stale": [(a.asset, key, [r.kind for r in why]) for a in made.assets.values() for key, why in a.stale.items()],
        "pending": [(a.asset, key) for a in made.assets.values() for key in a.pending],
    }


def floor(_asked: dict[str, Any]) -> dict[str, Any]:
    """What no plan can go below: every record row fetched, and the store listed."""
    workspace, started = Workspace.from_environment(), time.monotonic()
    with sa.create_engine(workspace.catalog().url).connect() as connection:
        rows = len(connection.execute(sa.text("SELECT * FROM partition_record")).fetchall())
    objects = len(workspace.store().digests())
    return {"seconds": round(time.monotonic() - started, 3), "rows": rows, "objects": objects, "peak_mb": _peak_mb()}


def peer(asked: dict[str, Any]) -> dict[str, Any]:
    """Dagster's own resolver, over recorded partitions; one resolver for all, so its caches help it."""
    from dagster._core.definitions.data_version import CachingStaleStatusResolver
    from dagster._core.loader import LoadingContextForTest

    from definitions import defs

    asset_graph = defs.resolve_asset_graph()
    with dg.DagsterInstance.get() as instance:
        started = time.monotonic()
        resolver = CachingStaleStatusResolver(instance, asset_graph, LoadingContextForTest(instance))
        found = Counter(resolver.get_status(dg.AssetKey(asset), key).value for asset, key in asked["sample"])
        seconds = time.monotonic() - started
    return {
        "sampled": len(asked["sample"]),
        "statuses": dict(found),
        "seconds": round(seconds, 3),
        "seconds_a_partition": round(seconds / len(asked["sample"]), 5),
        "peak_mb": _peak_mb(),
    }


def _peak_mb() -> float:
    """The largest resident size of this process.

    Not ``ru_maxrss``: that starts at the peak of the process that made us.
    """
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return round(int(peak.split()[1]) * 1024 / 1e6, 1)


if __name__ == "__main__":
    print(json.dumps({"plan": plan, "floor": floor, "peer": peer}[sys.argv[1]](json.load(sys.stdin))))
