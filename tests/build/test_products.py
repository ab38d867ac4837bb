"""ELF headers, and the choice of the program among what a build leaves."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gymline.build.elf import read_elf
from gymline.build.products import find_products
from gymline.sandbox import Command, Mount, Root, Sandbox


@pytest.fixture(scope="module")
def binaries(hello_c: str, tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox, root: Root) -> Path:
    folder = tmp_path_factory.mktemp("binaries")
    (folder / "a.c").write_text(hello_c)
    kinds = {"pie": "-pie", "fixed": "-no-pie", "static": "-static", "static-pie": "-static-pie"}
    kinds |= {"shared": "-shared -fPIC", "object": "-c"}
    script = " && ".join(f"cc {flags} -o {name} a.c" for name, flags in kinds.items())
    done = sandbox.run(root, Command(["sh", "-c", script], cwd="/w", mounts=[Mount(folder, "/w", writable=True)]))
    assert done.ok, done.stderr
    return folder


@pytest.mark.parametrize(
    ("kind", "program", "dynamic"),
    [
        ("pie", True, True), ("fixed", True, True), ("static", True, False), ("static-pie", True, False),
        ("shared", False, False), ("object", False, False),
    ],
)  # fmt: skip
def test_a_program_is_told_from_a_library_by_its_headers(
    binaries: Path, kind: str, program: bool, dynamic: bool
) -> None:
    elf = read_elf((binaries / kind).read_bytes())
    assert elf is not None and (elf.program, elf.dynamic) == (program, dynamic)


@pytest.mark.parametrize("length", [0, 4, 63, 64, 200])
def test_a_cut_off_elf_file_is_no_program(binaries: Path, length: int) -> None:
    elf = read_elf((binaries / "pie").read_bytes()[:length])
    assert elf is None or not elf.program


def choose(tmp_path: Path, binaries: Path, built: list[str], readme: str = "", name: str = "a/ripgrep") -> list[str]:
    source, tree = tmp_path / "source", tmp_path / "built"
    source.mkdir()
    if readme:
        (source / "README.md").write_text(readme)
    for path in built:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(binaries / "pie", tree / path)
    return [product.path for product in find_products(tree, source, ("**",), name)]


def test_the_name_of_the_repository_wins_over_helpers_and_depth(tmp_path: Path, binaries: Path) -> None:
    found = choose(tmp_path, binaries, ["gen", "out/bin/ripgrep", "out/bin/ripgrep-helper"])
    assert found[0] == "out/bin/ripgrep"


def test_a_program_of_another_name_is_known_from_the_readme(tmp_path: Path, binaries: Path) -> None:
    assert choose(tmp_path, binaries, ["rg", "mktables"], "# ripgrep\n\nRun `rg PATTERN`.\n") == ["rg"]


def test_tests_examples_and_benchmarks_are_left_out(tmp_path: Path, binaries: Path) -> None:
    built = ["test/ripgrep", "examples/ripgrep", "ripgrep_test", "test-ripgrep", "bench-ripgrep", "CMakeFiles/3/a.out"]
    assert choose(tmp_path, binaries, built) == []
