"""ELF headers, and the choice of the program among what a build leaves."""

from __future__ import annotations

import os
import resource
import shutil
import struct
import time
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
    return [product.path for product in find_products(tree, source, ("**",), name, 64 * 1024 * 1024)]


def test_the_name_of_the_repository_wins_over_helpers_and_depth(tmp_path: Path, binaries: Path) -> None:
    found = choose(tmp_path, binaries, ["gen", "out/bin/ripgrep", "out/bin/ripgrep-helper"])
    assert found[0] == "out/bin/ripgrep"


def test_a_program_of_another_name_is_known_from_the_readme(tmp_path: Path, binaries: Path) -> None:
    assert choose(tmp_path, binaries, ["rg", "mktables"], "# ripgrep\n\nRun `rg PATTERN`.\n") == ["rg"]


def test_tests_examples_and_benchmarks_are_left_out(tmp_path: Path, binaries: Path) -> None:
    built = ["test/ripgrep", "examples/ripgrep", "ripgrep_test", "test-ripgrep", "bench-ripgrep", "CMakeFiles/3/a.out"]
    assert choose(tmp_path, binaries, built) == []


@pytest.mark.parametrize("name", [b"ripgrep\xe9", b"ripgrep\n", b"ripgrep\x1b[31m"])
def test_a_program_whose_name_cannot_be_printed_is_no_product(tmp_path: Path, binaries: Path, name: bytes) -> None:
    assert choose(tmp_path, binaries, [os.fsdecode(name)]) == []


def test_gigabytes_that_begin_like_a_program_are_not_read(tmp_path: Path, binaries: Path) -> None:
    assert choose(tmp_path, binaries, ["ripgrep"]) == ["ripgrep"]
    with (tmp_path / "built" / "ripgrep").open("r+b") as file:
        file.truncate(1 << 40)
    assert find_products(tmp_path / "built", tmp_path / "source", ("**",), "a/ripgrep", 1 << 30) == []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert find_products(tmp_path / "built", tmp_path / "source", ("**",), "a/ripgrep", 1 << 42)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 256 * 1024


def test_headers_that_claim_tables_without_end_are_no_program(binaries: Path) -> None:
    content = bytearray((binaries / "static-pie").read_bytes())
    struct.pack_into("<HH", content, 54, 0, 0xFFFF)
    assert read_elf(bytes(content)) is None
    (at,) = struct.unpack_from("<Q", content, 32)
    endless = b"".join(struct.pack("<IIQQQQQQ", 2, 0, 0, 0, 0, 1 << 40, 0, 0) for _ in range(1000))
    content += bytes(32 << 20)
    content[at : at + len(endless)] = endless
    struct.pack_into("<HH", content, 54, 56, 1000)
    started = time.monotonic()
    elf = read_elf(bytes(content))
    assert elf is not None and not elf.program
    assert time.monotonic() - started < 1
