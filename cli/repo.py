"""``gymline repo``: the local mirror."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from cli.app import app, console, opened
from cli.execute import Tally, observe
from gymline.errors import SourceError
from resources.workspace import sync_repos

commands = typer.Typer(no_args_is_help=True, help="The local mirror: add, list and remove repositories.")
app.add_typer(commands, name="repo")


@commands.command()
def add(
    source: Annotated[str, typer.Argument(metavar="PATH|URL", help="A work tree, a bare repository, or a URL.")],
    name: Annotated[str | None, typer.Option("--name", help="owner/name; read from its remote if not given.")] = None,
    commit: Annotated[str | None, typer.Option("--commit", help="Pin to this commit; else it follows its tip.")] = None,
    licence: Annotated[str | None, typer.Option("--licence", "--license", help="SPDX id, if none is found.")] = None,
) -> None:
    """Clone a repository into the mirror and make it a partition. Build it with: gymline materialize --stale"""
    with opened() as (instance, workspace):
        entry = workspace.mirror().add(source, name, commit, licence)
        tally = Tally()
        observe(instance, workspace, tally)
    if tally.failed:
        raise SourceError(
            f"repository {entry.name!r}", f"it was added but cannot be read: {next(iter(tally.failed.values()))}",
            f"Look at it, or take it out with: gymline repo remove {entry.name}",
        )  # fmt: skip
    console.print(f"added {entry.name}; next: gymline materialize --stale -p {entry.name}", highlight=False)


@commands.command()
def remove(name: Annotated[str, typer.Argument(help="owner/name")]) -> None:
    """Take a repository out of the mirror and the partitions. What was recorded of it stays in the event log."""
    with opened() as (instance, workspace):
        workspace.mirror().remove(name)
        sync_repos(instance, workspace)
    console.print(f"removed {name}", highlight=False)


@commands.command("list")
def list_all() -> None:
    """List the repositories of the mirror with the commits they are at."""
    table = Table(box=None)
    for column in ("name", "commit", "pinned", "origin"):
        table.add_column(column)
    with opened() as (_, workspace):
        mirror = workspace.mirror()
        for name in mirror.names():
            entry, head = mirror.entry(name), mirror.head(name)
            at = (head.commit or "")[:12] or head.problem
            table.add_row(name, escape(at), "yes" if entry.commit else "", escape(entry.origin))
    console.print(table)
