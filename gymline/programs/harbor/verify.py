"""Scores /workspace/src inside the verifier's container and writes /logs/verifier/reward.json.

Runs as root, so that the tests (root only, mode 700) are out of reach of compile.sh and of the program, which
run as two other users. The program is run by ``worker.py``, whose docstring has the protocol. Anything that
fails here and is not the submission's fault ends this script without a reward."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

TESTS = Path("/tests")
SOURCE = Path("/workspace/src")
DEPS = Path("/workspace/deps")
REWARD = Path("/logs/verifier/reward.json")
BUILDER, RUNNER = 1001, 1002
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def main() -> int:
    if Path(__file__) != TESTS / "verify.py" or os.getuid() != 0:
        sys.stderr.write("verify: runs only as root and as /tests/verify.py\n")
        return 64
    TESTS.chmod(0o700)
    task: dict[str, Any] = json.loads((TESTS / "task.json").read_bytes())
    cases = [json.loads(line) for line in (TESTS / "cases.jsonl").read_bytes().splitlines()]
    executable = compiled(task)
    results = run(task, cases, executable) if executable else {}
    passed = sum(passes(case, results.get(case["id"])) for case in cases)
    reward = {
        "reward": passed / len(cases),
        "passed": passed,
        "total": len(cases),
        "compiled": int(executable is not None),
    }
    REWARD.write_text(json.dumps(reward) + "\n")
    sys.stdout.write(f"{passed} of {len(cases)} passed\n")
    return 0


def compiled(task: dict[str, Any]) -> Path | None:
    """The program that compile.sh leaves, out of the builder's reach; None where it leaves none."""
    for folder, folders, names in os.walk(SOURCE):
        for name in [*folders, *names]:
            path = Path(folder, name)
            os.chown(path, BUILDER, BUILDER, follow_symlinks=False)
            if path.is_file() and not path.is_symlink() and digest(path.read_bytes()) == task["gold_sha256"]:
                path.unlink()
    os.chown(SOURCE, BUILDER, BUILDER)
    left = SOURCE / "executable"
    shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink(missing_ok=True)
    if (SOURCE / "deps").is_dir() and not DEPS.exists():
        DEPS.symlink_to(SOURCE / "deps")
    script = SOURCE / "compile.sh"
    if not script.is_file() or script.is_symlink():
        return None
    env = {"PATH": PATH, "HOME": "/tmp", "LC_ALL": "C", "LANG": "C.UTF-8", "TZ": "UTC"}
    try:
        done = run_as(BUILDER, ["bash", str(script)], SOURCE, env, seconds=task["compile_seconds"])
        status = done.returncode
    except subprocess.TimeoutExpired:
        status = -1
    end_processes(BUILDER)
    for place in ("/tmp", "/var/tmp", "/dev/shm"):
        subprocess.run(["find", place, "-mindepth", "1", "-delete"], check=False)
    if status != 0 or left.is_symlink() or not left.is_file():
        return None
    target = Path("/program") / task["name"]
    target.parent.mkdir(exist_ok=True)
    shutil.copyfile(left, target, follow_symlinks=False)
    target.chmod(0o755)
    return target


def run(task: dict[str, Any], cases: list[dict[str, Any]], executable: Path) -> dict[str, dict[str, Any]]:
    """Result lines by case. A case that twice took the worker down, the second time alone, has none."""
    Path("/worker").mkdir(exist_ok=True)
    shutil.copyfile(TESTS / "worker.py", "/worker/worker.py")
    results: dict[str, dict[str, Any]] = {}
    deaths: dict[str, int] = {}
    waiting = [cases]
    expected = digest(executable.read_bytes())
    while waiting:
        batch = waiting.pop()
        lines = worker_lines(task, batch)
        if digest(executable.read_bytes()) != expected:
            raise SystemExit("verify: the program changed while it was tested")
        results.update((line["id"], line) for line in lines if "id" in line)
        missing = [case for case in batch if case["id"] not in results]
        started = {line["start"] for line in lines if "start" in line} | {
            case["id"] for case in batch if deaths.get(case["id"])
        }
        suspects = [case for case in missing if case["id"] in started]
        if missing and not suspects and len(missing) == len(batch):
            raise SystemExit("verify: the worker reported nothing")
        for case in suspects:
            deaths[case["id"]] = deaths.get(case["id"], 0) + 1
        rest = [case for case in missing if case["id"] not in started]
        waiting += [rest] if rest else []
        waiting += [[case] for case in suspects if deaths[case["id"]] < 2]
    return results


def worker_lines(task: dict[str, Any], batch: list[dict[str, Any]]) -> list[dict[str, Any]]:
    key = secrets.token_bytes(32)
    fields = ("id", "argv", "stdin", "files", "env", "timeout_seconds")
    needed = {case["stdin"] for case in batch} | {file["sha256"] for case in batch for file in case["files"]}
    payload = {
        **task["worker"],
        "key": key.hex(),
        "name": task["name"],
        "record": False,
        "invocations": [{field: case[field] for field in fields} for case in batch],
        "blobs": {one: base64.b64encode((TESTS / "inputs" / one).read_bytes()).decode() for one in needed if one},
    }
    argv = ["/usr/bin/python3", "-I", "-S", "/worker/worker.py"]
    seconds = 30 + sum(case["timeout_seconds"] + 1 for case in batch)
    content = zlib.compress(json.dumps(payload).encode(), 1)
    try:
        stdout = run_as(RUNNER, argv, Path("/"), {"PATH": PATH}, content, subprocess.PIPE, seconds).stdout
    except subprocess.TimeoutExpired as late:
        stdout = late.stdout or b""
    end_processes(RUNNER)
    lines: list[dict[str, Any]] = []
    for line in stdout.split(b"\n"):
        code, separator, content = line.partition(b" ")
        if separator and hmac.compare_digest(code, hmac.new(key, content, hashlib.sha256).hexdigest().encode()):
            lines.append(json.loads(content))
    return lines


def passes(case: dict[str, Any], seen: dict[str, Any] | None) -> bool:
    expected = case["expected"]
    if seen is None or seen["ending"] != "exited":
        return False
    present = {file["path"]: file["sha256"] for file in case["files"] if file["path"] not in seen["removed"]}
    present.update((file["path"], file["sha256"]) for file in seen["files"])
    return (
        seen["status"] == expected["status"]
        and seen["stdout"]["sha256"] == expected["stdout"]
        and expected["stderr_empty"] in (None, seen["stderr"]["size"] == 0)
        and (seen["files_complete"] or not expected["files"])
        and all(present.get(file["path"]) == file["sha256"] for file in expected["files"])
    )


def end_processes(uid: int) -> None:
    """Kills what the user left running; as that user, which needs no capability."""
    run_as(uid, [sys.executable, "-I", "-c", "import os; os.kill(-1, 9)"], Path("/"), {"PATH": PATH})


def run_as(
    uid: int,
    argv: list[str],
    cwd: Path,
    env: dict[str, str],
    content: bytes = b"",
    stdout: int | None = None,
    seconds: float = 60,
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        argv,
        cwd=cwd,
        env=env,
        input=content,
        stdout=stdout,
        timeout=seconds,
        check=False,
        user=uid,
        group=uid,
        extra_groups=[],
        start_new_session=True,
    )


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
