"""How long a plan takes at the paper's scale, on SQLite and PostgreSQL, beside Dagster's own staleness resolver.

The world (``lineage_world.py``) has the real graph and code; a seeded part of its partitions is recorded by real runs,
the rest is inserted in bulk and must look the same (``lineage_record.py``). Every plan is made in a process of its own
(``lineage_child.py``), as the command line and the sensor make it. Progress goes to stderr, one JSON object to stdout.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

STARTED = time.monotonic()
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import dagster as dg  # noqa: E402

from bench import lineage_record as recording  # noqa: E402
from bench.lineage_change import change, expected_pending, require_room  # noqa: E402
from bench.lineage_world import FAN_IN, World  # noqa: E402
from gymline.errors import GymlineError  # noqa: E402
from gymline.lineage.plan import Layer  # noqa: E402
from resources.events import project  # noqa: E402
from resources.workspace import Workspace  # noqa: E402

SECONDS = {"sqlite": 10.0, "postgresql": 5.0}
PEAK_MB = 1000.0
REPEATS = 3
REPROJECTED = 50


def main() -> int:
    options = _options()
    try:
        world = World(options.repos, options.programs, options.recorded, options.seed, options.files)
        require_room(world, options.changed)
        backends = {name: _measure(name, world, options) for name in options.backends.split(",")}
    except (GymlineError, KeyError) as error:
        print(f"bench/lineage.py: {error}", file=sys.stderr)
        return 2
    faults = [f"{name}: {fault}" for name, each in backends.items() for fault in each.pop("faults")]
    report = {
        "benchmark": "lineage",
        "sizes": {
            "repositories": world.repos,
            "programs": world.programs,
            "partitions": world.size,
            "recorded": world.recorded,
            "changed": options.changed,
            "files_a_source_tree": world.files,
            "seed": world.seed,
        },
        "targets": {"seconds": SECONDS, "peak_mb": PEAK_MB, "stale": [0, options.changed]},
        "backends": backends,
        "faults": faults,
        "seconds": round(time.monotonic() - STARTED, 1),
        "passed": not faults,
    }
    if not options.json_only:
        _print_table(backends)
    print(json.dumps(report))
    return 0 if report["passed"] else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="A quick look (seconds): bench/lineage.py --repos 60 --programs 10 --recorded 40 --changed 9 "
        "--sample 20 --backends sqlite\nExits 0 only where every target holds, 1 where one is missed, 2 for a wrong "
        "option. PostgreSQL is started privately and must be installed.",
    )
    parser.add_argument("--repos", type=int, default=30_459, help="repositories (default: the paper's 30,459)")
    parser.add_argument("--programs", type=int, default=1_648, help="repositories with a gold executable (1,648)")
    parser.add_argument("--recorded", type=int, default=3_000, help="partitions recorded by real runs (3,000)")
    parser.add_argument("--changed", type=int, default=37, help="things changed before the second plan (37)")
    parser.add_argument("--sample", type=int, default=300, help="recorded partitions the peer judges (300)")
    parser.add_argument("--files", type=int, default=4, help="files a source tree; the plan reads each manifest (4)")
    parser.add_argument("--folder", type=Path, help="where the private homes go, some 2 GB each (the system's temp)")
    parser.add_argument("--seed", type=int, default=1, help="of names, contents and choices (1)")
    parser.add_argument("--backends", default="sqlite,postgresql", help="of Dagster's storage and the catalog")
    parser.add_argument("--json-only", action="store_true", help="no progress and no table, only the JSON object")
    options = parser.parse_args()
    if unknown := set(options.backends.split(",")) - set(SECONDS):
        parser.error(f"--backends: no such back end: {', '.join(sorted(unknown))}; choose from {', '.join(SECONDS)}")
    return options


def _measure(backend: str, world: World, options: argparse.Namespace) -> dict[str, Any]:
    def say(what: str) -> None:
        if not options.json_only:
            print(f"[{time.monotonic() - STARTED:6.1f} s] {backend}: {what}", file=sys.stderr, flush=True)

    found: dict[str, Any] = {}
    with _home(backend, options.folder) as home, dg.DagsterInstance.get() as instance:
        workspace = Workspace.from_environment()
        catalog = workspace.catalog()
        recording.add_partitions(instance, world)
        started = time.monotonic()
        layers = [Layer(n.name, tuple(world.recorded_keys[n.name])) for n in world.partitioned]
        recorded = recording.record(instance, world, layers)
        project(instance, catalog, world.graph)
        seconds = time.monotonic() - started
        say(f"recorded {recorded} partitions in {len(layers)} runs")
        store = type(workspace.store())(home / "store", durable=False)
        started = time.monotonic()
        inserted = recording.insert_rest(instance, world, catalog, store)
        found["bulk"] = {"partitions": inserted, "seconds": round(time.monotonic() - started, 1)}
        say(f"inserted {inserted} in bulk")
        started = time.monotonic()
        recorded += recording.record(instance, world, [Layer(FAN_IN, ("",))])
        project(instance, catalog, world.graph)
        seconds += time.monotonic() - started
        found["recorded"] = {
            "partitions": recorded,
            "seconds": round(seconds, 1),
            "partitions_a_second": round(recorded / seconds, 1),
        }
        found["bulk"]["shapes_equal_to_recorded"] = recording.require_same_shape(catalog.url, world)
        found["bulk"]["projected_anew_and_equal"] = recording.require_same_projection(
            instance, world, catalog, REPROJECTED
        )
        expected = recording.observe_whole(instance, world)
        taken = project(instance, catalog, world.graph)
        found["faults"] = [] if taken == expected else [f"the projection took {taken} events where {expected} were new"]
        say("bulk rows are equal in shape; planning with nothing changed")
        unchanged = _plans(home, {}, set(), world.size, SECONDS[backend], found["faults"])
        say(f"plan: {unchanged['seconds']} s, {unchanged['peak_mb']} MB; the floor and Dagster's resolver")
        floor = _child("floor", {})
        peer = _child("peer", {"sample": _sample(world, options)})
        stale = change(instance, world, catalog, home / "store", options.changed)
        say(f"changed {len(stale)}; planning")
        pending = expected_pending(world, stale)
        changed = _plans(
            home, stale, pending, world.size - len(stale) - len(pending), SECONDS[backend], found["faults"]
        )
        say(f"plan: {changed['seconds']} s, {changed['peak_mb']} MB, {changed['stale']} stale")
        catalog.dispose()
    buildable = sum(len(world.keys_of(node)) for node in world.partitioned if not node.is_source) + 1
    peer["all_partitions_extrapolated_seconds"] = round(peer["seconds_a_partition"] * buildable, 1)
    found |= {"nothing_changed": unchanged, "changed": changed, "floor": floor, "peer": peer}
    found["ratios"] = {
        "plan_to_floor": round(unchanged["seconds"] / floor["seconds"], 2),
        "changed_to_unchanged": round(changed["seconds"] / unchanged["seconds"], 2),
        "peer_extrapolated_to_plan": round(peer["all_partitions_extrapolated_seconds"] / unchanged["seconds"], 1),
    }
    return found


@contextmanager
def _home(backend: str, parent: Path | None) -> Iterator[Path]:
    """A Dagster home of its own with everything below it; the environment names it while it lives."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="gymline-bench-", dir=parent, ignore_cleanup_errors=True) as folder:
        home = Path(folder) / "home"
        home.mkdir()
        os.environ |= {"DAGSTER_HOME": str(home), "GYMLINE_STORE_URL": str(home / "store"), "GYMLINE_MIRROR": ""}
        os.environ["GYMLINE_CATALOG_URL"] = f"sqlite:///{home}/catalog.db"
        settings = "telemetry:\n  enabled: false\n"
        try:
            if backend == "postgresql":
                from tests.postgres import running

                settings += "storage:\n  postgres:\n    postgres_url:\n      env: GYMLINE_PG_URL\n"
                (home / "dagster.yaml").write_text(settings)
                with running(Path(folder)) as server:
                    os.environ["GYMLINE_PG_URL"] = server.new_database()
                    os.environ["GYMLINE_CATALOG_URL"] = server.new_database()
                    yield home
            else:
                (home / "dagster.yaml").write_text(settings)
                yield home
        finally:
            os.environ.clear()
            os.environ.update(before)


