"""The gates after a build: every shared library resolves, and the program runs without its build tree.

Exit status 0 of a build proves little: the program may need a library or a helper that stays behind in the
tree. Both gates therefore run in fresh sandboxes that hold the rootfs and the executable, nothing else.
"""

from __future__ import annotations

import re
import signal
from pathlib import Path

from gymline.build.settings import BuildSettings
from gymline.sandbox import Command, Completed, Limits, Mount, Root, Sandbox

_PROGRAM = "/program/executable"
_PROBES: tuple[tuple[str, ...], ...] = (("--help",), ("-h",), ("help",), ())


def unresolved_libraries(executable: Path, sandbox: Sandbox, root: Root, settings: BuildSettings) -> str:
    """The reason why the dynamic loader would not start it; empty where every library is found."""
    listing = _run(["ldd", _PROGRAM], executable, sandbox, root, settings)
    text = (listing.stdout + listing.stderr).decode(errors="replace")
    missing = sorted(set(re.findall(r"^\s*(\S+) => not found", text, re.MULTILINE)))
    versions = sorted(set(re.findall(r"version `([^']+)' not found", text)))
    if missing or versions:
        return f"executable does not resolve libraries: {', '.join(missing + versions)}"
    return "" if listing.ok else "executable does not resolve libraries: ldd refuses it"


def smoke(executable: Path, sandbox: Sandbox, root: Root, settings: BuildSettings) -> str:
    """The reason why it does not run by itself; empty as soon as one probe passes.

    A probe passes when the program ends by itself, was started at all (not 126 or 127) and printed something.
    One that fails and names the build path needs what stayed there.
    """
    failures: list[str] = []
    for probe in _PROBES:
        completed = _run([_PROGRAM, *probe], executable, sandbox, root, settings)
        failure = _failure(completed, settings)
        if not failure:
            return ""
        failures.append(f"{failure} ({' '.join(probe) or 'no arguments'})")
    return f"smoke run fails: {failures[0]}"


def _failure(completed: Completed, settings: BuildSettings) -> str:
    if completed.ending != "exited":
        return f"stopped by its {completed.ending} limit"
    if completed.status > 128:
        try:
            return f"killed by {signal.Signals(completed.status - 128).name}"
        except ValueError:
            pass
    if completed.status in (126, 127):
        return f"cannot be started, status {completed.status}"
    output = completed.stdout + completed.stderr
    if not output.strip():
        return "prints nothing"
    if completed.status and settings.source_path.encode() in output:
        return "needs its build tree"
    return ""


def _run(argv: list[str], executable: Path, sandbox: Sandbox, root: Root, settings: BuildSettings) -> Completed:
    limits = Limits(
        wall_seconds=settings.smoke_seconds, memory_bytes=settings.smoke_memory_bytes, cpus=settings.cpus,
        disk_bytes=settings.smoke_memory_bytes, output_bytes=settings.log_bytes,
    )  # fmt: skip
    return sandbox.run(
        root,
        Command(argv=argv, cwd="/tmp", mounts=[Mount(executable, _PROGRAM)], limits=limits, label="build smoke"),
    )
