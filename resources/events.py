"""Batches become Dagster events, and Dagster events become the catalog's projection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg
from dagster import AssetRecordsFilter, DagsterInstance, EventLogRecord

from gymline.catalog.catalog import Catalog, Event
from gymline.lineage.batch import Made
from gymline.lineage.graph import UNPARTITIONED, Graph, Node
from gymline.lineage.produced import Check
from resources import dagster_tags as tags

_PAGE = 1_000


def materialization(node: Node, made: Made, code_version: str) -> dg.AssetMaterialization:
    """The record of one partition, complete: the projection needs nothing else."""
    produced = made.produced
    return dg.AssetMaterialization(
        asset_key=node.name,
        partition=made.key or None,
        description=produced.reason or None,
        tags={
            tags.DATA_VERSION: made.data_version,
            tags.DATA_VERSION_IS_USER_PROVIDED: "true",
            tags.CODE_VERSION: code_version,
            **{f"{tags.INPUT_DATA_VERSION}{name}": version for name, version in sorted(made.inputs.items())},
            **{f"{tags.INPUT_EVENT_POINTER}{name}": str(event) for name, event in sorted(made.input_events.items())},
            tags.OUTCOME: produced.outcome,
        },
        metadata={
            **{name: _metadata_value(value) for name, value in produced.metadata.items()},
            "outcome": produced.outcome,
            "seconds": round(made.seconds, 3),
            **({"evidence": made.evidence} if made.evidence else {}),
            **({"reason": produced.reason} if produced.reason else {}),
            **({"tokens": produced.tokens, "usd": produced.usd} if produced.tokens or produced.usd else {}),
        },
    )


def check_evaluation(node: Node, key: str, check: Check) -> dg.AssetCheckEvaluation:
    """One check's verdict about one partition."""
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey(node.name),
        check_name=check.name,
        passed=check.passed,
        blocking=check.blocking,
        severity=dg.AssetCheckSeverity.ERROR if check.blocking else dg.AssetCheckSeverity.WARN,
        description=check.description or None,
        metadata={name: dg.MetadataValue.text(str(value)) for name, value in check.metadata.items()},
        partition=key or None,
    )


def observation(source: str, key: str, data_version: str) -> dg.AssetObservation:
    """A source's partition as it was seen."""
    return dg.AssetObservation(asset_key=source, partition=key, tags={tags.DATA_VERSION: data_version})


def whole_observation(source: str, looked_at: int, changed: int) -> dg.AssetObservation:
    """All of a source was seen; partitions without an event of their own were unchanged."""
    return dg.AssetObservation(
        asset_key=source, tags={tags.WHOLE_SOURCE: "true"}, metadata={"looked_at": looked_at, "changed": changed}
    )


def project(instance: DagsterInstance, catalog: Catalog, graph: Graph) -> int:
    """Advances the projection to the end of the event log; returns how many events it took in."""
    taken = 0
    cursors = catalog.cursors()
    last = _last_event_ids(instance, graph)
    for name in graph.order:
        cursor = cursors.get(name, (0, 0.0))[0]
        # An id that went back means that the asset was wiped: what we projected no longer exists.
        if cursor > last.get(name, 0):
            catalog.forget_projection(name)
            cursor = 0
        if cursor < last.get(name, 0):
            for events in _pages(instance, graph.nodes[name], cursor):
                catalog.apply(name, events)
                taken += len(events)
    return taken


def _last_event_ids(instance: DagsterInstance, graph: Graph) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, node in graph.nodes.items():
        fetch = instance.fetch_observations if node.is_source else instance.fetch_materializations
        for record in fetch(dg.AssetKey(name), limit=1).records:
            found[name] = record.storage_id
    return found


def _pages(instance: DagsterInstance, node: Node, cursor: int) -> Iterator[list[Event]]:
    fetch = instance.fetch_observations if node.is_source else instance.fetch_materializations
    while True:
        records = fetch(
            AssetRecordsFilter(asset_key=dg.AssetKey(node.name), after_storage_id=cursor), limit=_PAGE, ascending=True
        ).records
        if not records:
            return
        yield [_event(node, record) for record in records]
        cursor = records[-1].storage_id


def _event(node: Node, record: EventLogRecord) -> Event:
    what = record.asset_observation if node.is_source else record.asset_materialization
    assert what is not None, "fetched by event type"
    found: Mapping[str, str] = what.tags or {}
    return Event(
        asset=node.name,
        partition=record.partition_key or UNPARTITIONED,
        event_id=record.storage_id,
        run_id=record.run_id,
        recorded_at=record.timestamp,
        data_version=found.get(tags.DATA_VERSION, ""),
        code_version=found.get(tags.CODE_VERSION, ""),
        inputs={
            name.removeprefix(tags.INPUT_DATA_VERSION): version
            for name, version in found.items()
            if name.startswith(tags.INPUT_DATA_VERSION)
        },
        outcome=found.get(tags.OUTCOME, "built"),
        reason=what.description or "",
        evidence=_text(what.metadata, "evidence"),
        seconds=float(_number(what.metadata, "seconds")),
        tokens=int(_number(what.metadata, "tokens")),
        usd=float(_number(what.metadata, "usd")),
        whole_source=tags.WHOLE_SOURCE in found,
    )


def _number(metadata: Mapping[str, Any], name: str) -> float:
    value = metadata.get(name)
    return float(value.value) if value is not None else 0.0


def _text(metadata: Mapping[str, Any], name: str) -> str:
    value = metadata.get(name)
    return str(value.value) if value is not None else ""


def _metadata_value(value: Any) -> Any:
    """Markdown tables are shown as such; anything else Dagster understands by itself."""
    return dg.MetadataValue.md(value) if isinstance(value, str) and value.lstrip().startswith("|") else value
