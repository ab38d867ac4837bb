"""Help layouts met in public programs, each as a small page of its own."""

from __future__ import annotations

import pytest

from gymline.suites.help_text import HelpPage, Option, listed_values, parse_help

GNU = """\
Usage: shelve [OPTION]... [FILE]...
Sort the lines of all FILEs.

  -b, --ignore-blanks         ignore leading blanks
      --order=WORD            sort by WORD: one of numeric, month, random
  -k, --key=KEYDEF            sort via a key; KEYDEF gives location
                                and type
      --color[=WHEN]          colorize; WHEN can be 'always', 'auto', or 'never'
  -o, --output=FILE           write result to FILE
      --help     display this help and exit
"""

ARGPARSE = """\
usage: stock [-h] [--format {table,csv,json}] [-n N] {add,list,remove} ...

Keeps stock.

positional arguments:
  {add,list,remove}
    add                 add an item
    list                list items
    remove              remove an item

options:
  -h, --help            show this help message and exit
  --format {table,csv,json}
                        output format (default: table)
  -n N, --limit N       at most N rows
"""

CLAP = """\
A route finder

Usage: routes [OPTIONS] <COMMAND>

Commands:
  shortest  Find the shortest route
  reach     List what can be reached
  help      Print this message or the help of the given subcommand(s)

Options:
  -f, --format <FORMAT>  Output format [default: text] [possible values: text, json, dot]
  -q, --quiet            Say less
      --max-cost <N>
          Give up beyond this cost

          [default: 100]
  -h, --help             Print help
  -V, --version          Print version
"""

COBRA = """\
Keeps ledgers.

Usage:
  ledger [command]

Available Commands:
  balance     Print balances
  completion  Generate the autocompletion script
  register    Print the register

Flags:
  -c, --config string   config file (default "ledger.ini")
      --depth int       levels to show
  -h, --help            help for ledger

Use "ledger [command] --help" for more information about a command.
"""

GO_FLAG = """\
Usage of count:
  -n int
    \tnumber of lines (default 10)
  -sep string
    \tfield separator (default ",")
  -v\tverbose output
"""

SEQTK_LIKE = """\

Usage:   reads <command> <arguments>
Version: 1.4

Command: seq       common transformation of reads
         size      report the number of reads
         kfreq     k-mer frequency

         cutN      cut at long N

"""

SEQTK_SUB = """
Usage:   reads trim [options] <in.fq>

Options: -q FLOAT    error rate threshold (disabled by -b/-e) [0.05]
         -l INT      trim down to INT bp [30]
         -Q          force FASTQ output

"""

CMARK_LIKE = """\
Usage:   mark [FILE*]
Options:
  -t, --to FORMAT   Specify output format (html, xml, man,
                    commonmark, latex)
  --width WIDTH     Specify wrap width (default 0 = nowrap)
  --sourcepos       Include source position attribute
"""

SHORT = """\
Syntax:
prep [options] filename
  -DNAME          Define NAME.
  -IPATH          Include path.
  -std=STANDARD   Specify standard.
  -q              Quiet mode (no output).
"""

GIT_LIKE = """\
usage: vault [--version] [--bare] <command> [<args>]

These are common commands:

start a working area
   clone     Clone a vault
   init      Create an empty vault

examine the state
   log       Show logs
"""


def named(page: HelpPage, name: str) -> Option:
    return next(o for o in page.options if name in o.names)


def test_a_gnu_page_gives_names_values_and_how_they_attach() -> None:
    page = parse_help(GNU)
    assert named(page, "-b").names == ("-b", "--ignore-blanks")
    assert not named(page, "-b").takes_value
    assert named(page, "--order").values == ("numeric", "month", "random")
    assert named(page, "--color").values == ("always", "auto", "never")
    assert named(page, "--output").spell("--output", "x") == ("--output=x",)
    assert page.positionals == ("file",)
    assert page.commands == ()


