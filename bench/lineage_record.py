"""Fills a home with the world's records: some through the real recording path, the rest in bulk.

In bulk, an event is the text of a really recorded one of the same asset and outcome with key, versions and event
pointers replaced. So Dagster's log is as full as the catalog, and projecting it anew must give the bulk rows.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import orjson
import sqlalchemy as sa
from dagster._core.storage.event_log import SqlEventLogStorage
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable as EVENTS
from sqlmodel import SQLModel

from bench.lineage_world import FAN_IN, World, write
from gymline.catalog.catalog import Catalog, Event, Record
from gymline.lineage.graph import Node
from gymline.lineage.plan import Layer
from gymline.store import Store
from resources import dagster_tags as tags
from resources.events import project, whole_observation
from resources.runs import layer_run_config

RECORDS: sa.Table = SQLModel.metadata.tables["partition_record"]
_PAGE = 5_000


class ShapeDiffers(AssertionError):
    """What was inserted in bulk does not look like what was recorded."""


def record(instance: dg.DagsterInstance, world: World, layers: Sequence[Layer], **changed: Any) -> int:
    """Makes the layers as the lineage sensor's runs would, in this process; returns how many partitions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        job = world.definitions(**changed).resolve_implicit_global_asset_job_def()
    for layer in layers:
        quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
        job.execute_in_process(
            instance=instance,
            asset_selection=[dg.AssetKey(layer.asset)],
            run_config={**layer_run_config(layer), **quiet},
        )
    return sum(len(layer.keys) for layer in layers)


def add_partitions(instance: dg.DagsterInstance, world: World) -> None:
    for name, keys in world.keys.items():
        for start in range(0, len(keys), _PAGE):
            instance.add_dynamic_partitions(name, list(keys[start : start + _PAGE]))


def insert_rest(instance: dg.DagsterInstance, world: World, catalog: Catalog, store: Store) -> int:
    """Inserts every partition that was not recorded, into store, event log and catalog; returns how many."""
    known: dict[str, dict[str, Record]] = {name: dict(rows) for name, rows in catalog.records().items()}
    inserted = 0
    with tempfile.TemporaryDirectory() as scratch:
        for node in world.partitioned:
            keys = [key for key in world.keys_of(node) if key not in known[node.name]]
            templates = _templates(instance, node, known[node.name])
            made = _bulk_events(instance, node, world, known, keys, templates, store, Path(scratch))
            for page in made:
                catalog.apply(node.name, page)
                inserted += len(page)
                known[node.name].update((e.partition, _as_record(e)) for e in page)
    _settle(instance, catalog)
    return inserted


@dataclass(frozen=True)
class _Template:
    """A really recorded partition: its row in the catalog, and its row in the event log."""

    record: Record
    row: Mapping[str, Any]


def _templates(instance: dg.DagsterInstance, node: Node, recorded: Mapping[str, Record]) -> dict[str, _Template]:
    by_outcome = {record.outcome: record for record in recorded.values()}
    with _log(instance).index_connection() as connection:
        found = {
            outcome: connection.execute(sa.select(EVENTS).where(EVENTS.c.id == record.event_id)).mappings().one()
            for outcome, record in by_outcome.items()
        }
    return {outcome: _Template(by_outcome[outcome], dict(row)) for outcome, row in found.items()}


def _bulk_events(
    instance: dg.DagsterInstance,
    node: Node,
    world: World,
    known: Mapping[str, Mapping[str, Record]],
    keys: Sequence[str],
    templates: Mapping[str, _Template],
    store: Store,
    scratch: Path,
) -> Iterator[list[Event]]:
    """Puts the contents, writes the events to Dagster's log, and yields them as the projection would read them."""
    log = _log(instance)
    with log.index_connection() as connection:
        next_id = connection.execute(sa.select(sa.func.max(EVENTS.c.id))).scalar_one() + 1
    for start in range(0, len(keys), _PAGE):
        rows: list[dict[str, Any]] = []
        events: list[Event] = []
        for event_id, key in enumerate(keys[start : start + _PAGE], next_id + start):
            content = world.content(node.name, key)
            outcome, reason = ("refused", content["refused"]) if "refused" in content else ("built", "")
            template = templates[outcome]
            inputs = {edge.asset: known[edge.asset][key] for edge in node.inputs}
            version = _put(store, content, scratch / node.name)
            rows.append({
                **template.row,
                "id": event_id,
                "partition": key,
                "event": _rewritten(template, key, version, reason, inputs, known),
            })  # fmt: skip
            events.append(
                Event(
                    asset=node.name,
                    partition=key,
                    event_id=event_id,
                    run_id=template.row["run_id"],
                    recorded_at=template.record.recorded_at,
                    data_version=version,
                    code_version=template.record.code_version,
                    inputs={name: each.data_version for name, each in inputs.items()},
                    outcome=outcome,
                    reason=reason,
                    seconds=0.001,
                )
            )
        with log.index_connection() as connection:
            connection.execute(sa.insert(EVENTS), rows)
        yield events


