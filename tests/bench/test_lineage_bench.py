"""The lineage benchmark in small: it finds exactly what was changed, and says so in its JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHANGED = 9


def bench(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "bench/lineage.py", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def small() -> dict[str, Any]:
    sizes = ["--repos", "60", "--programs", "10", "--recorded", "40", "--changed", str(CHANGED), "--sample", "20"]
    done = bench(*sizes, "--backends", "sqlite", "--json-only")
    assert done.returncode == 0, done.stdout + done.stderr
    [line] = done.stdout.splitlines()
    return json.loads(line)


def test_nothing_is_stale_when_nothing_changed(small: dict[str, Any]) -> None:
    plan = small["backends"]["sqlite"]["nothing_changed"]
    assert plan["stale"] == plan["pending"] == 0
    assert plan["fresh"] == small["sizes"]["partitions"] == 60 * 7 + 10 * 3 + 1


def test_exactly_what_was_changed_is_stale_each_for_its_reason(small: dict[str, Any]) -> None:
    plan = small["backends"]["sqlite"]["changed"]
    assert plan["stale"] == CHANGED
    assert plan["reasons"] == {"artifact missing": 3, "code changed": 2, "input changed": 2, "never built": 2}
    assert plan["fresh"] + plan["stale"] + plan["pending"] == small["sizes"]["partitions"]


def test_bulk_rows_look_like_recorded_ones(small: dict[str, Any]) -> None:
    measured = small["backends"]["sqlite"]
    assert measured["recorded"]["partitions"] == 40
    assert measured["bulk"]["partitions"] == small["sizes"]["partitions"] - 40
    assert measured["bulk"]["projected_anew_and_equal"] > 0


def test_the_peer_judges_the_sample_fresh_too(small: dict[str, Any]) -> None:
    assert small["backends"]["sqlite"]["peer"]["statuses"] == {"FRESH": 20}


def test_ratios_and_targets_are_reported(small: dict[str, Any]) -> None:
    assert small["passed"] and small["faults"] == []
    ratios = small["backends"]["sqlite"]["ratios"]
    assert set(ratios) == {"plan_to_floor", "changed_to_unchanged", "peer_extrapolated_to_plan"}
    assert all(ratio > 0 for ratio in ratios.values())


def test_an_impossible_size_is_a_wrong_option_and_says_what_works() -> None:
    done = bench("--repos", "5", "--programs", "4", "--recorded", "40", "--backends", "sqlite")
    assert done.returncode == 2
    assert "--repos 60" in done.stderr


def test_more_changes_than_programs_can_take_are_refused_at_once() -> None:
    done = bench("--repos", "60", "--programs", "10", "--recorded", "40", "--changed", "37", "--backends", "sqlite")
    assert done.returncode == 2
    assert "--changed" in done.stderr