def _plans(
    home: Path,
    stale: dict[tuple[str, str], str],
    pending: set[tuple[str, str]],
    fresh: int,
    limit: float,
    faults: list[str],
) -> dict[str, Any]:
    """Plans ``REPEATS`` times, each in a fresh process; the median time, the largest memory, what was planned."""
    runs = [_child("plan", {}) for _ in range(REPEATS)]
    made = runs[-1]
    seconds, peak = statistics.median(r["seconds"] for r in runs), max(r["peak_mb"] for r in runs)
    planned = {(asset, key): kinds for asset, key, kinds in made["stale"]}
    if planned != {pair: [kind] for pair, kind in stale.items()}:
        odd = [f"{pair}: {planned.get(pair)}" for pair in {*planned, *stale} if planned.get(pair) != [stale.get(pair)]]
        odd = sorted(odd)[:5]
        faults.append(f"stale: {len(planned)} planned, {len(stale)} expected; first differences {odd}")
    if {(asset, key) for asset, key in made["pending"]} != pending:
        faults.append(f"pending: {len(made['pending'])} planned, {len(pending)} expected")
    if (made["fresh"], made["blocked"]) != (fresh, 0):
        faults.append(f"fresh {made['fresh']} (expected {fresh}), blocked {made['blocked']} (expected 0)")
    if seconds > limit:
        faults.append(f"a plan took {seconds:.2f} s, target {limit} s")
    if peak > PEAK_MB:
        faults.append(f"a plan took {peak:.0f} MB, target {PEAK_MB:.0f} MB")
    return {
        "seconds": seconds,
        "each": [r["seconds"] for r in runs],
        "process_seconds": statistics.median(r["process_seconds"] for r in runs),
        "peak_mb": peak,
        "fresh": made["fresh"],
        "stale": len(planned),
        "pending": len(made["pending"]),
        "reasons": dict(sorted(Counter(kind for kinds in planned.values() for kind in kinds).items())),
    }


