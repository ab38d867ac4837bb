"""Picks the back end. There is no fallback to the host: when none works, untrusted code does not run."""

from __future__ import annotations

from gymline.sandbox import Sandbox
from gymline.sandbox.bubblewrap import BubblewrapSandbox
from gymline.sandbox.settings import SandboxSettings


def open_sandbox(settings: SandboxSettings) -> Sandbox:
    """The back end of the settings, ready to run; leftovers of dead supervisors are reaped first.

    Raises:
        SandboxUnavailable: none works on this machine; its fix says what to install.
    """
    # `auto` and `bubblewrap` are the same while Bubblewrap is the only back end.
    return BubblewrapSandbox(settings)
