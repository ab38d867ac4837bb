"""Claims about the catalog, on SQLite and on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gymline.catalog.catalog import Catalog, Event
from gymline.errors import SettingsError


@pytest.fixture(params=["sqlite", "postgresql"])
def catalog(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Catalog]:
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'deep' / 'catalog.db'}"
    else:
        url = request.getfixturevalue("postgres").new_database()
    made = Catalog(url)
    yield made
    made.dispose()


def event(event_id: int, partition: str = "a/b", **changes: object) -> Event:
    made = Event("gold", partition, event_id, "run", 1.0, f"version {event_id}", "code", {"source": "v"})
    return replace(made, **changes)  # type: ignore[arg-type]


def test_the_latest_event_of_a_partition_is_its_record_in_any_order(catalog: Catalog) -> None:
    catalog.apply("gold", [event(3), event(1)])
    catalog.apply("gold", [event(2)])
    record = catalog.records()["gold"]["a/b"]
    assert (record.event_id, record.data_version, record.inputs) == (3, "version 3", {"source": "v"})
    assert catalog.cursors()["gold"][0] == 3


def test_applying_events_twice_changes_nothing(catalog: Catalog) -> None:
    events = [event(n, f"p/{n}") for n in range(1, 6)]
    catalog.apply("gold", events)
    once = (catalog.records(), catalog.cursors())
    catalog.apply("gold", events)
    assert (catalog.records(), catalog.cursors()) == once


def test_a_look_at_a_whole_source_moves_its_time_and_no_record(catalog: Catalog) -> None:
    catalog.apply("head", [replace(event(1), asset="head")])
    catalog.apply("head", [Event("head", "", 2, "run", 50.0, "", whole_source=True)])
    assert catalog.cursors()["head"] == (2, 50.0)
    assert set(catalog.records()["head"]) == {"a/b"}


def test_forgetting_one_asset_keeps_the_others_and_the_ledgers(catalog: Catalog) -> None:
    catalog.apply("gold", [event(1)])
    catalog.apply("suite", [replace(event(2), asset="suite")])
    catalog.approve("gold", [])
    catalog.forget_projection("gold")
    assert set(catalog.records()) == {"suite"}
    assert ("gold", "*") in catalog.approvals()


def test_approvals_are_renewed_and_acceptances_are_kept_once(catalog: Catalog) -> None:
    catalog.approve("gold", ["a/b"])
    first = catalog.approvals()["gold", "a/b"]
    catalog.approve("gold", ["a/b"])
    assert catalog.approvals()["gold", "a/b"] >= first
    for _ in range(2):
        catalog.accept_code("gold", ["old", "older"], "new", "only renamed")
    assert catalog.accepted_code() == {("gold", "old", "new"), ("gold", "older", "new")}


def test_costs_are_averages_over_partitions(catalog: Catalog) -> None:
    catalog.apply("gold", [event(1, "a/a", seconds=2.0, usd=1.0), event(2, "b/b", seconds=4.0, tokens=10)])
    cost = catalog.costs()["gold"]
    assert (cost.seconds, cost.tokens, cost.usd) == (3.0, 5.0, 0.5)


def test_a_database_that_cannot_be_reached_is_a_typed_error() -> None:
    with pytest.raises(SettingsError, match="cannot be opened"):
        Catalog("postgresql://nobody@127.0.0.1:1/none")