def _sample(world: World, options: argparse.Namespace) -> list[tuple[str, str]]:
    recorded = [
        (node.name, key) for node in world.partitioned if not node.is_source for key in world.recorded_keys[node.name]
    ]
    return random.Random(world.seed + 3).sample(recorded, min(options.sample, len(recorded)))


def _child(role: str, asked: dict[str, Any]) -> dict[str, Any]:
    """What a fresh ``lineage_child.py`` measured."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", ROOT / "bench" / "lineage_child.py", role],
        input=json.dumps(asked), capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"the {role} process failed:\n{done.stderr[-4000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def _print_table(backends: dict[str, dict[str, Any]]) -> None:
    for name, each in backends.items():
        plan, changed, ratios = each["nothing_changed"], each["changed"], each["ratios"]
        print(
            f"{name}: nothing changed {plan['seconds']:.2f} s, {plan['peak_mb']:.0f} MB; "
            f"{changed['stale']} changed {changed['seconds']:.2f} s, {changed['peak_mb']:.0f} MB; "
            f"{ratios['plan_to_floor']:.1f} x the floor (rows and listing {each['floor']['seconds']:.2f} s); "
            f"Dagster's resolver, extrapolated from {each['peer']['sampled']}: "
            f"{each['peer']['all_partitions_extrapolated_seconds']:.0f} s, "
            f"{ratios['peer_extrapolated_to_plan']:.0f} x ours"
        )


if __name__ == "__main__":
    sys.exit(main())
