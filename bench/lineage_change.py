"""Changes exactly so many things in a recorded world, of every kind the plan tells apart, and knows what follows."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import dagster as dg
import orjson
import sqlalchemy as sa

from bench.lineage_record import RECORDS, record
from bench.lineage_world import FAN_IN, World
from gymline.catalog.catalog import Catalog
from gymline.errors import SettingsError
from gymline.lineage.plan import Layer
from resources.workspace import PROGRAMS, REPOS

KINDS = (
    ("locked_commit", "input changed", "mirror_head"),
    ("repository", "input changed", "mirror_metadata"),
    ("build_markers", "never built", ""),
    ("docs_bundle", "never built", ""),
    ("locked_commit", "artifact missing", ""),
    ("source_tree", "artifact missing", ""),
    ("test_suite", "artifact missing", ""),
    ("gold_build", "code changed", ""),
    ("program_environment", "code changed", ""),
)
"""What is changed, in turn: the asset that becomes stale, the reason, and the source that moves."""


def require_room(world: World, count: int) -> None:
    """Raises ``SettingsError`` where ``count`` changes do not find a repository each."""
    turns = [world.graph.nodes[KINDS[turn % len(KINDS)][0]].partitions for turn in range(count)]
    if turns.count(PROGRAMS) > world.programs or turns.count(REPOS) > world.repos - world.programs:
        raise SettingsError(
            f"{count} changes of {world.repos} repositories and {world.programs} programs",
            "each is of another repository, and a third of them are of programs",
            "Give a smaller --changed, or more --repos and --programs",
        )


def change(
    instance: dg.DagsterInstance, world: World, catalog: Catalog, store_folder: Path, count: int
) -> dict[tuple[str, str], str]:
    """Changes ``count`` things, each of another repository; returns (asset, key) → the one reason it must be stale."""
    dice = random.Random(world.seed + 2)
    program_keys = dice.sample(world.keys[PROGRAMS], len(world.keys[PROGRAMS]))
    other_keys = dice.sample(sorted(set(world.keys[REPOS]) - set(program_keys)), world.repos - world.programs)
    truth = catalog.records()
    expected: dict[tuple[str, str], str] = {}
    moved: dict[tuple[str, str], int] = {}
    with sa.create_engine(catalog.url).begin() as connection:
        for turn in range(count):
            asset, kind, source = KINDS[turn % len(KINDS)]
            key = (program_keys if world.graph.nodes[asset].partitions == PROGRAMS else other_keys).pop()
            expected[asset, key] = kind
            row = (RECORDS.c.asset == asset) & (RECORDS.c.partition == key)
            if kind == "input changed":
                moved[source, key] = 1
            elif kind == "never built":
                connection.execute(sa.delete(RECORDS).where(row))
            elif kind == "code changed":
                connection.execute(sa.update(RECORDS).where(row).values(code_version="0" * 64))
            else:
                _remove(store_folder, truth[asset][key].data_version, whole=turn % 2 == 0)
    sources = sorted({source for source, _ in moved})
    layers = [Layer(source, tuple(sorted(k for s, k in moved if s == source))) for source in sources]
    record(instance, world, layers, head_version=moved)
    return expected


def expected_pending(world: World, stale: Mapping[tuple[str, str], str]) -> set[tuple[str, str]]:
    """Everything below the stale keys, from the graph alone."""
    pending: set[tuple[str, str]] = set()
    for asset, key in stale:
        for name in world.graph.downstream(asset):
            node = world.graph.nodes[name]
            if name == FAN_IN or key in set(world.keys_of(node)):
                pending.add((name, "" if name == FAN_IN else key))
    return pending


def _remove(store_folder: Path, digest: str, *, whole: bool) -> None:
    """Deletes an object; of a tree its manifest, or else one of its files."""
    manifest = store_folder / "trees" / digest[:2] / digest
    if manifest.exists() and not whole:
        blob = next(value for _, kind, value in orjson.loads(manifest.read_bytes())["tree"] if kind in "fx")
        (store_folder / "objects" / blob[:2] / blob).unlink()
    elif manifest.exists():
        manifest.unlink()
    else:
        (store_folder / "objects" / digest[:2] / digest).unlink()
