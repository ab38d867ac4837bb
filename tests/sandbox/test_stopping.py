"""A person stops the work: its sandboxes end at once, and nobody takes that for the program's own end."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor, wait

import pytest

from gymline.errors import SandboxError
from gymline.sandbox import Limits
from gymline.sandbox.cgroups import Group, find_hierarchy
from gymline.sandbox.labels import new_name
from gymline.sandbox.stopping import stop_running


def test_everything_that_runs_is_killed_and_reported_as_stopped(shell) -> None:
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(shell, "trap '' TERM INT; echo started; setsid sleep 60 & sleep 60") for _ in range(3)]
        started = time.monotonic()
        while wait(runs, timeout=0.2).not_done:
            stop_running()
        assert time.monotonic() - started < 20
    for run in runs:
        with pytest.raises(SandboxError, match="was stopped from outside"):
            run.result()


def test_what_runs_later_is_not_stopped(shell) -> None:
    assert stop_running() == 0
    assert shell("echo later").stdout == b"later\n"


def test_a_group_may_be_killed_while_another_thread_removes_it() -> None:
    hierarchy = find_hierarchy()
    with ThreadPoolExecutor(2) as pool:
        for _ in range(150):
            group = Group(hierarchy, new_name(), Limits())
            killing = pool.submit(lambda one=group: [one.kill() for _ in range(20)])
            group.remove()
            killing.result()
