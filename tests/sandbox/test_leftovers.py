"""A supervisor that died by kill -9 leaves nothing running, and what it left lying is reaped."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from gymline.sandbox import Command, Limits, Root, Sandbox
from gymline.sandbox.cgroups import Hierarchy, find_hierarchy
from gymline.sandbox.labels import live_folder, reap_leftovers

SUPERVISOR = """
import sys
from pathlib import Path
from gymline.sandbox import Command, Mount, Root
from gymline.sandbox.choose import open_sandbox
from gymline.sandbox.settings import SandboxSettings
folder = Path(sys.argv[2])
script = "touch /job/ready; setsid sleep 600 & sleep 600"
command = Command(["sh", "-c", script], mounts=[Mount(folder / "w", "/job", True)])
sandbox = open_sandbox(SandboxSettings())
sandbox.run_layer(Root(Path(sys.argv[1]), ""), command, folder / "layer")
"""


def test_a_killed_supervisors_leftovers_are_reaped(sandbox: Sandbox, root: Root, tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    supervisor = subprocess.Popen([sys.executable, "-c", SUPERVISOR, root.folder, tmp_path])
    deadline = time.monotonic() + 60
    while not (tmp_path / "w/ready").exists():
        assert supervisor.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    cache, hierarchy = root.folder.parent, find_hierarchy()
    prefix = f"gymline-{supervisor.pid}-"
    assert not [name for name in reap_leftovers(cache, hierarchy) if name.startswith(prefix)], "its owner lives"
    assert sandbox.run(root, Command(["true"], limits=Limits(wall_seconds=30))).ok
    supervisor.send_signal(signal.SIGKILL)
    supervisor.wait()

    assert hierarchy.names(prefix)
    # A reaper in another memory group, as another login session or service has it, does not see ours by itself.
    elsewhere = Hierarchy(hierarchy.version, {"pids": hierarchy.parents["pids"]})
    reaped = reap_leftovers(cache, elsewhere)

    assert [name for name in reaped if name.startswith(prefix)]
    assert hierarchy.names(prefix) == set()
    assert list(live_folder(cache).glob(f"{prefix}*")) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["layer", "w"], "the work folder is gone"
