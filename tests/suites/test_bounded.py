"""Pages made to keep a pattern busy: reading one is over at once, and takes little memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gymline.suites.help_text import parse_help
from gymline.suites.inputs import documents
from gymline.suites.materials import gather
from gymline.suites.readme import console_examples
from gymline.suites.settings import SuiteSettings

SECONDS = 5.0


@pytest.mark.parametrize(
    "page",
    [
        "a" + " " * 3_000 + "!\n",
        "usage: prog " + "<" * 100_000 + "\n",
        "usage: prog\n" + "  <<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<\n" * 4_000,
        "usage: prog " + "-a <" * 50_000 + "\n",
        "  " + "-a  " * 60_000 + "\n",
        "".join(f"  --option-{n} VALUE  a thing\n" for n in range(60_000)),
    ],
    ids=["blanks", "open brackets", "wrapped usage", "options without end", "names without end", "many options"],
)
def test_a_hostile_help_page_is_read_at_once(page: str) -> None:
    assert duration(lambda: parse_help(page)) < SECONDS


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 250_000,
        "`" + "a " * 120_000,
        "".join(f"    cat > f{n} <<EOF\n" for n in range(12_000)),
        "```\n" + "a\\\n" * 80_000,
        "```\n" * 60_000,
    ],
    ids=["blank lines", "open backtick", "here-documents", "continuations", "fences"],
)
def test_a_hostile_document_is_read_at_once(tmp_path: Path, text: str) -> None:
    (tmp_path / "README.md").write_text(text)
    assert duration(lambda: gather(tmp_path, "prog", [], SuiteSettings())) < 2 * SECONDS


def test_no_more_worked_examples_are_looked_up_than_are_used(tmp_path: Path) -> None:
    for n in range(2_000):
        (tmp_path / f"f{n}.txt").write_text(str(n))
    (tmp_path / "README.md").write_text("".join(f"    $ prog f{n}.txt\n" for n in range(2_000)))
    examples = gather(tmp_path, "prog", [], SuiteSettings()).examples
    assert len(examples) == 80
    assert examples[0].files == (("f0.txt", b"0"),)


def test_an_honest_document_is_not_cut(tmp_path: Path) -> None:
    text = "# prog\n\n" + "word " * 500 + "\n\n```\n$ prog -u hello\n```"
    (tmp_path / "README.md").write_text(text)
    assert documents(tmp_path) == [("README.md", text)]
    assert [e.argv for e in console_examples(text, ["prog"])][-1] == ("-u", "hello")


def test_a_sample_whose_name_cannot_be_printed_is_no_input(tmp_path: Path) -> None:
    folder = tmp_path / "examples"
    folder.mkdir()
    for name in (b"caf\xe9.txt", b"two\nlines.txt", b"good.txt"):
        (Path(bytes(folder).decode()) / name.decode("utf-8", "surrogateescape")).write_text("x\n")
    names = [s.name for s in gather(tmp_path, "prog", [], SuiteSettings()).inputs if s.path]
    assert names == ["good.txt"]


def duration(work: Callable[[], object]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started
