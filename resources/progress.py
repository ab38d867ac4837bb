"""Who listens to partitions as they end. A terminal that executes runs in its own process subscribes here."""

from __future__ import annotations

from collections.abc import Callable

from gymline.lineage.batch import Failed, Made

Listener = Callable[[str, Made | Failed], None]
listeners: list[Listener] = []


def announce(asset: str, result: Made | Failed) -> None:
    """Tells every listener in this process."""
    for listener in listeners:
        listener(asset, result)
