"""``gymline score`` and ``gymline export``: program environments from outside the platform."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from assets import graph
from cli.app import app, console, opened
from gymline.errors import ArtifactMissing, LineageError, SettingsError
from gymline.programs.score import score_submission
from gymline.programs.settings import ProgramSettings
from resources.events import project
from resources.planning import require_key
from resources.workspace import Workspace, partition_sets

ENVIRONMENT = "program_environment"


@app.command()
def export(
    asset: Annotated[str, typer.Argument(help="An asset, e.g. program_environment or gold_build.")],
    partition: Annotated[str, typer.Argument(help="A partition, or '-' for an asset without.")],
    target: Annotated[Path, typer.Argument(help="A new folder (or, for JSON content, a new file).")],
) -> None:
    """Write an artifact out of the store, verified."""
    with opened() as (instance, workspace):
        _export(instance, workspace, asset, "" if partition == "-" else partition, target)
    console.print(f"wrote {target}", highlight=False)


@app.command()
def score(
    program: Annotated[str, typer.Argument(help="A partition of program_environment: owner/name.")],
    submission: Annotated[Path, typer.Argument(help="A folder with compile.sh and the sources.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as one JSON object.")] = False,
) -> None:
    """Score a submission against a program environment, with ProgramBench's semantics.

    compile.sh runs offline in the sandbox and must leave ./executable; then every hidden case runs. Only passed cases
    count; a submission that does not compile scores 0; a sandbox that fails is an error and no score.
    """
    with opened() as (instance, workspace), tempfile.TemporaryDirectory(prefix="gymline-score-") as folder:
        scratch = Path(folder)
        _export(instance, workspace, ENVIRONMENT, program, scratch / "environment")
        (scratch / "work").mkdir()
        result = score_submission(
            scratch / "environment",
            submission,
            workspace.sandbox(),
            workspace.root(),
            scratch / "work",
            ProgramSettings(),
        )
    summary = dict(result.summary())
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
        return
    console.print(f"{result.score:.1%}: {result.passed} of {result.total} cases passed", highlight=False)
    for name, value in summary.items():
        if value and name not in ("score", "passed", "total"):
            console.print(f"  {name}: {value}", highlight=False, markup=False)


def _export(instance: object, workspace: Workspace, asset: str, key: str, target: Path) -> None:
    require_key(graph(), partition_sets(instance), asset, key)  # type: ignore[arg-type]
    catalog = workspace.catalog()
    project(instance, catalog, graph())  # type: ignore[arg-type]
    record = catalog.records([asset]).get(asset, {}).get(key)
    if record is None:
        raise LineageError(f"{asset} {key}", "it has not been built", "Build it with: gymline materialize --stale")
    store = workspace.store()
    if os.path.lexists(target):
        raise SettingsError(repr(str(target)), "it exists, and an export makes something new", "Name another target")
    try:
        store.checkout(record.data_version, target)
    except ArtifactMissing:
        target.write_bytes(store.get_bytes(record.data_version))
