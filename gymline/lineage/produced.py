"""What the top function of a room hands back for one partition: content apart from evidence.

Only ``content`` (and so the outcome inside it) enters the data version; evidence (logs, timings, attempts) is kept
beside it and shown. A refusal is an outcome with content of its own, so it is recorded, and not tried every night.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Outcome = Literal["built", "refused"]


@dataclass(frozen=True)
class Check:
    """The verdict of one check over one partition. A failed blocking check withholds the materialization."""

    name: str
    passed: bool
    description: str = ""
    blocking: bool = True
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Produced:
    """One partition's result.

    Args:
        content: a folder (stored as a tree) or a JSON value (stored as canonical JSON). Must be byte-deterministic:
            no times, no absolute host paths, sorted.
        outcome: ``built``, or ``refused`` when the input is what it is.
        reason: why refused, stable between runs (it is part of the content); empty when built.
        evidence: a folder of logs and measurements, stored beside the content; never part of the data version.
        metadata: what a person would like to see in the UI: counts, Markdown tables, seconds.
        checks: verdicts, in a stable order.
        tokens, usd: what it cost, for the ledger.
    """

    content: Path | Any
    outcome: Outcome = "built"
    reason: str = ""
    evidence: Path | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    checks: Sequence[Check] = ()
    tokens: int = 0
    usd: float = 0.0


def refused(reason: str, *, evidence: Path | None = None, metadata: Mapping[str, Any] | None = None) -> Produced:
    """A refusal as an outcome: its content is the reason alone."""
    return Produced(
        content={"refused": reason},
        outcome="refused",
        reason=reason,
        evidence=evidence,
        metadata=dict(metadata or {}),
    )
