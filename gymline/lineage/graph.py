"""The asset graph, free of Dagster: what the plan walks.

``assets/`` declares nodes; a node without code is a *source*: nobody builds it, it is observed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Literal

from gymline.errors import LineageError
from gymline.lineage.code import Code

PartitionMapping = Literal["identity", "all"]
"""``identity``: the key of the same name. ``all``: every materialized key of the input (a fan-in)."""

UNPARTITIONED = ""
"""The one partition key of an asset without partitions."""


@dataclass(frozen=True)
class Input:
    """A declared read of another node."""

    asset: str
    mapping: PartitionMapping = "identity"


@dataclass(frozen=True)
class Node:
    """One asset or source.

    Args:
        partitions: name of the partition set its keys come from; None for the single key ``UNPARTITIONED``.
        code: what its content depends on besides its inputs; None makes it a source.
        rebuild: ``approve`` keeps stale keys blocked until ``gymline approve`` (training, paid models).
        cost_cap_usd: a plan whose estimate for this asset exceeds it blocks its stale keys like ``approve``.
        max_age_seconds: a source observed longer ago than this is due.
        defines: name of a partition set that this asset's ``built`` keys make up.
    """

    name: str
    partitions: str | None = None
    inputs: tuple[Input, ...] = ()
    code: Code | None = None
    rebuild: Literal["auto", "approve"] = "auto"
    cost_cap_usd: float | None = None
    max_age_seconds: float | None = None
    defines: str | None = None

    @property
    def is_source(self) -> bool:
        return self.code is None


@dataclass(frozen=True)
class Graph:
    """Nodes by name, checked once. Raises ``LineageError`` for an unknown input, a cycle or an impossible mapping."""

    nodes: Mapping[str, Node] = field(default_factory=dict[str, Node])

    @staticmethod
    def of(nodes: Iterable[Node]) -> Graph:
        graph = Graph({node.name: node for node in nodes})
        for node in graph.nodes.values():
            for edge in node.inputs:
                upstream = graph.node(edge.asset)
                if edge.mapping == "identity" and (upstream.partitions is None) != (node.partitions is None):
                    raise LineageError(
                        f"asset {node.name!r}",
                        f"it reads {edge.asset!r} by identity, but only one of them is partitioned",
                        "Declare the edge with the mapping 'all'",
                    )
        _ = graph.order
        return graph

    def node(self, name: str) -> Node:
        """The node, or ``LineageError`` listing what there is."""
        try:
            return self.nodes[name]
        except KeyError:
            raise LineageError(
                f"asset {name!r}", "there is no asset of that name", f"Choose one of: {', '.join(self.nodes)}"
            ) from None

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Names in topological order; among equals, in the order of declaration."""
        sorter = TopologicalSorter({n.name: [e.asset for e in n.inputs] for n in self.nodes.values()})
        try:
            return tuple(sorter.static_order())
        except CycleError as error:
            raise LineageError(
                f"assets {' → '.join(error.args[1])}",
                "they read each other in a circle",
                "Drop one of the edges",
            ) from error

    def downstream(self, name: str) -> list[str]:
        """Names that read ``name`` directly or through others, in topological order."""
        reached = {name}
        for candidate in self.order:
            if any(edge.asset in reached for edge in self.nodes[candidate].inputs):
                reached.add(candidate)
        return [n for n in self.order if n in reached and n != name]
