"""Which files of a source tree become inputs."""

from __future__ import annotations

from pathlib import Path

from gymline.suites.inputs import collect_inputs, files_by_name, mutations, source_file
from gymline.suites.settings import SuiteSettings


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def test_examples_come_first_and_documents_and_code_do_not_come(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        {
            "README.md": b"# x\n",
            "Makefile": b"all:\n",
            "src/main.c": b"int main;\n",
            "src/table.dat": b"1 2\n",
            "examples/a.csv": b"x,y\n1,2\n",
            "tests/in.json": b"{}\n",
        },
    )
    names = [s.path for s in collect_inputs(source, SuiteSettings())]
    assert names == ["examples/a.csv", "tests/in.json", "src/table.dat"]


def test_a_folder_of_many_similar_files_does_not_take_every_place(tmp_path: Path) -> None:
    files = {f"testdata/{n:03}.txt": b"%d\n" % n for n in range(90)}
    source = write(tmp_path, {**files, "testdata/one.csv": b"a,b\n"})
    chosen = collect_inputs(source, SuiteSettings(max_inputs=8))
    assert len(chosen) == 8
    assert "testdata/one.csv" in [s.path for s in chosen]


def test_a_long_text_is_cut_at_a_line_and_a_long_binary_is_left_out(tmp_path: Path) -> None:
    source = write(tmp_path, {"data/long.txt": b"0123456789\n" * 100, "data/long.bin": b"\0" * 1100})
    (only,) = collect_inputs(source, SuiteSettings(max_input_bytes=105))
    assert only.content == b"0123456789\n" * 9


def test_a_link_out_of_the_tree_is_no_input(tmp_path: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("host")
    source = write(tmp_path / "tree", {"examples/a.txt": b"a\n"})
    (source / "examples" / "b.txt").symlink_to(outside)
    (source / "linked").symlink_to(tmp_path)
    assert [s.path for s in collect_inputs(source, SuiteSettings())] == ["examples/a.txt"]
    assert source_file(source, files_by_name(source), "examples/b.txt", 100) is None
    assert source_file(source, files_by_name(source), "../secret.txt", 100) is None


def test_mutations_differ_from_the_input_and_from_each_other(tmp_path: Path) -> None:
    (sample,) = collect_inputs(write(tmp_path, {"data/a.csv": b"a,1\nb,22\nc,3\n"}), SuiteSettings())
    contents = [m.content for m in mutations(sample)]
    assert sample.content not in contents
    assert len(set(contents)) == len(contents) >= 5
