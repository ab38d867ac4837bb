"""How a command that wants too much ends, and that nothing of it is left."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gymline.errors import SandboxError
from gymline.sandbox import MIB, Limits, Mount
from gymline.sandbox.cgroups import Group, find_hierarchy
from gymline.sandbox.labels import PREFIX, new_name
from gymline.store import remove_tree


def processes_with(marker: str) -> list[str]:
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes()
        except OSError:
            continue
        if marker.encode() in text and b"pytest" not in text:
            found.append(path.parent.name)
    return found


def test_a_timeout_keeps_partial_output_and_leaves_no_process(shell) -> None:
    marker = "31337.25"
    done = shell(
        f"echo before; echo problem >&2; setsid sleep {marker} & (trap '' TERM INT; sleep {marker}) & sleep {marker}",
        limits=Limits(wall_seconds=1),
    )
    assert (done.ending, done.status) == ("timeout", 137)
    assert (done.stdout, done.stderr) == (b"before\n", b"problem\n")
    assert 1 <= done.seconds < 3
    assert processes_with(marker) == []


def test_what_a_command_left_in_the_background_dies_with_it(shell) -> None:
    marker = "31337.5"
    done = shell(f"setsid sleep {marker} >/dev/null 2>&1 & echo started")
    assert done.ok
    assert done.seconds < 5
    assert processes_with(marker) == []


def test_a_command_that_closed_its_output_is_still_waited_for_and_timed(shell) -> None:
    assert shell("exec >&- 2>&-; sleep 0.5; exit 4").status == 4
    assert shell("exec >&- 2>&-; sleep 60", limits=Limits(wall_seconds=0.5)).ending == "timeout"


def test_a_fork_bomb_is_harmless(shell) -> None:
    started = time.monotonic()
    done = shell("bomb() { bomb | bomb & }; bomb; sleep 30", limits=Limits(wall_seconds=2, processes=64))
    assert done.ending in ("timeout", "exited")
    assert time.monotonic() - started < 15


def test_the_number_of_processes_is_exactly_what_was_allowed(python) -> None:
    spawn = (
        "import os, time\nn = 0\ntry:\n    while True:\n        if os.fork() == 0: time.sleep(60)\n        n += 1\n"
        "except OSError: print(n)"
    )
    assert python(spawn, limits=Limits(processes=20)).stdout == b"19\n"


def test_a_memory_hog_ends_for_memory_also_through_tmpfs(python) -> None:
    limits = Limits(memory_bytes=128 * MIB)
    done = python("print('x', flush=True); b = bytearray(300 * 2**20)", limits=limits)
    assert (done.ending, done.stdout) == ("memory", b"x\n")
    assert done.peak_memory_bytes and done.peak_memory_bytes <= 128 * MIB
    hog = "a, b = open('/tmp/a', 'wb'), open('/dev/shm/b', 'wb')\n"
    hog += "while a.write(bytes(2**20)) and b.write(bytes(2**20)): pass"
    done = python(hog, limits=limits)
    assert done.ending == "memory"


def test_much_output_is_capped_with_head_and_tail_kept_and_the_rest_counted(python) -> None:
    whole = b"".join(b"line %06d\n" % number for number in range(4000))
    done = python("for i in range(4000): print(f'line {i:06}')", limits=Limits(output_bytes=1000))
    assert done.ok
    assert done.stdout == whole[:700] + whole[-300:]
    assert done.stdout_dropped == len(whole) - 1000


def test_an_endless_flood_ends_for_output(shell) -> None:
    done = shell("yes", limits=Limits(wall_seconds=30, output_bytes=100_000))
    assert (done.ending, len(done.stdout)) == ("output", 100_000)
    assert done.seconds < 10


FILLERS = {
    "one file": "f = open('/job/f', 'wb')\nwhile True: f.write(bytes(2**20))",
    "many files": "i = 0\nwhile True:\n    i += 1\n    open(f'/job/{i}', 'wb').write(bytes(2**20))",
    "deleted files": "import os\nkeep = []\nwhile True:\n    f = open('/job/f', 'wb'); os.unlink('/job/f')\n"
    "    f.write(bytes(2**20)); f.flush(); keep.append(f)",
    "too deep to look at": "import os, time\nos.chdir('/job')\n"
    "for _ in range(1500): os.mkdir('d' * 200); os.chdir('d' * 200)\ntime.sleep(60)",
}


@pytest.mark.parametrize("filler", FILLERS)
def test_a_disk_filler_ends_for_disk(python, workspace: Path, filler: str) -> None:
    limits = Limits(wall_seconds=30, disk_bytes=50 * MIB)
    mounts = [Mount(workspace, "/job", writable=True)]
    done = python(FILLERS[filler], mounts=mounts, limits=limits)
    remove_tree(workspace / ("d" * 200))
    assert done.ending == "disk", done
    assert sum(file.stat().st_size for file in workspace.glob("*") if file.is_file()) < 1000 * MIB


def test_what_was_there_before_is_not_counted_as_written(shell, workspace: Path) -> None:
    (workspace / "big").write_bytes(bytes(20 * MIB))
    limits = Limits(disk_bytes=10 * MIB)
    assert shell("echo x >/job/small", mounts=[Mount(workspace, "/job", True)], limits=limits).ok


def test_tmp_is_full_at_its_size(shell) -> None:
    done = shell(
        "head -c 50M /dev/zero >/tmp/f; df -B1 --output=size /tmp | tail -1", limits=Limits(disk_bytes=20 * MIB)
    )
    assert done.ending == "exited"
    assert int(done.stdout) == 20 * MIB


def test_cpu_time_is_bounded(python) -> None:
    burn = "import time\nt = time.monotonic()\nwhile time.monotonic() - t < 2: pass\nprint(time.process_time())"
    assert float(python(burn, limits=Limits(cpus=0.25)).stdout) < 1.0


def test_limits_are_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    hierarchy = find_hierarchy()
    group = Group(hierarchy, new_name(), Limits(memory_bytes=100 * MIB, processes=10, cpus=0.5))
    try:
        assert group.processes() == []
        assert group.memory_kills() == 0
    finally:
        group.remove()
    # A kernel that takes a value and keeps another: pids.max cannot be what is written here.
    monkeypatch.setattr("gymline.sandbox.cgroups._OWN_PROCESSES", 0.5)
    name = new_name()
    with pytest.raises(SandboxError, match="a limit cannot be set"):
        Group(hierarchy, name, Limits())
    monkeypatch.setattr("gymline.sandbox.cgroups._PAGE", 1)
    monkeypatch.setattr("gymline.sandbox.cgroups._OWN_PROCESSES", 2)
    with pytest.raises(SandboxError, match="reads 104857600"):
        Group(hierarchy, name, Limits(memory_bytes=100 * MIB + 1))
    assert hierarchy.names(name) == set()


def test_nothing_is_left_in_cgroups_or_cache_after_runs(shell, root) -> None:
    shell("true")
    shell("sleep 60", limits=Limits(wall_seconds=0.2))
    prefix = new_name().rpartition("-")[0]
    assert prefix.startswith(PREFIX)
    assert find_hierarchy().names(prefix) == set()
    assert list((root.folder.parent / "live").glob(f"{prefix}*")) == []
