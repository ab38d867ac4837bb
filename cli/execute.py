"""Executes layers in this process, until nothing is stale, and shows how it goes."""

from __future__ import annotations

import time
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from dagster import AssetKey, DagsterInstance
from dagster_shared.error import SerializableErrorInfo
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from assets import graph
from cli.app import console
from gymline.lineage.batch import Failed, Made
from gymline.lineage.plan import Layer
from resources import dagster_tags as tags
from resources import progress
from resources.planning import current_plan
from resources.runs import in_flight, layer_run_config, this_process
from resources.workspace import Workspace, sync_repos


@dataclass
class Tally:
    """What a command did: (asset, key) pairs rebuilt and failed, seconds by asset."""

    rebuilt: list[tuple[str, str]] = field(default_factory=list)
    failed: dict[tuple[str, str], str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))


def execute_layer(instance: DagsterInstance, layer: Layer, campaign: str, tally: Tally) -> None:
    """One layer as one run inside this process; failures of partitions go into the tally."""
    from definitions import defs

    started = time.monotonic()
    result = defs.resolve_implicit_global_asset_job_def().execute_in_process(
        instance=instance,
        asset_selection=[AssetKey(layer.asset)],
        run_config={**layer_run_config(layer), "loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        tags={tags.LINEAGE: "cli", tags.CAMPAIGN: campaign, tags.PROCESS: this_process()},
        raise_on_error=False,
    )
    tally.seconds[layer.asset] += time.monotonic() - started
    errors = [e.step_failure_data.error for e in result.all_events if e.is_step_failure]
    if any(error and _was_interrupted(error) for error in errors):
        console.print("stopped; what was recorded stays, and the next run continues from it", highlight=False)
        raise KeyboardInterrupt
    reported = {pair for pair in [*tally.rebuilt, *tally.failed] if pair[0] == layer.asset}
    if not result.success and not any(pair in tally.failed for pair in reported):
        reason = next((_root_cause(error) for error in errors if error), "see the run in the UI")
        for key in layer.keys:
            if (layer.asset, key) not in reported:
                tally.failed[layer.asset, key] = reason.strip()


def _root_cause(error: SerializableErrorInfo) -> str:
    return _root_cause(error.cause) if error.cause else error.message


def _was_interrupted(error: SerializableErrorInfo) -> bool:
    """Whether Ctrl-C or a termination ended the step: Dagster turns both into an error of its own."""
    return error.cls_name == "DagsterExecutionInterruptedError" or bool(error.cause and _was_interrupted(error.cause))


def observe(instance: DagsterInstance, workspace: Workspace, tally: Tally) -> None:
    """Looks at every source now, however recently it was looked at."""
    keys = tuple(sync_repos(instance, workspace))
    if not keys:
        return
    for name, node in graph().nodes.items():
        if node.is_source:
            execute_layer(instance, Layer(name, keys), new_campaign(), tally)


def until_nothing_is_stale(
    instance: DagsterInstance,
    workspace: Workspace,
    tally: Tally,
    *,
    assets: Collection[str] | None = None,
    partitions: Collection[str] | None = None,
) -> None:
    """Layer by layer, planning again after each; no key is tried twice. ``None`` means all."""
    tried: set[tuple[str, str]] = set()
    campaign = new_campaign()
    while True:
        plan = current_plan(instance, workspace, graph())
        left_out = tried | in_flight(instance)
        if partitions is not None:
            left_out |= {(a.asset, k) for a in plan.assets.values() for k in a.stale if k and k not in partitions}
        layer = plan.next_layer(without=left_out, among=assets)
        if layer is None:
            return
        execute_layer(instance, layer, campaign, tally)
        tried |= {(layer.asset, key) for key in layer.keys}


def new_campaign() -> str:
    """A name for one command's runs."""
    return f"cli:{uuid.uuid4().hex[:12]}"


@contextmanager
def shown(tally: Tally, *, quiet: bool = False) -> Iterator[None]:
    """Shows partitions as they end, and counts them in the tally."""
    bars: dict[str, int] = {}
    with Progress(
        TextColumn("{task.description:<20}"),
        BarColumn(24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[last]}"),
        console=console,
        disable=quiet,
    ) as bar:

        def listen(asset: str, result: Made | Failed) -> None:
            if asset not in bars:
                bars[asset] = bar.add_task(asset, total=0, last="")
            task = bar.tasks[bars[asset]]
            bar.update(bars[asset], total=(task.total or 0) + 1, completed=task.completed + 1, last=result.key)
            if isinstance(result, Failed):
                tally.failed[asset, result.key] = f"{type(result.error).__name__}: {result.error}"
                bar.console.print(
                    f"failed {asset} {result.key}: {result.error}", style="red", highlight=False, markup=False
                )
            else:
                tally.rebuilt.append((asset, result.key))

        progress.listeners.append(listen)
        try:
            yield
        finally:
            progress.listeners.remove(listen)
