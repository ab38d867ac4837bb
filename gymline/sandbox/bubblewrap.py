"""The Bubblewrap back end: one ``bwrap`` for each command, on an overlay of the rootfs and its layers.

``launch.sh`` joins the control group, mounts the overlay in a private mount namespace and becomes bwrap, which makes
the other namespaces. An ordinary user inside is a user namespace in which that uid is the only one, with no capability
and no further namespaces; it owns what root owns outside, so writable mounts must belong to root. Uid 0, for package
managers, gets no user namespace but only the capabilities dpkg needs. A run's root is read-only; a layer's is the
overlay's upper folder. Memory counts /tmp too, so /tmp takes at most half of it.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from gymline.errors import SandboxError, SandboxUnavailable
from gymline.sandbox import Command, Completed, Ending, Limits, Root
from gymline.sandbox.cgroups import Group, find_hierarchy
from gymline.sandbox.disk import DiskWatch
from gymline.sandbox.labels import WORK_LINK, live_folder, new_name, reap_leftovers, record_group, remove_state
from gymline.sandbox.online import ONLINE_TARGETS, online_environment, online_files
from gymline.sandbox.seccomp import seccomp_program
from gymline.sandbox.settings import SandboxSettings
from gymline.sandbox.stopping import stoppable
from gymline.sandbox.streams import Capture, drain, pump

HOSTNAME = "gymline"
_LAUNCH = Path(__file__).with_name("launch.sh")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PACKAGE_MANAGER_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETGID", "SETUID")
_OLDEST = (0, 8)
_KILLED = 128 + signal.SIGKILL
_FILE_TOO_LARGE = 128 + signal.SIGXFSZ


def bubblewrap_version() -> tuple[int, ...]:
    """The version of the ``bwrap`` on PATH.

    Raises:
        SandboxUnavailable: there is none, it does not start, or it is older than 0.8, the first with --disable-userns.
    """
    path = shutil.which("bwrap")
    answer = subprocess.run([path, "--version"], capture_output=True, text=True).stdout if path else ""
    version = tuple(int(part) for part in re.findall(r"\d+", answer))
    if version >= _OLDEST:
        return version
    rule = f"version {answer.strip() or 'unknown'} is older than 0.8" if path else "bwrap is not on PATH"
    raise SandboxUnavailable("bubblewrap", rule, "Run `apt-get install bubblewrap` 0.8 or newer.")


class BubblewrapSandbox:
    """Implements ``Sandbox``. Any number of threads may run commands at once.

    Raises:
        SandboxUnavailable: bwrap, root or control groups are missing.
    """

    name = "bubblewrap"

    def __init__(self, settings: SandboxSettings) -> None:
        bubblewrap_version()
        if os.geteuid() != 0:
            raise SandboxUnavailable(
                "bubblewrap", "its overlays and limits need root, and this is an ordinary user", "Run as root."
            )
        self._bwrap = shutil.which("bwrap") or "bwrap"
        self._cache = settings.cache
        self._hierarchy = find_hierarchy()
        live_folder(self._cache).mkdir(parents=True, exist_ok=True)
        reap_leftovers(self._cache, self._hierarchy)

    def run(self, root: Root, command: Command) -> Completed:
        """See ``Sandbox.run``."""
        return self._run(root, command, None)

    def run_layer(self, root: Root, command: Command, layer: Path) -> Completed:
        """See ``Sandbox.run_layer``. Deletions are overlay whiteouts; the layer's file system must support them."""
        try:
            layer.mkdir(mode=0o755)
        except OSError as error:
            raise SandboxError(f"layer {layer}", f"it must be a new folder ({error})", "Name another.") from error
        layer.chmod(0o755)
        return self._run(root, command, layer)

    def _run(self, root: Root, command: Command, layer: Path | None) -> Completed:
        _check(root, command)
        name = new_name()
        state = live_folder(self._cache) / name
        group = None
        try:
            state.mkdir()
            for part in ("root", "private"):
                (state / part).mkdir()
            lowers = [*reversed(root.layers), root.folder]
            for number, lower in enumerate(lowers):
                (state / f"lower{number}").symlink_to(lower.absolute())
            if layer:
                work = layer.absolute().with_name(f".{layer.name}.{name}")
                (state / "upper").symlink_to(layer.absolute())
                (state / WORK_LINK).symlink_to(work)
                work.mkdir()
            record_group(state, self._hierarchy.folders(name))
            group = Group(self._hierarchy, name, command.limits)
            lowerdir = ":".join(f"lower{number}" for number in range(len(lowers)))
            blocks = str(math.ceil(command.limits.disk_bytes / 512))
            argv = ["unshare", "--mount", "--propagation", "private", "sh", str(_LAUNCH), str(state), blocks]
            argv += [lowerdir, "layer" if layer else "tmpfs", *map(str, group.join_files), "--"]
            argv += [self._bwrap, *self._arguments(state, command, layer is not None)]
            with stoppable(group, f"command {_label(command)}"):
                return self._supervise(argv, command, group, layer)
        finally:
            if group:
                group.kill()
                group.remove()
            remove_state(state)

    def _arguments(self, state: Path, command: Command, writable_root: bool) -> Iterator[str]:
        yield from ("--die-with-parent", "--new-session", "--unshare-uts", "--hostname", HOSTNAME)
        yield from ("--unshare-pid", "--unshare-ipc", "--unshare-cgroup-try", "--cap-drop", "ALL")
        if not command.network:
            yield "--unshare-net"
        if command.user == 0:
            for capability in _PACKAGE_MANAGER_CAPABILITIES:
                yield from ("--cap-add", f"CAP_{capability}")
        else:
            yield from ("--unshare-user", "--uid", str(command.user), "--gid", str(command.user))
            yield "--disable-userns"
        yield from ("--bind", str(state / "root"), "/", "--proc", "/proc", "--dev", "/dev")
        small = str(_tmp_bytes(command.limits))
        for target in ("/dev/shm", "/tmp"):
            yield from ("--perms", "1777", "--size", small, "--tmpfs", target)
        yield from ("--remount-ro", "/dev")
        # Both kinds of user are uid 0 to the kernel's files, and bwrap leaves /proc/sys writable for their owner.
        yield from ("--remount-ro", "/proc")
        if command.network:
            for target, source in online_files(state).items():
                yield from ("--ro-bind", str(source), target)
        for mount in sorted(command.mounts, key=lambda mount: mount.target.count("/")):
            yield from ("--bind" if mount.writable else "--ro-bind", str(mount.source.absolute()), mount.target)
        if not writable_root:
            yield from ("--remount-ro", "/")
        yield from ("--chdir", command.cwd, "--clearenv")
        home = "/root" if command.user == 0 else "/tmp"
        env = {"PATH": _PATH, "HOME": home, "LANG": "C.UTF-8", "TZ": "UTC"}
        for key, value in (env | (online_environment() if command.network else {}) | dict(command.env)).items():
            yield from ("--setenv", key, value)

    def _supervise(self, argv: list[str], command: Command, group: Group, layer: Path | None) -> Completed:
        limits = command.limits
        writable = [mount.source for mount in command.mounts if mount.writable]
        watch = DiskWatch([*writable, *([layer] if layer else [])], limits.disk_bytes, group.processes)
        captures = Capture(limits.output_bytes), Capture(limits.output_bytes)
        status_reader, status_writer = os.pipe()
        options = ["--json-status-fd", str(status_writer)]
        given = [status_writer]
        if program := seccomp_program():
            given.append(os.memfd_create("seccomp"))
            os.pwrite(given[-1], program, 0)
            options += ["--seccomp", str(given[-1])]
        with os.fdopen(status_reader, "rb") as told:
            started = time.monotonic()
            try:
                process = subprocess.Popen(
                    [*argv, *options, "--", *command.argv],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env={"PATH": _PATH},
                    pass_fds=given,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise SandboxError(
                    f"command {_label(command)}", f"it cannot be started ({error})", "Shorten or repair its arguments."
                ) from error
            finally:
                for descriptor in given:
                    os.close(descriptor)
            ending: Ending = "exited"
            try:
                ending = pump(
                    process,
                    command.stdin,
                    captures,
                    limits.output_bytes,
                    started + limits.wall_seconds,
                    lambda: "disk" if watch.exceeded() else None,
                )
            finally:
                group.kill()
                # Not yet in the group when the launcher itself is what hangs.
                process.kill()
                process.wait()
                drain(process, captures)
            seconds = time.monotonic() - started
            documents = told.read().decode()
        exit_code = re.search(r'"exit-code"\s*:\s*(\d+)', documents)
        status = int(exit_code[1]) if exit_code else _KILLED
        stdout, stderr = captures
        if ending == "exited":
            if group.memory_kills():
                ending = "memory"
            elif status == _FILE_TOO_LARGE or watch.exceeded():
                ending = "disk"
            elif not exit_code:
                status = _never_started(command, stderr.kept())
        else:
            status = _KILLED
        return Completed(
            status=status,
            ending=ending,
            stdout=stdout.kept(),
            stderr=stderr.kept(),
            stdout_dropped=stdout.dropped,
            stderr_dropped=stderr.dropped,
            seconds=seconds,
            peak_memory_bytes=group.peak_memory_bytes(),
        )


def _tmp_bytes(limits: Limits) -> int:
    return max(1, min(limits.disk_bytes, limits.memory_bytes // 2))


def _label(command: Command) -> str:
    return repr((command.label or " ".join(command.argv))[:60])


def _check(root: Root, command: Command) -> None:
    """Refuses what bwrap would refuse in its own words."""
    label = f"command {_label(command)}"
    if not command.argv:
        raise SandboxError(label, "argv is empty", "Give the program to run.")
    for lower in (root.folder, *root.layers):
        if not lower.is_dir():
            raise SandboxError(label, f"its root {lower} is not a folder", "Prepare the rootfs and its layers.")
    for mount in command.mounts:
        if not mount.target.startswith("/") or not mount.source.exists():
            raise SandboxError(
                label,
                f"the mount {mount.source} at {mount.target!r} has no source or no absolute target",
                "Make the source first.",
            )
    targets = [mount.target for mount in command.mounts] + ["/proc", "/dev", "/tmp"]
    for target in [*targets, *(ONLINE_TARGETS if command.network else ())]:
        for layer in root.layers:
            # bwrap follows links when it makes mount points, with the host's root still in reach.
            inside = layer / target.lstrip("/")
            if any(path.is_symlink() for path in (inside, *inside.parents) if layer in path.parents):
                raise SandboxError(label, f"the mount target {target} passes a link in the layer {layer}", "Move it.")


def _never_started(command: Command, stderr: bytes) -> int:
    """The shell's status for a program that cannot be executed; without an exit status nothing but bwrap and the
    launcher ever wrote to stderr."""
    text = stderr.decode(errors="replace").strip()
    if "execvp" in text:
        return 127 if "No such file" in text else 126
    raise SandboxError(
        f"command {_label(command)}",
        f"the sandbox did not start: {text or 'its supervisor was killed'}",
        "Run `gymline doctor`.",
    )
