"""The plan: every partition of every asset is fresh, stale, pending or blocked, and why.

One pass in topological order over the latest records, as sets; no query per partition. Pending means that an input
is not settled yet: when it has been rebuilt, its content may turn out the same, and nothing more is to be done.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gymline.catalog.catalog import EVERY_PARTITION, Cost, Record
from gymline.lineage.graph import UNPARTITIONED, Graph, Node
from gymline.store import digest_json

ReasonKind = Literal[
    "never built",
    "input changed",
    "code changed",
    "artifact missing",
    "never observed",
    "source due",
    "upstream pending",
    "upstream refused",
    "upstream blocked",
    "awaiting approval",
    "over cost cap",
]

Records = Mapping[str, Mapping[str, Record]]


@dataclass(frozen=True)
class Reason:
    """Why a partition is not fresh. ``subject`` is the input, source or blocked asset it is about."""

    kind: ReasonKind
    subject: str = ""
    before: str = ""
    after: str = ""
    detail: str = ""

    def __str__(self) -> str:
        words: str = self.kind
        if self.subject:
            words += f": {self.subject}"
        if self.before or self.after:
            words += f" {self.before[:12] or 'nothing'} → {self.after[:12] or 'nothing'}"
        return f"{words} ({self.detail})" if self.detail else words


@dataclass(frozen=True)
class PlanInputs:
    """All the plan reads, gathered once.

    Args:
        records: the projection. partitions: set name → keys, sorted. code: asset → current code version.
        missing: contents that the store no longer holds whole. observed_at: source → last time all of it was seen.
        approvals, accepted, costs: the ledgers (see ``Catalog``). now: seconds since the epoch.
    """

    records: Records
    partitions: Mapping[str, Sequence[str]]
    code: Mapping[str, str]
    missing: Collection[str]
    observed_at: Mapping[str, float]
    approvals: Mapping[tuple[str, str], float]
    accepted: Collection[tuple[str, str, str]]
    costs: Mapping[str, Cost]
    now: float


@dataclass
class AssetPlan:
    """One asset's share. ``fresh`` counts settled partitions, ``refused`` those of them whose outcome is a refusal."""

    asset: str
    fresh: int = 0
    refused: int = 0
    stale: dict[str, tuple[Reason, ...]] = field(default_factory=dict[str, tuple[Reason, ...]])
    pending: dict[str, Reason] = field(default_factory=dict[str, Reason])
    blocked: dict[str, Reason] = field(default_factory=dict[str, Reason])

    def state(self, partition: str) -> str:
        """``fresh``, ``stale``, ``pending`` or ``blocked``; fresh is what is none of the others."""
        for name in ("stale", "pending", "blocked"):
            if partition in getattr(self, name):
                return name
        return "fresh"

    def reasons(self, partition: str) -> tuple[Reason, ...]:
        """Why it is not fresh; empty when it is."""
        if partition in self.stale:
            return self.stale[partition]
        reason = self.pending.get(partition) or self.blocked.get(partition)
        return (reason,) if reason else ()


