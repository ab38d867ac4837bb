"""``gymline plan``: what is stale, and why."""

from __future__ import annotations

import json
import time
from typing import Annotated

import typer
from rich.table import Table

from assets import graph
from cli.app import app, console, opened
from gymline.lineage.plan import Plan
from resources.planning import current_plan, explain


@app.command()
def plan(
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole plan as one JSON object.")] = False,
    explained: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--explain",
            metavar="ASSET PARTITION",
            help="Why this partition is what it is, down to the cause; '-' for an asset without partitions.",
        ),
    ] = None,
) -> None:
    """Show what is fresh, stale, pending and blocked. Nothing is built.

    `stale`: would be rebuilt now. `pending`: an input is stale; it may turn out the same. `blocked`: waits for a
    person, or its input was refused.
    """
    started = time.monotonic()
    with opened() as (instance, workspace):
        if explained:
            asset, key = explained
            for line in explain(instance, workspace, graph(), asset, "" if key == "-" else key):
                console.print(line, highlight=False, markup=False)
            return
        made = current_plan(instance, workspace, graph())
    if as_json:
        typer.echo(json.dumps({**made.to_json(), "seconds": round(time.monotonic() - started, 3)}, indent=2))
        return
    console.print(_table(made))
    for each in made.assets.values():
        for key, reasons in list(sorted(each.stale.items()))[:5]:
            console.print(f"  {each.asset} {key}: {'; '.join(map(str, reasons))}", highlight=False, markup=False)
        if len(each.stale) > 5:
            console.print(f"  {each.asset}: {len(each.stale) - 5} more, see gymline plan --json", highlight=False)
    console.print(f"{made.stale} stale, planned in {time.monotonic() - started:.1f} s", highlight=False)


def _table(made: Plan) -> Table:
    table = Table(box=None)
    for column in ("asset", "fresh", "of them refused", "stale", "pending", "blocked", "estimate"):
        table.add_column(column, justify="left" if column == "asset" else "right")
    for each in made.assets.values():
        estimate = made.estimate(each.asset)
        table.add_row(
            each.asset,
            *(str(n or "") for n in (each.fresh, each.refused)),
            f"[yellow]{len(each.stale)}" if each.stale else "",
            *(str(n or "") for n in (len(each.pending), len(each.blocked))),
            f"{estimate['seconds']:.0f} s" + (f", {estimate['usd']:.2f} USD" if estimate["usd"] else "")
            if estimate
            else "",
        )
    return table
