"""``gymline lineage``: the projection, and accepted code changes."""

from __future__ import annotations

from typing import Annotated

import typer

from assets import graph
from cli.app import app, console, opened
from gymline.errors import LineageError
from resources.events import project
from resources.planning import code_manifests

commands = typer.Typer(no_args_is_help=True, help="The record: rebuild its projection, accept a code change.")
app.add_typer(commands, name="lineage")


@commands.command()
def rebuild() -> None:
    """Drop the catalog's projection and read it again from Dagster's event log, which is the authority."""
    with opened() as (instance, workspace):
        catalog = workspace.catalog()
        catalog.forget_projection()
        taken = project(instance, catalog, graph())
    console.print(f"{taken} events read", highlight=False)


@commands.command()
def accept(
    asset: Annotated[str, typer.Argument(help="The asset whose code changed.")],
    reason: Annotated[str, typer.Option("--reason", help="Why contents made by the old code stay valid.")],
) -> None:
    """Record that the asset's code change keeps its contents valid, so nothing is rebuilt for it."""
    with opened() as (instance, workspace):
        if graph().node(asset).is_source or not reason.strip():
            raise LineageError(
                f"accepting {asset!r}", "only a built asset can be accepted, with a reason", "Give --reason TEXT"
            )
        catalog = workspace.catalog()
        project(instance, catalog, graph())
        current = code_manifests(workspace, graph())[asset].version
        recorded = {r.code_version for r in catalog.records([asset]).get(asset, {}).values()} - {current}
        catalog.accept_code(asset, recorded, current, reason)
    console.print(f"accepted {len(recorded)} earlier code versions of {asset}", highlight=False)
