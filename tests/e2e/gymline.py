"""The command line on a home of its own, as a person uses it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Home:
    """A DAGSTER_HOME, and the checkout whose code runs on it."""

    folder: Path
    checkout: Path = CHECKOUT

    @staticmethod
    def new(folder: Path, checkout: Path = CHECKOUT) -> Home:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / "dagster_home" / "dagster.yaml", folder)
        return Home(folder, checkout)

    def environment(self, **more: str) -> dict[str, str]:
        return {**os.environ, "DAGSTER_HOME": str(self.folder), "PYTHONPATH": str(self.checkout), **more}

    def run(self, *arguments: str, status: int = 0, **environment: str) -> str:
        """Runs ``gymline`` and returns what it printed; fails unless it exits with ``status``."""
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", "import cli; cli.main()", *arguments],
            cwd=self.checkout,
            env=self.environment(COLUMNS="200", **environment),
            capture_output=True,
            text=True,
            timeout=900,
        )
        output = done.stdout + done.stderr
        assert done.returncode == status, output[-4000:]
        return output

    def plan(self, **environment: str) -> dict[str, Any]:
        return dict(json.loads(self.run("plan", "--json", **environment)))

    def stale(self, **environment: str) -> dict[str, dict[str, list[str]]]:
        """Asset → stale partition → reasons."""
        return {a["asset"]: a["stale"] for a in self.plan(**environment)["assets"] if a["stale"]}

    def demo(self) -> dict[str, Any]:
        self.run("demo")
        return dict(json.loads((self.folder / "demo.json").read_text()))
