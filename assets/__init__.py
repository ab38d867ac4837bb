"""WHAT exists: one module per stage of the asset graph, thin; ``declare.py`` turns a declaration into an asset."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from assets.declare import Declared
from gymline.lineage.graph import Graph


def declared() -> Sequence[Declared]:
    """Every asset and source of the code location, in the order of the stages."""
    from assets import build, crawl, environment, suite

    return [each for module in (crawl, build, suite, environment) for each in module.ASSETS]


def definitions() -> list[dg.AssetsDefinition]:
    """For Dagster. In a run over several assets, the first in topological order goes first."""
    order = graph().order
    return [each.define(-order.index(each.node.name)) for each in declared()]


def graph() -> Graph:
    """The same as the Dagster-free graph that the plan walks."""
    return Graph.of(each.node for each in declared())
