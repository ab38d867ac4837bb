"""Without a working back end nothing runs, and the reader learns what to install."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gymline.errors import SandboxUnavailable
from gymline.sandbox.choose import open_sandbox
from gymline.sandbox.doctor import examine
from gymline.sandbox.settings import SandboxSettings

AS_NOBODY = """
import json, os, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
from pathlib import Path
from gymline.errors import SandboxUnavailable
from gymline.sandbox.choose import open_sandbox
from gymline.sandbox.doctor import examine
from gymline.sandbox.rootfs import prepare_rootfs
from gymline.sandbox.settings import SandboxSettings
settings = SandboxSettings(cache=Path(sys.argv[1]))
said = []
for refuse in (open_sandbox, prepare_rootfs):
    try:
        refuse(settings)
    except SandboxUnavailable as error:
        said.append(str(error))
print(json.dumps([said, [[f.name, f.ok, f.fix] for f in examine(settings)]]))
"""


def test_without_bwrap_the_sandbox_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailable, match="apt-get install bubblewrap"):
        open_sandbox(SandboxSettings())


def test_a_bwrap_that_is_too_old_or_broken_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho bubblewrap 0.4.1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SandboxUnavailable, match=r"0\.4\.1 is older than 0\.8"):
        open_sandbox(SandboxSettings())


def test_the_doctor_finds_this_machine_fit(root) -> None:
    findings = examine(SandboxSettings())
    assert [finding for finding in findings if finding.required and not finding.ok] == []
    assert {finding.name for finding in findings} >= {"bubblewrap", "control groups", "rootfs", "trial run", "git"}


def test_the_doctor_names_a_fix_for_everything_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    findings = {finding.name: finding for finding in examine(SandboxSettings(cache=tmp_path / "none"))}
    missing = {name for name, finding in findings.items() if not finding.ok}
    assert missing == {"bubblewrap", "debootstrap", "rootfs", "trial run", "git"}
    assert all(findings[name].fix for name in missing)
    assert not (tmp_path / "none").exists()


def test_an_ordinary_user_is_refused_with_the_reason_and_gets_a_full_report() -> None:
    # Python's own modules must be readable to nobody, so the interpreter loads them before it drops root.
    preload = "import gymline.sandbox.doctor\n"
    done = subprocess.run(
        [sys.executable, "-c", preload + AS_NOBODY, "/var/tmp/gymline-nobody"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    said, findings = json.loads(done.stdout)
    assert len(said) == 2 and all("root" in text for text in said)
    assert [name for name, ok, fix in findings if not ok and not fix] == []
    assert {"user", "control groups", "rootfs"} <= {name for name, ok, _ in findings if not ok}