@dataclass(frozen=True)
class Layer:
    """What one run does: the stale keys of one asset whose inputs are all fresh."""

    asset: str
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """Assets in topological order."""

    assets: Mapping[str, AssetPlan]
    costs: Mapping[str, Cost] = field(default_factory=dict[str, Cost])

    @property
    def stale(self) -> int:
        return sum(len(a.stale) for a in self.assets.values())

    def layers(self) -> Iterator[Layer]:
        """One layer per asset that has stale keys, in topological order."""
        for plan in self.assets.values():
            if plan.stale:
                yield Layer(plan.asset, tuple(sorted(plan.stale)))

    def next_layer(
        self, *, without: Collection[tuple[str, str]] = (), among: Collection[str] | None = None
    ) -> Layer | None:
        """The first layer left after taking out (asset, key) pairs and, if given, assets not in ``among``."""
        for layer in self.layers():
            if among is not None and layer.asset not in among:
                continue
            keys = tuple(k for k in layer.keys if (layer.asset, k) not in without)
            if keys:
                return Layer(layer.asset, keys)
        return None

    def to_json(self) -> dict[str, Any]:
        """For ``gymline plan --json``: counts and, by key, reasons as text; estimates for the stale keys."""
        return {
            "stale": self.stale,
            "pending": sum(len(a.pending) for a in self.assets.values()),
            "blocked": sum(len(a.blocked) for a in self.assets.values()),
            "fresh": sum(a.fresh for a in self.assets.values()),
            "assets": [
                {
                    "asset": a.asset,
                    "fresh": a.fresh,
                    "refused": a.refused,
                    "stale": {k: [str(r) for r in a.stale[k]] for k in sorted(a.stale)},
                    "pending": {k: str(a.pending[k]) for k in sorted(a.pending)},
                    "blocked": {k: str(a.blocked[k]) for k in sorted(a.blocked)},
                    "estimate": self.estimate(a.asset),
                }
                for a in self.assets.values()
            ],
        }

    def estimate(self, asset: str) -> dict[str, float] | None:
        """Seconds, tokens and US dollars that the stale keys will take, from history; None where there is none."""
        cost, keys = self.costs.get(asset), len(self.assets[asset].stale)
        if cost is None or not keys:
            return None
        return {
            "seconds": round(cost.seconds * keys, 1),
            "tokens": round(cost.tokens * keys),
            "usd": round(cost.usd * keys, 4),
        }


