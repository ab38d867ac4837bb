"""What the tests of builds share: trees written from texts, and gold builds of them in the real sandbox."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gymline.build.gold import build_gold
from gymline.build.settings import BuildSettings
from gymline.lineage.produced import Produced
from gymline.sandbox import Root, Sandbox

_HELLO_C = '#include <stdio.h>\nint main(void) { puts("usage: hello"); return 0; }\n'


Gold = Callable[..., Produced]
WriteTree = Callable[[Path, Mapping[str, str]], Path]


@pytest.fixture(scope="session")
def samples() -> Path:
    return Path(__file__).parents[2] / "samples"


@pytest.fixture(scope="session")
def hello_c() -> str:
    """A program that says how it is used."""
    return _HELLO_C


@pytest.fixture(scope="session")
def write_tree() -> WriteTree:
    return _write


def _write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def gold(tmp_path: Path, sandbox: Sandbox, root: Root) -> Gold:
    """``gold(files_or_folder, name=…, **settings)``: a gold build in a scratch folder of its own."""
    runs = iter(range(100))

    def run(what: Mapping[str, str] | Path, name: str = "hello", **settings: object) -> Produced:
        base = tmp_path / f"run{next(runs)}"
        source = what if isinstance(what, Path) else _write(base / "source", what)
        return build_gold(source, name, sandbox, root, base / "scratch", BuildSettings(**settings))  # type: ignore[arg-type]

    return run
