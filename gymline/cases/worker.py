"""Runs a batch of invocations inside the sandbox; the standard library only (``python3 -I -S worker.py``).

Three parties share one sandbox and one uid: this worker, the program under test (hostile) and the sandbox's
own init. So nothing secret is ever a file here. The batch (invocations and the inputs they need, no
expectations) comes over stdin and is read to its end before the first program starts. Results leave over
stdout, one line each:

    <HMAC-SHA256 of the JSON, keyed by the host's one-time key> <JSON>

The key lives only in this process, which is not dumpable: under the same uid neither ``/proc/<pid>/mem`` nor
``/proc/<pid>/fd`` nor ptrace opens it. A program may reach the pipe through the init's descriptors and may
kill or stop this worker: it can spoil lines, never forge one. The host runs a spoiled case again, alone.

For each invocation: everything in /tmp is wiped, the files are laid into /tmp/case, a ``start`` line is
written, the program runs in a session of its own, and then *every* other process of the sandbox is killed and
reaped before the folder is looked at and the result line is written. That sweep (``kill(-1)``) is why this
file only runs as /worker/worker.py and where its user has nothing else running.
"""

# ruff: noqa: PTH101, PTH102, PTH103, PTH108, PTH112, PTH114, PTH116, PTH118, PTH120, PTH123, PTH208
from __future__ import annotations

import base64
import contextlib
import ctypes
import hashlib
import hmac
import json
import os
import resource
import select
import shutil
import signal
import stat
import subprocess
import sys
import time
import zlib
from typing import Any

Record = dict[str, Any]
HOME = "/tmp/case"
WIPED = ("/tmp", "/var/tmp", "/dev/shm")
MTIME = 1_700_000_000
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
PREVIEW = 2000


def main() -> int:
    mine = [name for name in os.listdir("/proc") if name.isdigit() and owner(name) == os.getuid()]
    if __file__ != "/worker/worker.py" or len(mine) > 4:
        sys.stderr.write("worker: not alone in a sandbox: refusing to start\n")
        return 64
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) or libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        sys.stderr.write("worker: prctl failed: refusing to start\n")
        return 65
    batch = json.loads(zlib.decompress(sys.stdin.buffer.read()))
    results = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(null, standard)
    os.closerange(max(results, null) + 1, 1024)

    limits = batch["limits"]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits["file_bytes"], limits["file_bytes"]))
    key = bytes.fromhex(batch["key"])
    blobs = {digest: base64.b64decode(content) for digest, content in batch["blobs"].items()}

    for number, invocation in enumerate(batch["invocations"]):
        wipe()
        home_is_laid = lay(invocation["files"], blobs)
        send(results, key, {"number": number, "start": invocation["id"]})
        outcome = run(batch, invocation, blobs) if home_is_laid is None else unstartable(home_is_laid)
        os.chdir("/")
        send(results, key, {"number": number, "id": invocation["id"], **outcome})
    return 0


def owner(process: str) -> int | None:
    with contextlib.suppress(OSError):
        return os.stat(f"/proc/{process}").st_uid
    return None


def send(results: int, key: bytes, record: Record) -> None:
    line = json.dumps(record, sort_keys=True).encode()
    # The leading newline ends whatever a program may have left in the pipe.
    out = b"\n" + hmac.new(key, line, hashlib.sha256).hexdigest().encode() + b" " + line + b"\n"
    while out:
        out = out[os.write(results, out) :]


def wipe() -> None:
    """Empties the writable places. Raises when a program left something that cannot go: the batch then ends
    here, between two invocations, and the host takes a new sandbox for the rest."""
    os.chdir("/")
    for place in WIPED:
        if not os.access(place, os.W_OK):
            continue
        for name in os.listdir(place):
            path = os.path.join(place, name)
            try:
                shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
            except (OSError, RecursionError):
                subprocess.run(["chmod", "-R", "u+rwx", path], stderr=subprocess.DEVNULL, check=False)
                subprocess.run(["rm", "-rf", path], stderr=subprocess.DEVNULL, check=True)


def lay(files: list[Record], blobs: dict[str, bytes]) -> str | None:
    """Makes the case folder with its files. Returns why it could not."""
    try:
        os.mkdir(HOME)
        for file in files:
            path = os.path.join(HOME, str(file["path"]))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "xb") as out:
                out.write(blobs[str(file["sha256"])])
            os.chmod(path, 0o755 if file["executable"] else 0o644)
        for folder, _, names in os.walk(HOME, topdown=False):
            for path in (*(os.path.join(folder, name) for name in names), folder):
                os.utime(path, (MTIME, MTIME))
        os.chdir(HOME)
    except (OSError, ValueError) as error:
        return f"the case's files cannot be laid: {error.__class__.__name__}"
    return None


def unstartable(why: str) -> Record:
    return {"ending": "unstartable", "detail": why, "status": None, "seconds": 0.0, "files": []}