def partition_keys(node: Node, partitions: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The node's keys: those of its set, or the single key of an unpartitioned one."""
    return (UNPARTITIONED,) if node.partitions is None else partitions.get(node.partitions, ())


def live_records(
    graph: Graph, name: str, records: Records, partitions: Mapping[str, Sequence[str]]
) -> dict[str, Record]:
    """The records a fan-in over ``name`` reads: of current keys, and none that an upstream refusal left behind."""
    node, own = graph.node(name), records.get(name, {})
    keys = [k for k in partition_keys(node, partitions) if k in own]
    for edge in node.inputs:
        if edge.mapping == "identity":
            alive = live_records(graph, edge.asset, records, partitions)
            keys = [k for k in keys if k in alive and alive[k].outcome != "refused"]
    return {k: own[k] for k in keys}


def fan_in_manifest(
    graph: Graph, name: str, records: Records, partitions: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """{partition: data version} of a fan-in; its digest is the input version that is recorded."""
    return {k: r.data_version for k, r in live_records(graph, name, records, partitions).items()}


def make_plan(graph: Graph, inputs: PlanInputs) -> Plan:
    """Compares the record with what is. Sources first, then every asset after its inputs."""
    plans: dict[str, AssetPlan] = {}
    for name in graph.order:
        node = graph.nodes[name]
        plans[name] = _plan_source(node, inputs) if node.is_source else _plan_asset(graph, node, inputs, plans)
    return Plan(plans, inputs.costs)


def _plan_source(node: Node, inputs: PlanInputs) -> AssetPlan:
    plan = AssetPlan(node.name)
    records = inputs.records.get(node.name, {})
    seen_whole = inputs.observed_at.get(node.name, 0.0)
    for key in partition_keys(node, inputs.partitions):
        record = records.get(key)
        if record is None:
            plan.stale[key] = (Reason("never observed"),)
            continue
        if record.data_version in inputs.missing:
            plan.stale[key] = (Reason("artifact missing", record.data_version[:12]),)
            continue
        age = inputs.now - max(record.recorded_at, seen_whole)
        if node.max_age_seconds is not None and age > node.max_age_seconds:
            due = f"observed {_hours(age)} ago, to be observed every {_hours(node.max_age_seconds)}"
            plan.stale[key] = (Reason("source due", detail=due),)
        else:
            plan.fresh += 1
    return plan


def _plan_asset(graph: Graph, node: Node, inputs: PlanInputs, plans: Mapping[str, AssetPlan]) -> AssetPlan:
    plan = AssetPlan(node.name)
    records = inputs.records.get(node.name, {})
    current = inputs.code[node.name]
    valid_code = {current} | {old for asset, old, new in inputs.accepted if asset == node.name and new == current}
    identity = [
        (e.asset, plans[e.asset], inputs.records.get(e.asset, {})) for e in node.inputs if e.mapping == "identity"
    ]
    fan_in: dict[str, str] = {}
    unsettled: Reason | None = None
    for edge in node.inputs:
        if edge.mapping == "all":
            upstream = plans[edge.asset]
            fan_in[edge.asset] = digest_json(fan_in_manifest(graph, edge.asset, inputs.records, inputs.partitions))
            if upstream.stale or upstream.pending:
                waiting = len(upstream.stale) + len(upstream.pending)
                unsettled = unsettled or Reason("upstream pending", edge.asset, detail=f"{waiting} partitions")
    for key in partition_keys(node, inputs.partitions):
        versions = dict(fan_in)
        pending, blocked = unsettled, None
        for name, upstream, upstream_records in identity:
            record = upstream_records.get(key)
            if key in upstream.stale or key in upstream.pending:
                pending = pending or Reason("upstream pending", name)
            elif key in upstream.blocked:
                blocked = blocked or Reason("upstream blocked", name, detail=str(upstream.blocked[key]))
            elif record is None:
                pending = pending or Reason("upstream pending", name, detail="it has no such partition yet")
            elif record.outcome == "refused":
                blocked = blocked or Reason("upstream refused", name, detail=record.reason)
            else:
                versions[name] = record.data_version
        if pending:
            plan.pending[key] = pending
        elif blocked:
            plan.blocked[key] = blocked
        elif reasons := _stale_reasons(records.get(key), versions, current, valid_code, inputs.missing):
            plan.stale[key] = reasons
        else:
            plan.fresh += 1
            plan.refused += records[key].outcome == "refused"
    _hold_back(node, plan, records, inputs)
    return plan


def _stale_reasons(
    record: Record | None,
    versions: Mapping[str, str],
    current: str,
    valid_code: Collection[str],
    missing: Collection[str],
) -> tuple[Reason, ...]:
    if record is None:
        return (Reason("never built"),)
    reasons: list[Reason] = []
    if record.inputs != versions:
        for name in sorted(record.inputs.keys() | versions.keys()):
            before, after = record.inputs.get(name, ""), versions.get(name, "")
            if before != after:
                reasons.append(Reason("input changed", name, before, after))
    if record.code_version not in valid_code:
        reasons.append(Reason("code changed", "", record.code_version, current))
    if record.data_version in missing:
        reasons.append(Reason("artifact missing", record.data_version[:12]))
    return tuple(reasons)


def _hold_back(node: Node, plan: AssetPlan, records: Mapping[str, Record], inputs: PlanInputs) -> None:
    """Moves stale keys that need a person's yes to blocked."""
    cost = inputs.costs.get(node.name)
    estimate = cost.usd * len(plan.stale) if cost else 0.0
    if node.cost_cap_usd is not None and estimate > node.cost_cap_usd:
        reason = Reason("over cost cap", detail=f"estimated {estimate:.2f} USD, cap {node.cost_cap_usd:.2f} USD")
    elif node.rebuild == "approve":
        reason = Reason("awaiting approval")
    else:
        return
    for key in list(plan.stale):
        granted = max(
            inputs.approvals.get((node.name, key), 0.0),
            inputs.approvals.get((node.name, EVERY_PARTITION), 0.0),
        )
        if granted <= (records[key].recorded_at if key in records else 0.0):
            causes = ", ".join(str(r) for r in plan.stale.pop(key))
            hint = f"{causes}; approve with: gymline approve {node.name}" + (f" {key}" if key else "")
            plan.blocked[key] = Reason(reason.kind, detail="; ".join(filter(None, [reason.detail, hint])))


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds:.0f} s"
