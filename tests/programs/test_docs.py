"""What a solver gets to read, and that none of it is source code."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import orjson
import pytest

from gymline.errors import SourceError
from gymline.programs.docs import docs_bundle, no_source_code
from gymline.programs.settings import ProgramSettings

CODE = "".join(f"int value_{n} = compute({n});\n" for n in range(20))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    for path, content in {
        "README.md": "# prog\n",
        "COPYING": "GPL\n",
        "main.c": CODE,
        "Makefile": "all:\n\tcc main.c\n",
        "man/prog.1": ".TH PROG 1\n.SH NAME\nprog\n",
        "docs/guide.md": "# Guide\nUse it.\n",
        "docs/internals.md": f"# Internals\n{CODE}",
        "docs/conf.py": "project = 1\n",
        "examples/in.json": "{}",
        "examples/empty.txt": "",
        "examples/demo.c": "int main(void) { return 0; }\n",
        "examples/run": "#!/bin/sh\necho\n",
        "testdata/picture.png": "\x89PNG",
        "testdata/main.c.txt": "harmless\n",
        "testdata/big.bin": "x" * 3000,
        "src/notes.txt": "not a sample\n",
        ".github/README.md": "hidden\n",
    }.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(content.encode("latin-1"))
    (tree / "testdata/tool").write_bytes(b"\x7fELF\x02\x01")
    (tree / "examples/link.txt").symlink_to("/etc/passwd")
    return tree


def test_documents_and_samples_are_chosen_by_rule_and_code_is_not(tree: Path, tmp_path: Path) -> None:
    produced = docs_bundle(tree, tmp_path / "out", ProgramSettings(docs_file_bytes=2000))
    manifest = orjson.loads((tmp_path / "out/manifest.json").read_bytes())
    assert {file["path"]: file["kind"] for file in manifest["files"]} == {
        "README.md": "readme",
        "COPYING": "license",
        "docs/guide.md": "manual",
        "man/prog.1": "manual",
        "examples/empty.txt": "asset",
        "examples/in.json": "asset",
        "testdata/picture.png": "asset",
    }
    assert {file["path"]: file["why"] for file in manifest["rejected"]} == {
        "docs/internals.md": "quotes five lines of source code",
        "examples/demo.c": "source extension",
        "examples/run": "script",
        "testdata/big.bin": "too large",
        "testdata/main.c.txt": "source extension",
        "testdata/tool": "program or library",
    }
    copied = {p.relative_to(tmp_path / "out/files").as_posix() for p in (tmp_path / "out/files").rglob("*.*")}
    assert copied == {file["path"] for file in manifest["files"] if "." in file["path"]}
    assert [(check.name, check.passed, check.blocking) for check in produced.checks] == [("no_source_code", True, True)]


def test_the_same_tree_gives_the_same_bytes(tree: Path, tmp_path: Path) -> None:
    docs_bundle(tree, tmp_path / "one", ProgramSettings())
    docs_bundle(tree, tmp_path / "two", ProgramSettings())
    assert (tmp_path / "one/manifest.json").read_bytes() == (tmp_path / "two/manifest.json").read_bytes()


def test_a_full_bundle_keeps_the_documents_and_says_what_it_left_out(tree: Path, tmp_path: Path) -> None:
    produced = docs_bundle(tree, tmp_path / "out", ProgramSettings(docs_files=1))
    assert produced.metadata["by_kind"] == {"readme": 1, "license": 1, "manual": 2, "asset": 1}
    assert produced.metadata["rejected"]["enough sample files"] == 3


def test_a_tree_without_documents_is_still_a_bundle(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    produced = docs_bundle(tmp_path / "tree", tmp_path / "out", ProgramSettings())
    assert produced.outcome == "built" and produced.metadata["files"] == 0


@pytest.mark.parametrize("name", ["renamed.dat", "main.c"])
def test_the_check_finds_source_code_that_got_in_under_any_name(name: str, tree: Path, tmp_path: Path) -> None:
    docs_bundle(tree, tmp_path / "out", ProgramSettings())
    (tmp_path / "out/files" / name).write_text(CODE)
    check = no_source_code(tree, tmp_path / "out/files")
    assert not check.passed and name in check.description


def test_a_source_that_is_no_folder_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is no folder"):
        docs_bundle(tmp_path / "nothing", tmp_path / "out", ProgramSettings())


def test_names_that_cannot_be_printed_are_rejected_and_named(tmp_path: Path) -> None:
    docs = tmp_path / "tree" / "docs"
    docs.mkdir(parents=True)
    for name in (b"\xff.md", b"two\nlines.md", b"good.md"):
        (docs / name.decode("utf-8", "surrogateescape")).write_text("text\n")
    produced = docs_bundle(tmp_path / "tree", tmp_path / "out", ProgramSettings())
    manifest = orjson.loads((tmp_path / "out/manifest.json").read_bytes())
    assert [file["path"] for file in manifest["files"]] == ["docs/good.md"]
    assert {one["path"] for one in manifest["rejected"]} == {"docs/\\udcff.md", "docs/two\nlines.md"}
    assert all(check.passed for check in produced.checks)


def test_code_of_any_size_is_compared_without_holding_it(tree: Path, tmp_path: Path) -> None:
    with (tree / "huge.c").open("wb") as file:
        file.truncate(400 << 20)
    tracemalloc.start()
    docs_bundle(tree, tmp_path / "out", ProgramSettings())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 32 << 20


def test_a_sample_with_the_bytes_of_a_code_file_is_left_out_so_that_the_check_holds(tree: Path, tmp_path: Path) -> None:
    (tree / "examples/demo.vala").write_bytes((tree / "examples/demo.c").read_bytes())
    produced = docs_bundle(tree, tmp_path / "out", ProgramSettings())
    manifest = orjson.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert {"path": "examples/demo.vala", "why": "has the bytes of a source file"} in manifest["rejected"]
    assert all(check.passed for check in produced.checks)
