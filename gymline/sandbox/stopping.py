"""Ends the sandboxes of this process before their time, because a person stopped the work they are for.

What a thread waits for in a sandbox may take an hour, and nothing else interrupts a thread. A sandbox that was stopped
raises ``SandboxError``: how it ended says nothing about the program inside.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager

from gymline.errors import SandboxError
from gymline.sandbox.cgroups import Group

_guard = threading.Lock()
_running: dict[str, Group] = {}
_stopped: set[str] = set()


def stop_running() -> int:
    """Kills what runs in this process's sandboxes now; returns how many those are. Call it until the threads that use
    them have ended: one may be about to start another, or not have joined its control group yet."""
    with _guard:
        groups = dict(_running)
        _stopped.update(groups)
    for group in groups.values():
        group.kill()
    return len(groups)


@contextmanager
def stoppable(group: Group, subject: str) -> Generator[None]:
    """Around the run of one sandbox. Raises ``SandboxError`` at its end, whatever that is, where it
    was stopped."""
    with _guard:
        _running[group.name] = group
    try:
        yield
    finally:
        with _guard:
            del _running[group.name]
            stopped = group.name in _stopped
            _stopped.discard(group.name)
        if stopped:
            raise SandboxError(subject, "it was stopped from outside", "Start the work again; it continues")
