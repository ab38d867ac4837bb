"""``gymline doctor``: what this machine offers for running untrusted code."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from cli.app import app, console
from gymline.sandbox.doctor import examine
from gymline.sandbox.rootfs import prepare_rootfs
from gymline.sandbox.settings import SandboxSettings


@app.command()
def doctor(
    make_rootfs: Annotated[bool, typer.Option("--make-rootfs", help="Make the rootfs now if there is none.")] = False,
) -> None:
    """Say what this machine offers for running untrusted code, and what to install. Exits with 1 if it cannot."""
    if make_rootfs:
        with console.status("rootfs") as status:
            prepare_rootfs(SandboxSettings(), lambda line: status.update(f"rootfs: [dim]{escape(line[:70])}"))
    findings = examine(SandboxSettings())
    table = Table(box=None, show_header=False)
    for finding in findings:
        mark = "[green]ok[/]" if finding.ok else "[red]missing[/]" if finding.required else "[yellow]low[/]"
        table.add_row(mark, finding.name, finding.detail + (f"\n→ {finding.fix}" if finding.fix else ""))
    console.print(table)
    if any(f.required and not f.ok for f in findings):
        raise typer.Exit(1)
