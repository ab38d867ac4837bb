"""The Typer application and what every command shares."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from dagster import DagsterInstance
from rich.console import Console

from resources.runs import reap_dead_runs
from resources.workspace import Workspace

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Gymline makes agent-training environments as Dagster assets. Recorded lineage decides what gets rebuilt.\n\n"
    "A first walk: `gymline demo`, `gymline plan`, `gymline plan --explain gold_build gymline/tally-c`.",
)
console = Console()


def default_home() -> None:
    """Without DAGSTER_HOME, state lives in the checkout's own dagster_home."""
    if not os.environ.get("DAGSTER_HOME"):
        os.environ["DAGSTER_HOME"] = str(Path(__file__).resolve().parent.parent / "dagster_home")
    Path(os.environ["DAGSTER_HOME"]).mkdir(parents=True, exist_ok=True)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Dagster makes its tables when a home is first opened; two processes doing so at once break each other."""
    with (Path(os.environ["DAGSTER_HOME"]) / ".opening").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def opened() -> Iterator[tuple[DagsterInstance, Workspace]]:
    """Dagster's instance and the workspace; runs of killed processes are settled first."""
    default_home()
    with _one_at_a_time():
        first = DagsterInstance.get()
    with first as instance:
        reap_dead_runs(instance)
        yield instance, Workspace.from_environment()
