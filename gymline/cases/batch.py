"""One batch of invocations in one sandbox: what goes in, and which of the lines that come out are genuine.

The trust argument is in ``worker.py``: stdin carries the key and the inputs and is used up before a program
runs; of stdout only lines with a valid HMAC count. No suite file is mounted, so a program finds neither
expectations nor the other cases' inputs in its sandbox."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from gymline.cases.case import Invocation
from gymline.cases.observation import Observation, from_worker
from gymline.cases.settings import CaseSettings
from gymline.errors import CaseError
from gymline.sandbox import Command, Limits, Mount, Root, Sandbox

WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True)
class Program:
    """The program under test: its file on the host and the name it is called by (argv[0]).

    ``mounts`` and ``env`` add to what it sees (a coverage build writes its counters to a mounted folder)."""

    executable: Path
    name: str
    mounts: tuple[Mount, ...] = ()
    env: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.name in ("", ".", "..") or "/" in self.name:
            raise CaseError(
                f"program {self.name!r}", "its name must be a file name", "Take the name in the build's gold.json"
            )


@dataclass(frozen=True)
class BatchOutcome:
    """``finished`` by id, the ids that were ``started``, and how the worker ended, in words."""

    finished: Mapping[str, Observation]
    started: frozenset[str]
    ending: str


def cut(invocations: Iterable[Invocation], inputs: Path, settings: CaseSettings) -> Iterator[list[Invocation]]:
    """Cuts the invocations into batches by number and by the bytes of the inputs they need."""
    batch: list[Invocation] = []
    size = 0
    for invocation in invocations:
        needed = sum((inputs / digest).stat().st_size for digest in _digests(invocation) if (inputs / digest).exists())
        if batch and (len(batch) >= settings.batch_cases or size + needed > settings.batch_input_bytes):
            yield batch
            batch, size = [], 0
        batch.append(invocation)
        size += needed
    if batch:
        yield batch


def run_batch(
    sandbox: Sandbox,
    root: Root,
    program: Program,
    invocations: Sequence[Invocation],
    inputs: Path,
    settings: CaseSettings,
    *,
    record: bool,
) -> BatchOutcome:
    """Runs the batch to its end, wherever that is. Raises ``SandboxError`` from the sandbox, ``CaseError``
    for an input that is missing or does not have the digest it is named by."""
    key = secrets.token_bytes(32)
    payload: dict[str, Any] = {
        "key": key.hex(),
        "name": program.name,
        "record": record,
        "env": {**settings.environment(), **dict(program.env)},
        "limits": settings.worker_limits(),
        "invocations": [_plain(invocation) for invocation in invocations],
        "blobs": _blobs(invocations, inputs),
    }
    done = sandbox.run(
        root,
        Command(
            argv=("/usr/bin/python3", "-I", "-S", "/worker/worker.py"),
            stdin=zlib.compress(orjson.dumps(payload), 1),
            mounts=(
                Mount(WORKER, "/worker/worker.py"),
                Mount(program.executable, f"/program/{program.name}"),
                *program.mounts,
            ),
            limits=Limits(
                wall_seconds=settings.grace_seconds + sum(one.timeout_seconds + 1 for one in invocations),
                memory_bytes=settings.memory_bytes,
                processes=settings.processes,
                cpus=settings.cpus,
                disk_bytes=settings.disk_bytes,
                output_bytes=settings.batch_output_bytes,
            ),
            label=f"cases {program.name}",
        ),
    )
    finished: dict[str, Observation] = {}
    started: set[str] = set()
    for line in _genuine(done.stdout, key):
        if "start" in line:
            started.add(line["start"])
        else:
            finished.setdefault(line["id"], from_worker(line))
    said = done.stderr[-500:].decode("utf-8", "replace").strip()
    return BatchOutcome(finished, frozenset(started), f"{done.ending}, status {done.status}: {said}".rstrip(": "))


def _genuine(stdout: bytes, key: bytes) -> Iterator[dict[str, Any]]:
    for line in stdout.split(b"\n"):
        code, separator, content = line.partition(b" ")
        expected = hmac.new(key, content, hashlib.sha256).hexdigest().encode()
        if separator and hmac.compare_digest(code, expected):
            yield orjson.loads(content)


def _plain(invocation: Invocation) -> dict[str, Any]:
    return invocation.model_dump(mode="json", include=set(Invocation.model_fields))


def _digests(invocation: Invocation) -> list[str]:
    files = [file.sha256 for file in invocation.files]
    return [invocation.stdin, *files] if invocation.stdin is not None else files


def _blobs(invocations: Sequence[Invocation], inputs: Path) -> dict[str, str]:
    blobs: dict[str, str] = {}
    for invocation in invocations:
        for digest in _digests(invocation):
            if digest in blobs:
                continue
            try:
                content = (inputs / digest).read_bytes()
            except FileNotFoundError:
                raise CaseError(
                    f"case {invocation.id!r}",
                    f"its input {digest[:12]} is not in the suite",
                    "Rebuild the suite",
                ) from None
            if hashlib.sha256(content).hexdigest() != digest:
                raise CaseError(
                    f"case {invocation.id!r}", f"its input {digest[:12]} has other bytes", "Rebuild the suite"
                )
            blobs[digest] = base64.b64encode(content).decode()
    return blobs
