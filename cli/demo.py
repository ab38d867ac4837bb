"""``gymline demo``: the samples go the whole way, from repository to scored environment."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import orjson
import typer
from dagster import AssetKey, AssetRecordsFilter, DagsterInstance
from rich.markup import escape
from rich.table import Table

from assets import graph
from cli.app import app, console, opened
from cli.execute import Tally, observe, shown, until_nothing_is_stale
from gymline.catalog.catalog import Record
from gymline.crawl.samples import mirror_samples
from gymline.sandbox.rootfs import prepare_rootfs
from gymline.sandbox.settings import SandboxSettings
from gymline.store import digest_json
from resources.planning import current_plan
from resources.workspace import Workspace, dagster_home

SAMPLES = Path(__file__).resolve().parent.parent / "samples"


@app.command()
def demo() -> None:
    """Take the sample repositories the whole way: locked commit, gold build, test suite, scored environment.

    Needs no key, no GPU and no network beyond packages. A second run rebuilds nothing. Ends with a table and
    writes it to demo.json in DAGSTER_HOME.
    """
    seconds: dict[str, float] = {}
    tally = Tally()
    with opened() as (instance, workspace):
        started = time.monotonic()
        with console.status("rootfs: a Debian root with toolchains, made once") as status:
            prepare_rootfs(SandboxSettings(), lambda line: status.update(f"rootfs: [dim]{escape(line[:70])}"))
        seconds["rootfs"] = time.monotonic() - started
        mirror_samples(SAMPLES, workspace.mirror())
        with shown(tally):
            observe(instance, workspace, tally)
            started = time.monotonic()
            stale = current_plan(instance, workspace, graph()).stale
            seconds["plan"] = time.monotonic() - started
            console.print(f"planned in {seconds['plan']:.1f} s: {stale} partitions can be built now", highlight=False)
            until_nothing_is_stale(instance, workspace, tally)
        result = _result(instance, workspace, tally, seconds)
    _write(dagster_home() / "demo.json", result)
    _show(result, tally)
    if tally.failed:
        raise typer.Exit(1)


def _result(instance: DagsterInstance, workspace: Workspace, tally: Tally, seconds: dict[str, float]) -> dict[str, Any]:
    plan = current_plan(instance, workspace, graph())
    catalog = workspace.catalog()
    records = catalog.records()
    catalog.dispose()
    return {
        "rebuilt": len(tally.rebuilt),
        "fresh": sum(each.fresh for name, each in plan.assets.items() if not graph().nodes[name].is_source),
        "stale": plan.stale,
        "failed": {f"{asset} {key}".strip(): reason for (asset, key), reason in sorted(tally.failed.items())},
        "outcomes": _outcomes(records, sorted(workspace.mirror().names())),
        "programs": {key: _program(instance, key) for key in sorted(records.get("program_environment", {}))},
        "seconds": {name: round(each, 1) for name, each in {**seconds, **tally.seconds}.items()},
        "data_versions": digest_json(
            {asset: {key: r.data_version for key, r in keys.items()} for asset, keys in records.items()}
        ),
    }


def _outcomes(records: dict[str, dict[str, Record]], names: list[str]) -> dict[str, str]:
    """How far each repository came: ``environment``, or the stage that refused it with its reason."""
    order = [name for name in graph().order if not graph().nodes[name].is_source]
    outcomes: dict[str, str] = {}
    for name in names:
        refusals = (
            f"{asset}: {records[asset][name].reason}"
            for asset in order
            if records.get(asset, {}).get(name) and records[asset][name].outcome == "refused"
        )
        built = name in records.get("program_environment", {})
        outcomes[name] = next(refusals, "environment" if built else "not finished")
    return outcomes


def _program(instance: DagsterInstance, key: str) -> dict[str, Any]:
    suite, environment = _metadata(instance, "test_suite", key), _metadata(instance, "program_environment", key)
    return {
        "cases": suite.get("cases"),
        "by_category": suite.get("by_category"),
        "by_check": suite.get("by_check"),
        "oracle": environment.get("oracle_score"),
        "do_nothing": environment.get("do_nothing_score"),
    }


def _metadata(instance: DagsterInstance, asset: str, key: str) -> dict[str, Any]:
    found = instance.fetch_materializations(
        AssetRecordsFilter(asset_key=AssetKey(asset), asset_partitions=[key]), limit=1
    ).records
    event = found[0].asset_materialization if found else None
    return {name: value.value for name, value in event.metadata.items()} if event else {}


def _write(path: Path, result: dict[str, Any]) -> None:
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    with temporary.open("wb") as file:
        file.write(orjson.dumps(result, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _show(result: dict[str, Any], tally: Tally) -> None:
    console.print(_outcome_table(result))
    console.print(_case_table(result["programs"]))
    for what, reason in result["failed"].items():
        console.print(f"failed {what}: {reason}", style="red", highlight=False, markup=False)
    stages = ", ".join(f"{name} {each:.1f}" for name, each in result["seconds"].items())
    console.print(f"seconds: {stages}", highlight=False)
    console.print(
        f"{result['rebuilt']} rebuilt, {result['fresh']} fresh, {len(tally.failed)} failed; "
        f"data versions {result['data_versions'][:12]}",
        highlight=False,
    )
    console.print(
        "Look next: `make ui` for the assets in Dagster; `gymline plan --explain gold_build gymline/tally-c`; "
        "`gymline export program_environment gymline/tally-c OUT`. (`gymline` is in .venv/bin.) "
        "The table is in demo.json of DAGSTER_HOME.",
        highlight=False,
    )


def _outcome_table(result: dict[str, Any]) -> Table:
    table = Table("repository", "outcome", "cases", "oracle", "do-nothing", title="Repositories")
    for name, outcome in result["outcomes"].items():
        program = result["programs"].get(name, {})
        scores = ("" if program.get(who) is None else f"{program[who]:.0%}" for who in ("oracle", "do_nothing"))
        colour = "green" if outcome == "environment" else "yellow"
        table.add_row(name, f"[{colour}]{escape(outcome)}", str(program.get("cases") or ""), *scores)
    return table


def _case_table(programs: dict[str, Any]) -> Table:
    """Kept cases by category, then cases that a check rejected."""
    table = Table(title="Cases kept by category, and rejected by check")
    columns = [(group, name) for group in ("by_category", "by_check") for name in _names(programs, group)]
    table.add_column("repository")
    for group, name in columns:
        table.add_column(name, justify="right", style="" if group == "by_category" else "yellow")
    for key, program in programs.items():
        table.add_row(key, *(str((program[group] or {}).get(name) or "") for group, name in columns))
    return table


def _names(programs: dict[str, Any], group: str) -> list[str]:
    return list(dict.fromkeys(name for program in programs.values() for name, n in (program[group] or {}).items() if n))
