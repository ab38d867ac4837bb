"""Feeds a process and keeps what it prints, bounded, until it ends or a rule ends it.

One loop serves stdin, stdout, stderr, the end of the process and the clock, so nothing can fill a pipe and deadlock.
Of each stream the first 70% and the last 30% of its bound are kept and the rest is read, counted and dropped; a
process that prints ``FLOOD`` times its bound is told to end.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Callable

from gymline.sandbox import Ending

FLOOD = 64
_CHUNK = 256 * 1024
_TICK_SECONDS = 0.1


class Capture:
    """The head and tail of one stream."""

    def __init__(self, bound: int) -> None:
        self._head_bound = bound * 7 // 10
        self._tail_bound = bound - self._head_bound
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self._head_bound - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * self._tail_bound + _CHUNK:
            self._trim()

    def _trim(self) -> None:
        del self._tail[: max(0, len(self._tail) - self._tail_bound)]

    def kept(self) -> bytes:
        """What is kept; the bytes between head and tail are missing when ``dropped`` is not 0."""
        self._trim()
        return bytes(self._head + self._tail)

    @property
    def dropped(self) -> int:
        return self.total - len(self.kept())


def pump(
    process: subprocess.Popen[bytes],
    stdin: bytes,
    captures: tuple[Capture, Capture],
    output_bytes: int,
    deadline: float,
    tick: Callable[[], Ending | None],
) -> Ending:
    """Runs the loop until the process exited, or until a rule says to end it: the caller then kills.

    Args:
        captures: take stdout and stderr.
        deadline: on the monotonic clock.
        tick: called about ten times a second; an ending it returns stops the loop.
    """
    assert process.stdin and process.stdout and process.stderr
    unsent = memoryview(stdin)
    exited = os.pidfd_open(process.pid)
    next_tick = time.monotonic() + _TICK_SECONDS
    with selectors.DefaultSelector() as selector:
        for stream, capture in zip((process.stdout, process.stderr), captures, strict=True):
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ, capture)
        if unsent:
            os.set_blocking(process.stdin.fileno(), False)
            selector.register(process.stdin, selectors.EVENT_WRITE)
        else:
            process.stdin.close()
        selector.register(exited, selectors.EVENT_READ)
        try:
            while True:
                now = time.monotonic()
                if now >= deadline:
                    return "timeout"
                if now >= next_tick:
                    if ending := tick():
                        return ending
                    next_tick = time.monotonic() + _TICK_SECONDS
                for key, _ in selector.select(max(0.0, min(deadline, next_tick) - now)):
                    if key.fd == exited:
                        return "exited"
                    if key.fileobj is process.stdin:
                        unsent = _feed(key.fd, unsent)
                        if not unsent:
                            selector.unregister(process.stdin)
                            _close(process)
                    elif not _read_once(key.fd, key.data):
                        selector.unregister(key.fileobj)
                    elif key.data.total > FLOOD * output_bytes:
                        return "output"
        finally:
            os.close(exited)


def drain(process: subprocess.Popen[bytes], captures: tuple[Capture, Capture]) -> None:
    """Takes what is left in the pipes of a process tree that is dead, and closes them."""
    for stream, capture in zip((process.stdout, process.stderr), captures, strict=True):
        assert stream
        with stream:
            while _read_once(stream.fileno(), capture):
                pass
    _close(process)


def _close(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()


def _feed(descriptor: int, unsent: memoryview) -> memoryview:
    """What is still to be sent; nothing when the reader closed its end."""
    try:
        return unsent[os.write(descriptor, unsent[:_CHUNK]) :]
    except BlockingIOError:
        return unsent
    except BrokenPipeError:
        return unsent[:0]


def _read_once(descriptor: int, capture: Capture) -> bool:
    try:
        chunk = os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return False
    capture.add(chunk)
    return bool(chunk)