def run(batch: Record, invocation: Record, blobs: dict[str, bytes]) -> Record:
    limits: dict[str, int] = batch["limits"]
    stdin = os.memfd_create("stdin")
    if invocation["stdin"] is not None:
        with open(os.dup(stdin), "wb") as out:
            out.write(blobs[str(invocation["stdin"])])
        os.lseek(stdin, 0, os.SEEK_SET)
    stdout, stdout_in = os.pipe()
    stderr, stderr_in = os.pipe()
    name = str(batch["name"])
    started = time.monotonic()
    try:
        pid = os.posix_spawn(
            f"/program/{name}",
            [name, *invocation["argv"]],
            {**batch["env"], **invocation["env"]},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, source, target) for target, source in enumerate((stdin, stdout_in, stderr_in))
            ],
            setsid=True,
            setsigmask=[],
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
        )
    except (OSError, ValueError) as error:
        for descriptor in (stdin, stdout, stdout_in, stderr, stderr_in):
            os.close(descriptor)
        return unstartable(f"the program cannot be started: {getattr(error, 'strerror', None) or error}")
    for descriptor in (stdin, stdout_in, stderr_in):
        os.close(descriptor)
    with contextlib.suppress(OSError), open(f"/proc/{pid}/oom_score_adj", "w") as out:
        out.write("1000")  # memory runs out: the program goes first, not this worker

    kept = {stdout: bytearray(), stderr: bytearray()}
    ending = follow(pid, kept, started + float(invocation["timeout_seconds"]), limits["output_bytes"])
    seconds = time.monotonic() - started
    status = sweep(pid)
    if ending == "exited":  # what a finished program left in the pipes
        for descriptor, content in kept.items():
            while (more := os.read(descriptor, 65536)) and len(content) <= limits["output_bytes"]:
                content += more
            ending = "output" if len(content) > limits["output_bytes"] else ending
    for descriptor in kept:
        os.close(descriptor)

    record = bool(batch["record"])
    outcome: Record = {
        "ending": ending,
        "status": 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status),
        "seconds": round(seconds, 4),
        "stdout": described(bytes(kept[stdout]), record),
        "stderr": described(bytes(kept[stderr]), False),
    }
    outcome.update(left_files(invocation, limits, record))
    return outcome


def follow(pid: int, kept: dict[int, bytearray], deadline: float, most: int) -> str:
    """Reads both streams until the program ends by itself (``exited``), runs late or says too much."""
    ended = os.pidfd_open(pid)
    poll = select.poll()
    for descriptor in (ended, *kept):
        poll.register(descriptor, select.POLLIN)
    try:
        while True:
            left = deadline - time.monotonic()
            ready = poll.poll(max(left, 0) * 1000)
            for descriptor, _ in ready:
                if descriptor == ended:
                    return "exited"
                more = os.read(descriptor, 65536)
                kept[descriptor] += more
                if not more:
                    poll.unregister(descriptor)
                if len(kept[descriptor]) > most:
                    return "output"
            if left <= 0:
                return "timeout"
    finally:
        os.close(ended)


def sweep(pid: int) -> int:
    """Kills everything else in this PID namespace and waits until it is gone. Returns the program's wait
    status."""
    status = None
    # The program itself may have ended already; its status must be read before orphans are reaped in bulk.
    reaped, code = os.waitpid(pid, os.WNOHANG)
    if reaped:
        status = code
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(-1, signal.SIGKILL)
    while True:  # as the subreaper, every descendant ends up here
        try:
            reaped, code = os.waitpid(-1, 0)
        except ChildProcessError:
            break
        if reaped == pid:
            status = code
    return status if status is not None else signal.SIGKILL


def described(content: bytes, record: bool) -> Record:
    about: Record = {
        "sha256": hashlib.sha256(content).hexdigest(),
        "size": len(content),
        "preview": content[:PREVIEW].decode("utf-8", "replace"),
    }
    if record:
        about["content"] = base64.b64encode(zlib.compress(content, 1)).decode()
    return about


def left_files(invocation: Record, limits: dict[str, int], record: bool) -> Record:
    """The regular files that are new or changed, and the laid ones that are gone. No link is followed: every
    program is dead by now, so what lstat says still holds when the file is opened."""
    laid = {str(file["path"]): file["sha256"] for file in invocation["files"]}
    found: dict[str, Record] = {}
    seen: set[str] = set()
    complete = True
    total = 0
    # The folder itself may be gone, or a link by now: then nothing was left in it.
    stack = [""] if os.path.isdir(HOME) and not os.path.islink(HOME) else []
    while stack:
        folder = stack.pop()
        try:
            names = sorted(os.listdir(os.path.join(HOME, folder)))
        except OSError:
            complete = False
            continue
        for name in names:
            path = os.path.join(folder, name)
            full = os.path.join(HOME, path)
            try:
                about = os.lstat(full)
                if stat.S_ISDIR(about.st_mode):
                    if path.count("/") < limits["depth"]:
                        stack.append(path)
                    else:
                        complete = False
                elif stat.S_ISREG(about.st_mode):
                    total += about.st_size
                    if len(seen) >= limits["files"] or total > limits["files_bytes"]:
                        return {"files": [], "removed": [], "files_complete": False}
                    with open(os.open(full, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
                        one = described(file.read(), record)
                    seen.add(path)
                    if laid.get(path) != one["sha256"]:
                        found[os.fsencode(path).decode("utf-8", "backslashreplace")] = one
            except OSError:
                complete = False
    files = [
        {"path": path, **{k: v for k, v in about.items() if k != "preview"}} for path, about in sorted(found.items())
    ]
    return {"files": files, "removed": sorted(set(laid) - seen), "files_complete": complete}


if __name__ == "__main__":
    sys.exit(main())