def test_an_argparse_page_gives_choices_defaults_and_subcommands() -> None:
    page = parse_help(ARGPARSE)
    assert page.commands == ("add", "list", "remove")
    assert named(page, "--format").values == ("table", "csv", "json")
    assert named(page, "--format").default == "table"
    assert named(page, "-n").names == ("-n", "--limit")
    assert named(page, "-n").metavar == "N"


def test_a_clap_page_gives_possible_values_and_defaults_on_their_own_line() -> None:
    page = parse_help(CLAP)
    assert page.commands == ("shortest", "reach", "help")
    assert named(page, "-f").values == ("text", "json", "dot")
    assert named(page, "--max-cost").metavar == "N"
    assert not named(page, "-q").takes_value


def test_a_cobra_page_gives_commands_and_go_types() -> None:
    page = parse_help(COBRA)
    assert page.commands == ("balance", "completion", "register")
    assert named(page, "-c").metavar == "string"
    assert named(page, "-c").default == "ledger.ini"
    assert named(page, "--depth").metavar == "int"
    assert not named(page, "-h").takes_value


def test_a_go_flag_page_gives_single_dash_words() -> None:
    page = parse_help(GO_FLAG)
    assert named(page, "-n").metavar == "int"
    assert named(page, "-n").default == "10"
    assert named(page, "-sep").default == ","
    assert not named(page, "-v").takes_value
    assert page.commands == ()


def test_commands_behind_an_inline_heading_are_read_to_the_end_of_their_column() -> None:
    assert parse_help(SEQTK_LIKE).commands == ("seq", "size", "kfreq", "cutN")


def test_options_behind_an_inline_heading_have_bracketed_defaults() -> None:
    page = parse_help(SEQTK_SUB, ("trim",))
    assert named(page, "-q").metavar == "FLOAT"
    assert named(page, "-q").default == "0.05"
    assert named(page, "-l").default == "30"
    assert not named(page, "-Q").takes_value
    assert page.positionals == ("in.fq",)


def test_an_enumeration_that_wraps_over_lines_is_whole() -> None:
    page = parse_help(CMARK_LIKE)
    assert named(page, "--to").values == ("html", "xml", "man", "commonmark", "latex")
    assert named(page, "--width").default == "0"
    assert page.positionals == ("file*",)


def test_a_glued_value_is_spelled_without_a_blank() -> None:
    page = parse_help(SHORT)
    assert named(page, "-D").spell("-D", "A") == ("-DA",)
    assert named(page, "-std").spell("-std", "c99") == ("-std=c99",)
    assert not named(page, "-q").takes_value
    assert page.positionals == ("filename",)


def test_commands_under_descriptive_headings_are_found_when_usage_asks_for_one() -> None:
    assert parse_help(GIT_LIKE).commands == ("clone", "init", "log")


def test_options_only_named_in_the_usage_line_are_found() -> None:
    page = parse_help("Usage: reads sample [-2] [-s seed=11] [--strict] <in.fa> <frac>|<number>\n", ("sample",))
    assert named(page, "-s").default == "11"
    assert not named(page, "-2").takes_value
    assert not named(page, "--strict").takes_value
    assert page.positionals[:2] == ("in.fa", "frac")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("one of: a, b or c", ("a", "b", "c")),
        ("{red,green}", ("red", "green")),
        ("(fast|slow)", ("fast", "slow")),
        ("<json|yaml>", ("json", "yaml")),
        ("'lf' or 'crlf'", ("lf", "crlf")),
        ("a plain sentence, with a comma", ()),
    ],
)
def test_enumerations_are_read_and_sentences_are_not(text: str, values: tuple[str, ...]) -> None:
    assert listed_values(text) == values


def test_text_that_is_no_help_gives_an_empty_page() -> None:
    page = parse_help("3 items, 4 errors\n- first\n- second\n")
    assert (page.options, page.commands, page.positionals) == ((), (), ())
