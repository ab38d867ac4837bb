"""Documents are text to read, never commands to run: what becomes an invocation, and what does not."""

from __future__ import annotations

import pytest

from gymline.suites.readme import Example, console_examples


def examples(text: str) -> list[Example]:
    return console_examples(text, ["tally"])


def test_prompted_and_bare_calls_in_fences_are_examples() -> None:
    text = "```console\n$ tally sum --by region sales.csv\n42\n```\n\n```sh\n./build/tally -V\nls -l\n```\n"
    assert [e.argv for e in examples(text)] == [("sum", "--by", "region", "sales.csv"), ("-V",)]


def test_indented_blocks_and_inline_code_are_examples() -> None:
    text = "Sum up:\n\n    tally sum in.csv > out.txt\n\nor call `tally --help` for more.\n"
    assert [e.argv for e in examples(text)] == [("sum", "in.csv"), ("--help",)]


@pytest.mark.parametrize(
    ("line", "stdin", "stdin_file"),
    [
        ("echo 'a b' | tally sum", "a b\n", None),
        ("echo -n x | tally sum", "x", None),
        (r"printf '1\n2\n' | tally sum", "1\n2\n", None),
        ("cat data/in.csv | tally sum | head -3", None, "data/in.csv"),
        ("tally sum < in.csv 2>/dev/null", None, "in.csv"),
        ("tally sum <<< 'one line'", "one line\n", None),
        ("cd x && tally sum", None, None),
    ],
)
def test_a_simple_feeding_becomes_stdin(line: str, stdin: str | None, stdin_file: str | None) -> None:
    (example,) = examples(f"```\n$ {line}\n```\n")
    assert (example.argv, example.stdin, example.stdin_file) == (("sum",), stdin, stdin_file)


def test_a_here_document_becomes_stdin() -> None:
    (example,) = examples("```\n$ tally sum - <<EOF\n1\n2\nEOF\n3\n```\n")
    assert (example.argv, example.stdin) == (("sum", "-"), "1\n2\n")


def test_continuation_lines_are_joined() -> None:
    (example,) = examples("```\n$ tally sum \\\n    --by region\n```\n")
    assert example.argv == ("sum", "--by", "region")


def test_a_file_shown_with_cat_comes_along() -> None:
    (example,) = examples("```\n$ cat a.csv\nx,y\n1,2\n$ tally sum a.csv\n3\n```\n")
    assert example.files == (("a.csv", "x,y\n1,2\n"),)


@pytest.mark.parametrize(
    "line",
    [
        "tally sum $(rm -rf /)",
        "tally sum $HOME/x",
        "tally sum *.csv",
        "tally sum <FILE>",
        "curl example | tally sum",
        "not-tally sum",
        "tally sum 'unclosed",
    ],
)
def test_what_needs_a_shell_or_is_a_placeholder_is_left_out(line: str) -> None:
    assert examples(f"```\n$ {line}\n```\n") == []