def _rewritten(
    template: _Template,
    key: str,
    version: str,
    reason: str,
    inputs: Mapping[str, Record],
    known: Mapping[str, Mapping[str, Record]],
) -> str:
    """The template's event as text, about another key. Every replacement must meet something, or the shape changed."""
    old, text = template.record, str(template.row["event"])
    pairs = [(old.partition, key), (old.data_version, version)]
    if reason:
        pairs.append((old.reason, reason))
    for name, each in inputs.items():
        pointer = f'"{tags.INPUT_EVENT_POINTER}{name}": "'
        before = known[name][old.partition].event_id
        pairs.append((f'{pointer}{before}"', f'{pointer}{each.event_id}"'))
        tag = f'"{tags.INPUT_DATA_VERSION}{name}": "'
        pairs.append((f'{tag}{old.inputs[name]}"', f'{tag}{each.data_version}"'))
    for before, after in pairs:
        if before not in text:
            raise ShapeDiffers(f"the event {old.event_id} of {old.partition} does not mention {before!r}")
        text = text.replace(before, after)
    return text


def _put(store: Store, content: Mapping[str, Any], folder: Path) -> str:
    """Stores the content as a batch would: a tree's folder is reused, for all of an asset have the same file names."""
    return store.put_tree(write(content["files"], folder)) if "files" in content else store.put_json(content)


def _as_record(event: Event) -> Record:
    return Record(
        event.partition, event.event_id, event.data_version, event.code_version, event.inputs or {}, event.outcome,
        event.reason, event.evidence, event.recorded_at,
    )  # fmt: skip


def _log(instance: dg.DagsterInstance) -> SqlEventLogStorage:
    storage = instance.event_log_storage
    assert isinstance(storage, SqlEventLogStorage), "both back ends are SQL"
    return storage


def _settle(instance: dg.DagsterInstance, catalog: Catalog) -> None:
    """What autovacuum would have done in the hours such a log takes to grow; SQLite has no such thing."""
    if not catalog.url.startswith("postgresql"):
        return
    with _log(instance).index_connection() as connection:
        connection.execute(sa.text("SELECT setval('event_logs_id_seq', (SELECT max(id) FROM event_logs))"))
        connection.execute(sa.text("ANALYZE"))
    with sa.create_engine(catalog.url).begin() as connection:
        connection.execute(sa.text("ANALYZE"))


def observe_whole(instance: dg.DagsterInstance, world: World) -> int:
    """Reports that all of every source was just seen, unchanged; returns how many events that took."""
    sources = [node for node in world.graph.nodes.values() if node.is_source]
    for node in sources:
        instance.report_runless_asset_event(whole_observation(node.name, len(world.keys_of(node)), 0))
    return len(sources)


def require_same_shape(url: str, world: World) -> int:
    """Raises ``ShapeDiffers`` unless bulk rows look like recorded ones, column by column; returns distinct shapes."""
    shapes: dict[bool, set[Any]] = {True: set(), False: set()}
    recorded = {name: set(keys) for name, keys in world.recorded_keys.items()}
    columns = [c.name for c in RECORDS.columns]
    with sa.create_engine(url).connect() as connection:
        for row in connection.execute(sa.select(RECORDS)):
            values = dict(zip(columns, row, strict=True))
            if values["asset"] != FAN_IN:
                shapes[values["partition"] in recorded[values["asset"]]].add(_shape(values))
    if odd := shapes[True] ^ shapes[False]:
        raise ShapeDiffers(f"bulk and recorded rows differ in shape: {sorted(map(str, odd))[:4]}")
    return len(shapes[True])


def _shape(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Asset and outcome; of every other column its type, and whether it is empty; of a digest its length."""
    inputs = tuple((name, len(digest)) for name, digest in sorted(orjson.loads(row["inputs"]).items()))
    digests = tuple((name, len(row[name])) for name in ("data_version", "code_version", "evidence", "run_id"))
    rest = tuple((name, type(value).__name__, value == "") for name, value in sorted(row.items()))
    return row["asset"], row["outcome"], inputs, digests, rest


def require_same_projection(instance: dg.DagsterInstance, world: World, catalog: Catalog, last: int) -> int:
    """Projects the ``last`` bulk events of every asset anew, into an empty catalog; returns how many were equal.

    Raises ``ShapeDiffers`` where the projection of a bulk event is not the bulk row.
    """
    truth, equal = catalog.records(), 0
    with tempfile.TemporaryDirectory() as folder:
        anew = Catalog(f"sqlite:///{folder}/catalog.db")
        for name, rows in truth.items():
            ids = sorted(row.event_id for row in rows.values())
            if len(ids) > last:
                seen = Event(name, "", ids[-last - 1], "", 0.0, "", whole_source=True)
                anew.apply(name, [seen])
        project(instance, anew, world.graph)
        for name, rows in anew.records().items():
            for key, row in rows.items():
                if row != truth[name][key]:
                    raise ShapeDiffers(f"{name} {key}: projected {row}, inserted {truth[name][key]}")
                equal += 1
        anew.dispose()
    return equal
