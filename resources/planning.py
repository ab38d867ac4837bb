"""Gathers what the plan needs from Dagster, the catalog, the store and the source files, and makes it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from dagster import DagsterInstance

from gymline.catalog.catalog import Catalog
from gymline.errors import LineageError, StoreError
from gymline.lineage.code import CodeManifest, code_manifest, differences
from gymline.lineage.graph import Graph
from gymline.lineage.plan import Plan, PlanInputs, Reason, Records, fan_in_manifest, make_plan, partition_keys
from gymline.store import Store
from resources.events import project
from resources.workspace import Workspace, add_partitions, partition_sets


def code_manifests(workspace: Workspace, graph: Graph) -> dict[str, CodeManifest]:
    """What every asset's code is now, from the files on disk."""
    return {
        name: code_manifest(node.code, workspace.fingerprints(node.code))
        for name, node in graph.nodes.items()
        if node.code is not None
    }


def plan_inputs(instance: DagsterInstance, workspace: Workspace, graph: Graph, catalog: Catalog) -> PlanInputs:
    """Brings the projection up to date and reads everything the plan compares."""
    # Read before the record: a run adds a key to a set after its event, so every key seen here has its event below.
    sets = partition_sets(instance)
    project(instance, catalog, graph)
    records = catalog.records()
    settle_defined_sets(instance, graph, records, sets)
    return PlanInputs(
        records=records,
        partitions=partition_sets(instance),
        code={name: manifest.version for name, manifest in code_manifests(workspace, graph).items()},
        missing=workspace.store().missing(
            {record.data_version for name in graph.nodes for record in records.get(name, {}).values()}
        ),
        observed_at={name: at for name, (_, at) in catalog.cursors().items()},
        approvals=catalog.approvals(),
        accepted=catalog.accepted_code(),
        costs=catalog.costs(),
        now=time.time(),
    )


def settle_defined_sets(
    instance: DagsterInstance, graph: Graph, records: Records, sets: Mapping[str, Sequence[str]]
) -> None:
    """Makes each partition set that an asset defines (``programs``) what its records say.

    A run does so as it goes; one that was killed between a record and the set is made up for here.
    """
    for node in graph.nodes.values():
        if node.defines is None:
            continue
        keys = set(partition_keys(node, sets))
        built = {k for k, r in records.get(node.name, {}).items() if r.outcome == "built" and k in keys}
        add_partitions(instance, node.defines, sorted(built - set(sets[node.defines])))
        for key in sorted(set(sets[node.defines]) - built):
            instance.delete_dynamic_partition(node.defines, key)


def current_plan(instance: DagsterInstance, workspace: Workspace, graph: Graph) -> Plan:
    """The plan as of now."""
    catalog = workspace.catalog()
    try:
        return make_plan(graph, plan_inputs(instance, workspace, graph, catalog))
    finally:
        catalog.dispose()


def explain(instance: DagsterInstance, workspace: Workspace, graph: Graph, asset: str, key: str) -> Iterator[str]:
    """Why a partition is what it is, down to the root cause, a line each.

    Raises ``LineageError`` for an unknown asset or partition.
    """
    catalog = workspace.catalog()
    try:
        inputs = plan_inputs(instance, workspace, graph, catalog)
    finally:
        catalog.dispose()
    require_key(graph, inputs.partitions, asset, key)
    plan = make_plan(graph, inputs)
    yield from _explain(plan, inputs, workspace, graph, asset, key, depth=0)


def require_key(graph: Graph, partitions: Mapping[str, list[str]] | Mapping[str, object], asset: str, key: str) -> None:
    """Raises ``LineageError`` unless the asset exists and the key is one of its partitions."""
    node = graph.node(asset)
    known = [""] if node.partitions is None else list(partitions.get(node.partitions, []))  # type: ignore[call-overload]
    if key in known:
        return
    if node.partitions is None:
        raise LineageError(f"asset {asset!r}", "it has no partitions", "Leave the partition out")
    if not key:
        raise LineageError(f"asset {asset!r}", f"it is partitioned by {node.partitions!r}", "Name a partition")
    near = ", ".join(known[:8]) + (", …" if len(known) > 8 else "")
    raise LineageError(
        f"partition {key!r} of asset {asset!r}",
        f"the partition set {node.partitions!r} has no such key",
        f"It has: {near}. Add a repository with: gymline repo add" if known else "Add one with: gymline repo add",
    )


def _explain(
    plan: Plan, inputs: PlanInputs, workspace: Workspace, graph: Graph, asset: str, key: str, depth: int
) -> Iterator[str]:
    own = plan.assets[asset]
    indent = "  " * depth
    yield f"{indent}{asset} {key}".rstrip() + f": {own.state(key)}"
    record = inputs.records.get(asset, {}).get(key)
    if record and record.outcome == "refused" and own.state(key) == "fresh":
        yield f"{indent}  refused: {record.reason}"
    for reason in own.reasons(key):
        yield f"{indent}  {reason}"
        yield from (f"{indent}    {line}" for line in _detail(reason, inputs, workspace, graph, asset))
        if reason.kind in ("upstream pending", "upstream blocked"):
            upstream = plan.assets[reason.subject]
            unsettled = [key] if key in upstream.stale or key in upstream.pending or key in upstream.blocked else []
            for each in unsettled or sorted(upstream.stale)[:3] or sorted(upstream.pending)[:3]:
                yield from _explain(plan, inputs, workspace, graph, reason.subject, each, depth + 1)


def _detail(reason: Reason, inputs: PlanInputs, workspace: Workspace, graph: Graph, asset: str) -> list[str]:
    """Names what changed inside: parts of the code, keys of a fan-in."""
    node = graph.nodes[asset]
    if reason.kind == "code changed" and node.code is not None:
        after = code_manifest(node.code, workspace.fingerprints(node.code)).parts
    elif reason.kind == "input changed" and any(e.asset == reason.subject and e.mapping == "all" for e in node.inputs):
        after = fan_in_manifest(graph, reason.subject, inputs.records, inputs.partitions)
    else:
        return []
    before = _read_manifest(workspace.store(), reason.before)
    if before is None:
        return ["what it was before is no longer in the store"]
    return [f"changed: {name}" for name in differences(before, after)]


def _read_manifest(store: Store, digest: str) -> Mapping[str, str] | None:
    try:
        return store.get_json(digest)
    except StoreError:
        return None
