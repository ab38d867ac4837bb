"""The reading interface of one partition: it hands out declared inputs, at the versions that will be recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gymline.catalog.catalog import Record
from gymline.errors import LineageError
from gymline.lineage.graph import Node
from gymline.store import Store


@dataclass(frozen=True)
class Work:
    """One partition being made.

    Args:
        key: the partition key. scratch: a private folder, removed afterwards.
        identity: input → the record read for this key. fan_in: input → {key: data version}.
    """

    node: Node
    key: str
    store: Store
    scratch: Path
    identity: Mapping[str, Record]
    fan_in: Mapping[str, Mapping[str, str]]

    def json(self, asset: str) -> Any:
        """The JSON content of a declared input. Raises ``LineageError`` for one that is not declared."""
        return self.store.get_json(self._version(asset))

    def folder(self, asset: str) -> Path:
        """The folder content of a declared input, laid out in the scratch folder, once."""
        target = self.scratch / "inputs" / asset
        if not target.exists():
            self.store.checkout(self._version(asset), target)
        return target

    def observed(self, asset: str) -> str:
        """The data version of a declared source."""
        return self._version(asset)

    def each(self, asset: str) -> dict[str, Any]:
        """JSON contents of every partition of a fan-in input, by key."""
        if asset not in self.fan_in:
            raise self._undeclared(asset)
        return {key: self.store.get_json(version) for key, version in sorted(self.fan_in[asset].items())}

    def new(self, name: str) -> Path:
        """A new empty folder in the scratch folder."""
        folder = self.scratch / name
        folder.mkdir(parents=True)
        return folder

    def _version(self, asset: str) -> str:
        if asset not in self.identity:
            raise self._undeclared(asset)
        return self.identity[asset].data_version

    def _undeclared(self, asset: str) -> LineageError:
        return LineageError(
            f"asset {self.node.name!r}",
            f"it reads {asset!r} without declaring it, so a change there would go unnoticed",
            "Add it to the asset's inputs",
        )
