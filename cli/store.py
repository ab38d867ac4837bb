"""``gymline verify``: the artifact store, read whole."""

from __future__ import annotations

import typer
from rich.progress import Progress

from cli.app import app, console, opened


@app.command()
def verify() -> None:
    """Read every artifact and compare it with its digest. What is damaged goes to quarantine, and the next plan
    counts it as missing and rebuilds it. Exits with 1 if anything was damaged.
    """
    with opened() as (_, workspace), Progress(console=console, transient=True) as progress:
        task = progress.add_task("verifying")
        damaged = workspace.store().verify(lambda done, total: progress.update(task, completed=done, total=total))
    for digest in damaged:
        console.print(f"damaged: {digest}", highlight=False)
    console.print(f"{len(damaged)} damaged artifacts; next: gymline plan" if damaged else "all artifacts are whole")
    if damaged:
        raise typer.Exit(1)
