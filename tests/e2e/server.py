"""A real Dagster: webserver, daemon and code server on a home of their own, spoken to over GraphQL as the UI does."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

CHECKOUT = Path(__file__).resolve().parents[2]
SELECTOR = {"repositoryLocationName": "definitions", "repositoryName": "__repository__"}
FINISHED = ("SUCCESS", "FAILURE", "CANCELED")
T = TypeVar("T")


def until(what: str, look: Callable[[], T | None], *, seconds: float = 240, every: float = 1.0) -> T:
    """Waits for ``look`` to return something; fails naming what was waited for."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if (found := look()) is not None:
            return found
        time.sleep(every)
    raise AssertionError(f"waited {seconds:.0f} s in vain for: {what}")


@dataclass(frozen=True)
class Server:
    """The webserver. Methods do what buttons of the UI do."""

    url: str

    def ask(self, query: str, **variables: Any) -> Any:
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(f"{self.url}/graphql", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as response:
            answer = json.load(response)
        assert not answer.get("errors"), answer["errors"]
        return answer["data"]

    def launch(self, asset: str, *, tags: Mapping[str, str], run_config: Mapping[str, Any] | None = None) -> str:
        """Materializes an asset, as the launch button does; returns the run id."""
        result = self.ask(
            """mutation($params: ExecutionParams!) { launchRun(executionParams: $params) {
                 __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message }
                 ... on RunConfigValidationInvalid { errors { message } } } }""",
            params={
                "selector": {**SELECTOR, "jobName": "__ASSET_JOB", "assetSelection": [{"path": [asset]}]},
                "runConfigData": dict(run_config or {}),
                "mode": "default",
                "executionMetadata": {"tags": [{"key": key, "value": value} for key, value in tags.items()]},
            },
        )["launchRun"]
        assert result["__typename"] == "LaunchRunSuccess", result
        return str(result["run"]["runId"])

    def backfill(self, asset: str, partitions: list[str]) -> str:
        """Backfills partitions picked in the UI; returns the backfill id."""
        result = self.ask(
            """mutation($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
                 __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }""",
            params={"assetSelection": [{"path": [asset]}], "partitionNames": partitions, "tags": []},
        )["launchPartitionBackfill"]
        assert result["__typename"] == "LaunchBackfillSuccess", result
        return str(result["backfillId"])

    def runs(self, **tags: str) -> list[dict[str, Any]]:
        """Runs with these tags, oldest first: id, status, runConfigYaml, assetSelection, tags."""
        found = self.ask(
            """query($filter: RunsFilter) { runsOrError(filter: $filter) { ... on Runs { results {
                 runId status runConfigYaml tags { key value } assetSelection { path } } } } }""",
            filter={"tags": [{"key": key.replace("__", "/"), "value": value} for key, value in tags.items()]},
        )["runsOrError"]["results"]
        return list(reversed(found))

    def wait(self, run_id: str) -> str:
        """The final status of a run."""

        def look() -> str | None:
            answer = self.ask("query($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }", id=run_id)
            status = answer["runOrError"]["status"]
            return status if status in FINISHED else None

        return until(f"the end of run {run_id}", look)

    def stop_schedule(self, name: str) -> None:
        state = self.ask(
            "query($s: ScheduleSelector!) { scheduleOrError(scheduleSelector: $s) "
            "{ ... on Schedule { scheduleState { id } } } }",
            s={**SELECTOR, "scheduleName": name},
        )["scheduleOrError"]["scheduleState"]
        self.ask(
            "mutation($id: String!) { stopRunningSchedule(id: $id) { __typename } }",
            id=state["id"],
        )

    def dry_run_schedule(self, name: str) -> dict[str, Any]:
        """What a tick of the schedule would request now: the UI's test button."""
        result = self.ask(
            """mutation($s: ScheduleSelector!, $t: Float) { scheduleDryRun(selectorData: $s, timestamp: $t) {
                 __typename ... on DryRunInstigationTick { evaluationResult {
                   skipReason error { message } runRequests { runConfigYaml assetSelection { path } } } } } }""",
            s={**SELECTOR, "scheduleName": name},
            t=time.time(),
        )["scheduleDryRun"]
        assert result["__typename"] == "DryRunInstigationTick", result
        return dict(result["evaluationResult"])


@contextmanager
def running(home: Path, **environment: str) -> Iterator[Server]:
    """Starts ``dagster dev`` as ``make ui`` does; its process group is killed at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = home / "server.log"
    dagster = Path(sys.executable).with_name("dagster")
    process = subprocess.Popen(
        [dagster, "dev", "-m", "definitions", "--host", "127.0.0.1", "--port", str(port)],
        cwd=CHECKOUT,
        env={**os.environ, "DAGSTER_HOME": str(home), **environment},
        stdout=log.open("wb"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    server = Server(f"http://127.0.0.1:{port}")

    def answers() -> bool | None:
        assert process.poll() is None, log.read_text()[-3000:]
        try:
            found = server.ask("{ repositoriesOrError { ... on RepositoryConnection { nodes { name } } } }")
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return None
        return bool(found["repositoriesOrError"].get("nodes")) or None

    try:
        until("the webserver", answers)
        yield server
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
