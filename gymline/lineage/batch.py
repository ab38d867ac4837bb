"""Many partitions of one asset at once, each reported as it ends; a failure of one costs no other."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path

from gymline.catalog.catalog import Record
from gymline.errors import GymlineError, LineageError, StoreError
from gymline.lineage.code import CodeManifest
from gymline.lineage.graph import Graph, Node
from gymline.lineage.plan import Records, fan_in_manifest
from gymline.lineage.produced import Check, Produced
from gymline.lineage.work import Work
from gymline.store import Store, remove_tree

Make = Callable[[Work], Produced]

_STOP_AGAIN_SECONDS = 0.2


class CheckFailed(GymlineError):
    """A blocking check failed: the content is not recorded, and the partition stays stale."""


@dataclass(frozen=True)
class Made:
    """A partition that was made: its content is in the store and waits to be recorded."""

    key: str
    data_version: str
    inputs: Mapping[str, str]
    input_events: Mapping[str, int]
    produced: Produced
    evidence: str
    seconds: float


@dataclass(frozen=True)
class Failed:
    """A partition that could not be made; nothing is recorded for it, so it stays stale."""

    key: str
    error: Exception
    checks: Sequence[Check] = ()


@dataclass(frozen=True)
class Batch:
    """One asset, the snapshot of records it reads, and the code it was loaded with.

    The snapshot is taken when the run starts: what is recorded as read is what was read, whatever happens meanwhile.
    """

    graph: Graph
    node: Node
    records: Records
    partitions: Mapping[str, Sequence[str]]
    store: Store
    code: CodeManifest
    scratch: Path

    def run(
        self, keys: Sequence[str], make: Make, *, jobs: int, stop: Callable[[], object] = lambda: None
    ) -> Iterator[Made | Failed]:
        """Makes the keys with ``jobs`` threads, yielding results as they end.

        When the caller stops early (an interrupt, an error), ``stop`` is called until the threads have ended: it
        kills what they wait for.
        """
        self.store.put_json(dict(self.code.parts))
        fan_in = self._fan_in()
        # Threads and not processes: the work is done by git, compilers and sandboxes outside this process.
        with ThreadPoolExecutor(max_workers=max(1, min(jobs, len(keys))), thread_name_prefix=self.node.name) as pool:
            waiting = iter(keys)
            running: set[Future[Made | Failed]] = set()
            try:
                while True:
                    # Only a few are handed out at a time, so that a stop is not followed by the whole rest.
                    for key in waiting:
                        running.add(pool.submit(self._one, key, make, fan_in))
                        if len(running) >= 2 * jobs:
                            break
                    if not running:
                        return
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield future.result()
            finally:
                for future in running:
                    future.cancel()
                while wait(running, timeout=_STOP_AGAIN_SECONDS).not_done:
                    stop()
                remove_tree(self.scratch)

    def _fan_in(self) -> dict[str, dict[str, str]]:
        manifests: dict[str, dict[str, str]] = {}
        for edge in self.node.inputs:
            if edge.mapping == "all":
                manifest = fan_in_manifest(self.graph, edge.asset, self.records, self.partitions)
                self.store.put_json(manifest)
                manifests[edge.asset] = manifest
        return manifests

    def _one(self, key: str, make: Make, fan_in: Mapping[str, Mapping[str, str]]) -> Made | Failed:
        started = time.monotonic()
        self.scratch.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f"{self.node.name}-", dir=self.scratch))
        try:
            work = self._work(key, scratch, fan_in)
            produced = make(work)
            failing = [c for c in produced.checks if c.blocking and not c.passed]
            if failing:
                what = "; ".join(f"{c.name}: {c.description}" for c in failing)
                error = CheckFailed(
                    f"{self.node.name} {key}".strip(),
                    f"a blocking check failed: {what}",
                    "See the check in the UI",
                )
                return Failed(key, error, produced.checks)
            content = produced.content
            version = self.store.put_tree(content) if isinstance(content, Path) else self.store.put_json(content)
            evidence = self.store.put_tree(produced.evidence) if produced.evidence else ""
            return Made(
                key=key,
                data_version=version,
                inputs={
                    **{name: record.data_version for name, record in work.identity.items()},
                    **{name: self.store.put_json(dict(manifest)) for name, manifest in fan_in.items()},
                },
                input_events={name: record.event_id for name, record in work.identity.items()},
                produced=replace(produced, content=None),
                evidence=evidence,
                seconds=time.monotonic() - started,
            )
        except OSError as error:
            rule = f"the system refused: {error}"
            return Failed(
                key, StoreError(f"{self.node.name} {key}".strip(), rule, "Make space or mend rights, run again")
            )
        except Exception as error:
            # The boundary of a partition: whatever went wrong is reported for this key, and the others go on.
            return Failed(key, error)
        finally:
            remove_tree(scratch)

    def _work(self, key: str, scratch: Path, fan_in: Mapping[str, Mapping[str, str]]) -> Work:
        identity: dict[str, Record] = {}
        for edge in self.node.inputs:
            if edge.mapping != "identity":
                continue
            record = self.records.get(edge.asset, {}).get(key)
            subject = f"{self.node.name} {key}".strip()
            if record is None:
                raise LineageError(
                    subject,
                    f"its input {edge.asset!r} has not been built",
                    f"Build that first, or let the plan do it: gymline materialize --stale --partition {key}",
                )
            if record.outcome == "refused":
                raise LineageError(
                    subject,
                    f"its input {edge.asset!r} was refused: {record.reason}",
                    "There is nothing to build",
                )
            identity[edge.asset] = record
        return Work(self.node, key, self.store, scratch, identity, fan_in)
