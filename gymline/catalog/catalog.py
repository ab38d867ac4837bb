"""Reading and writing the catalog's tables, always set-based."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Engine, Table, create_engine, delete, event, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlmodel import SQLModel

from gymline.catalog.tables import AcceptedCode, Approval, Cursor, PartitionRecord
from gymline.errors import SettingsError

EVERY_PARTITION = "*"


class Record(NamedTuple):
    """The latest record of a partition as the plan needs it. ``inputs``: asset → data version it was made from.

    A named tuple and not a dataclass: a plan holds hundreds of thousands.
    """

    partition: str
    event_id: int
    data_version: str
    code_version: str
    inputs: Mapping[str, str]
    outcome: str
    reason: str
    evidence: str
    recorded_at: float


@dataclass(frozen=True)
class Event:
    """One event of the log as the projection takes it: a materialization, or the observation of a source.

    ``partition`` None with ``whole_source`` means: all of the source was looked at, and what has no event of its own
    did not change.
    """

    asset: str
    partition: str
    event_id: int
    run_id: str
    recorded_at: float
    data_version: str
    code_version: str = ""
    inputs: Mapping[str, str] | None = None
    outcome: str = "built"
    reason: str = ""
    evidence: str = ""
    seconds: float = 0.0
    tokens: int = 0
    usd: float = 0.0
    whole_source: bool = False


@dataclass(frozen=True)
class Cost:
    """What one partition of an asset has cost on average: seconds, tokens, US dollars."""

    seconds: float
    tokens: float
    usd: float


def _table(model: type[SQLModel]) -> Table:
    return SQLModel.metadata.tables[model.__dict__["__tablename__"]]


_RECORD, _CURSOR = _table(PartitionRecord), _table(Cursor)
_APPROVAL, _ACCEPTED = _table(Approval), _table(AcceptedCode)


class Catalog:
    """The catalog at a SQLAlchemy URL; tables are made where missing.

    Raises ``SettingsError`` where the database cannot be reached.
    """

    def __init__(self, url: str) -> None:
        if url.startswith("sqlite:///"):
            Path(url.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
        # SQLAlchemy 2.1 sends a bare postgresql:// to psycopg 3, which Dagster does not use.
        if url.startswith(("postgresql://", "postgres://")):
            url = "postgresql+psycopg2://" + url.split("://", 1)[1]
        self.url = url
        self._engine: Engine = create_engine(url)
        if self._engine.dialect.name == "sqlite":
            event.listen(self._engine, "connect", _sqlite_settings)
        try:
            self._make_tables()
        except SQLAlchemyError as error:
            raise SettingsError(
                "the catalog's database",
                f"it cannot be opened: {str(error).partition(chr(10))[0]}",
                "Check GYMLINE_CATALOG_URL and that it runs. A damaged catalog.db may be deleted: it is read again "
                "from the event log, only approvals and accepted code changes are lost",
            ) from error

    def _make_tables(self) -> None:
        # Not create_all: it looks first and makes then, and a second process in between fails.
        with self._engine.begin() as connection:
            for table in (_RECORD, _CURSOR, _APPROVAL, _ACCEPTED):
                connection.execute(CreateTable(table, if_not_exists=True))
                for index in table.indexes:
                    connection.execute(CreateIndex(index, if_not_exists=True))

    def apply(self, asset: str, events: Sequence[Event]) -> None:
        """Projects events of one asset in one transaction. Idempotent: an older event never replaces a newer one."""
        if not events:
            return
        latest: dict[str, Event] = {}
        observed_at = 0.0
        for each in events:
            if each.whole_source:
                observed_at = max(observed_at, each.recorded_at)
            elif each.partition not in latest or each.event_id > latest[each.partition].event_id:
                latest[each.partition] = each
        with self._engine.begin() as connection:
            self._upsert_records(connection, list(latest.values()))
            insert = self._insert(_CURSOR)
            row = {"asset": asset, "event_id": max(e.event_id for e in events), "observed_at": observed_at}
            greatest = func.max if self._engine.dialect.name == "sqlite" else func.greatest
            connection.execute(
                insert.on_conflict_do_update(
                    index_elements=["asset"],
                    set_={
                        "event_id": greatest(_CURSOR.c.event_id, insert.excluded.event_id),
                        "observed_at": greatest(_CURSOR.c.observed_at, insert.excluded.observed_at),
                    },
                ),
                [row],
            )

    def _upsert_records(self, connection: Any, events: Sequence[Event]) -> None:
        if not events:
            return
        insert = self._insert(_RECORD)
        columns = [c.name for c in _RECORD.columns if c.name not in ("asset", "partition")]
        statement = insert.on_conflict_do_update(
            index_elements=["asset", "partition"],
            set_={name: insert.excluded[name] for name in columns},
            where=_RECORD.c.event_id < insert.excluded.event_id,
        )
        connection.execute(statement, [_row(e) for e in events])

    def _insert(self, table: Table) -> Any:
        return (sqlite if self._engine.dialect.name == "sqlite" else postgresql).insert(table)

    def records(self, assets: Iterable[str] | None = None) -> dict[str, dict[str, Record]]:
        """The latest records, asset → partition → record; of all assets, or of those named."""
        c = _RECORD.c
        query = select(
            c.asset, c.partition, c.event_id, c.data_version, c.code_version, c.inputs, c.outcome, c.reason,
            c.evidence, c.recorded_at,
        )  # fmt: skip
        if assets is not None:
            query = query.where(c.asset.in_(list(assets)))
        found: dict[str, dict[str, Record]] = {}
        interned: dict[str, Any] = {}
        with self._engine.connect() as connection:
            for row in connection.execution_options(yield_per=10_000).execute(query):
                asset, partition, event_id, data, code, inputs, outcome, reason, evidence, at = row
                # Code versions and outcomes repeat for every partition; share them.
                record = Record(
                    partition,
                    event_id,
                    data,
                    interned.setdefault(code, code),
                    orjson.loads(inputs),
                    interned.setdefault(outcome, outcome),
                    interned.setdefault(reason, reason),
                    evidence,
                    at,
                )
                found.setdefault(asset, {})[partition] = record
        return found

    def cursors(self) -> dict[str, tuple[int, float]]:
        """Asset → (last event id read, time a source was last observed as a whole)."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(_CURSOR.c.asset, _CURSOR.c.event_id, _CURSOR.c.observed_at))
            return {asset: (event_id, observed_at) for asset, event_id, observed_at in rows}

    def forget_projection(self, asset: str | None = None) -> None:
        """Drops the projection (of one asset) so that it is read again from the event log."""
        with self._engine.begin() as connection:
            for table in (_RECORD, _CURSOR):
                statement = delete(table)
                connection.execute(statement if asset is None else statement.where(table.c.asset == asset))

    def costs(self) -> dict[str, Cost]:
        """What a partition of each asset has cost on average, from its latest records."""
        c = _RECORD.c
        query = select(c.asset, func.avg(c.seconds), func.avg(c.tokens), func.avg(c.usd)).group_by(c.asset)
        with self._engine.connect() as connection:
            return {a: Cost(float(s), float(t), float(u)) for a, s, t, u in connection.execute(query)}

    def approve(self, asset: str, partitions: Sequence[str]) -> None:
        """Approves the next rebuild of the partitions, of all when there are none."""
        rows = [{"asset": asset, "partition": p, "granted_at": time.time()} for p in partitions or [EVERY_PARTITION]]
        insert = self._insert(_APPROVAL)
        with self._engine.begin() as connection:
            connection.execute(
                insert.on_conflict_do_update(
                    index_elements=["asset", "partition"], set_={"granted_at": insert.excluded.granted_at}
                ),
                rows,
            )

    def approvals(self) -> dict[tuple[str, str], float]:
        """(asset, partition or '*') → time granted."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(_APPROVAL.c.asset, _APPROVAL.c.partition, _APPROVAL.c.granted_at))
            return {(asset, partition): at for asset, partition, at in rows}

    def accept_code(self, asset: str, accepted: Iterable[str], current: str, reason: str) -> None:
        """Records that contents made by the accepted code versions stay valid under the current one."""
        rows = [
            {"asset": asset, "accepted": a, "current": current, "reason": reason, "at": time.time()}
            for a in sorted(set(accepted))
        ]
        if not rows:
            return
        with self._engine.begin() as connection:
            connection.execute(self._insert(_ACCEPTED).on_conflict_do_nothing(), rows)

    def accepted_code(self) -> set[tuple[str, str, str]]:
        """Triples (asset, accepted code version, current code version)."""
        c = _ACCEPTED.c
        with self._engine.connect() as connection:
            return {(a, old, new) for a, old, new in connection.execute(select(c.asset, c.accepted, c.current))}

    def dispose(self) -> None:
        """Closes pooled connections."""
        self._engine.dispose()


def _row(event: Event) -> dict[str, Any]:
    return {
        "asset": event.asset,
        "partition": event.partition,
        "event_id": event.event_id,
        "run_id": event.run_id,
        "data_version": event.data_version,
        "code_version": event.code_version,
        "inputs": orjson.dumps(dict(event.inputs or {}), option=orjson.OPT_SORT_KEYS).decode(),
        "outcome": event.outcome,
        "reason": event.reason,
        "evidence": event.evidence,
        "seconds": event.seconds,
        "tokens": event.tokens,
        "usd": event.usd,
        "recorded_at": event.recorded_at,
    }


def _sqlite_settings(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout=30000")
    # It stays so once set, and setting it again needs a lock that another process may hold.
    if cursor.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        cursor.execute("PRAGMA journal_mode=WAL")
    cursor.close()
