"""``gymline materialize`` and ``gymline approve``: act on the plan."""

from __future__ import annotations

from typing import Annotated

import typer

from assets import graph
from cli.app import app, console, opened
from cli.execute import Tally, execute_layer, new_campaign, observe, shown, until_nothing_is_stale
from gymline.errors import LineageError
from gymline.lineage.plan import Layer, partition_keys
from resources.planning import require_key
from resources.workspace import partition_sets


@app.command()
def materialize(
    selection: Annotated[
        list[str] | None, typer.Argument(help="Asset names, e.g. `gold_build test_suite`. With --stale: only these.")
    ] = None,
    stale: Annotated[
        bool, typer.Option("--stale", help="What the plan calls stale, layer by layer, until nothing is.")
    ] = False,
    partition: Annotated[
        list[str] | None, typer.Option("--partition", "-p", help="Only this partition; may be given more than once.")
    ] = None,
    look: Annotated[bool, typer.Option("--observe/--no-observe", help="Look at the sources first.")] = True,
) -> None:
    """Build assets here and now, recorded like any other Dagster run.

    `gymline materialize --stale` does what is needed and nothing else.
    `gymline materialize gold_build -p owner/name` builds it in any case; doing so by hand counts as approval.
    """
    names, tally, whole = list(selection or []), Tally(), graph()
    for name in names:
        whole.node(name)
    if not stale and not names:
        raise typer.BadParameter("name at least one asset, or give --stale")
    with opened() as (instance, workspace), shown(tally):
        if look:
            observe(instance, workspace, tally)
        sets = partition_sets(instance)
        if stale:
            for key in partition or []:
                if not any(key in keys for keys in sets.values()):
                    raise LineageError(
                        f"partition {key!r}", "no partition set has it", "Add a repository with: gymline repo add"
                    )
            until_nothing_is_stale(instance, workspace, tally, assets=names or None, partitions=partition or None)
        else:
            for name in (n for n in whole.order if n in names):
                sets = partition_sets(instance)
                keys = tuple(partition or partition_keys(whole.node(name), sets))
                for key in keys:
                    require_key(whole, sets, name, key)
                if keys:
                    execute_layer(instance, Layer(name, tuple(keys)), new_campaign(), tally)
    console.print(f"{len(tally.rebuilt)} rebuilt, {len(tally.failed)} failed", highlight=False)
    for (asset, key), reason in tally.failed.items():
        console.print(f"  {asset} {key}: {reason}", highlight=False, markup=False)
    if tally.failed:
        raise typer.Exit(1)


@app.command()
def approve(
    asset: Annotated[str, typer.Argument(help="An asset that waits for approval.")],
    partitions: Annotated[list[str] | None, typer.Argument(help="Its partitions; none means all.")] = None,
) -> None:
    """Let the next plan rebuild an asset that waits for a person (training, paid models, over its cost cap)."""
    with opened() as (instance, workspace):
        sets = partition_sets(instance)
        if graph().node(asset).is_source:
            raise LineageError(f"source {asset!r}", "it is observed, not built", "Name an asset")
        for key in partitions or []:
            require_key(graph(), sets, asset, key)
        workspace.catalog().approve(asset, partitions or [])
    console.print(f"approved: {asset} {' '.join(partitions or ['(all partitions)'])}", highlight=False)
