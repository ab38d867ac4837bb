"""The house keeps its shape: arrows, sizes, and a core that needs no platform."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
ROOMS = ("assets", "cli", "gymline", "resources", "sensors")
MODULES = sorted(path for room in ROOMS for path in (CHECKOUT / room).rglob("*.py"))


def test_imports_follow_the_arrows_of_the_house() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=CHECKOUT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(CHECKOUT).as_posix())
def test_a_module_is_one_room(module: Path) -> None:
    assert len(module.read_text().splitlines()) <= 400, "over 400 lines it wants to be two"
    assert module.stem not in ("utils", "helpers", "misc", "common")


def test_the_core_installs_whole_and_imports_without_the_platform(tmp_path: Path) -> None:
    """In a real environment that holds only the core's declared dependencies, as a rollout worker has it."""
    source, environment = tmp_path / "source", tmp_path / "venv"
    for name in (*ROOMS, "definitions.py", "pyproject.toml", "README.md", "LICENSE"):
        copy = shutil.copytree if (CHECKOUT / name).is_dir() else shutil.copy
        source.mkdir(exist_ok=True)
        copy(CHECKOUT / name, source / name)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    python = environment / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", source], check=True)
    code = (
        "import gymline.store, gymline.sandbox.choose, gymline.sandbox.rootfs, gymline.sandbox.doctor, "
        "gymline.cases.runner, gymline.cases.score, gymline.programs.score, importlib.util\n"
        "assert importlib.util.find_spec('dagster') is None and importlib.util.find_spec('sqlmodel') is None"
    )
    subprocess.run([python, "-c", code], check=True, cwd=tmp_path)
    (installed,) = (environment / "lib").glob("*/site-packages/gymline")
    assert _files(installed) == _files(CHECKOUT / "gymline"), "scripts and templates beside the code are installed too"


def _files(folder: Path) -> set[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in found if "__pycache__" not in path.parts}
