"""A small C repository, its gold build and a suite of what the gold executable was seen to do; made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from gymline.build.gold import build_gold
from gymline.build.settings import BuildSettings
from gymline.cases.case import Case, Expected, Ignored, Invocation, OutputFile, sha256, write_jsonl
from gymline.cases.runner import observe
from gymline.programs.docs import docs_bundle
from gymline.programs.settings import ProgramSettings
from gymline.sandbox import Root, Sandbox

GREET_C = r"""
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static int usage(FILE *out, int status) {
    fputs("usage: greet hello NAME | upper | save FILE TEXT | --help\n", out);
    return status;
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "--help"))
        return usage(stdout, 0);
    if (argc == 3 && !strcmp(argv[1], "hello"))
        return printf("Hello, %s!\n", argv[2]) < 0;
    if (argc == 2 && !strcmp(argv[1], "upper")) {
        for (int c; (c = getchar()) != EOF;)
            putchar(toupper(c));
        return 0;
    }
    if (argc == 4 && !strcmp(argv[1], "save")) {
        FILE *file = fopen(argv[2], "w");
        if (!file)
            return 1;
        fprintf(file, "%s\n", argv[3]);
        fclose(file);
        printf("saved %s\n", argv[2]);
        return 0;
    }
    return usage(stderr, 2);
}
"""


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("source")
    (tree / "greet.c").write_text(GREET_C)
    (tree / "Makefile").write_text("greet: greet.c\n\t$(CC) -O1 -o greet greet.c\n")
    (tree / "README.md").write_text("# greet\n\n    greet hello NAME\n")
    (tree / "LICENSE").write_text("Do as you like.\n")
    (tree / "examples").mkdir()
    (tree / "examples" / "names.txt").write_text("Ada\nGrace\n")
    (tree / "examples" / "run.sh").write_text("#!/bin/sh\n./greet hello Ada\n")
    return tree


@pytest.fixture(scope="session")
def gold(source: Path, sandbox: Sandbox, root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    produced = build_gold(source, "acme/greet", sandbox, root, tmp_path_factory.mktemp("gold"), BuildSettings())
    assert produced.outcome == "built", produced.reason
    return Path(produced.content)


@pytest.fixture(scope="session")
def suite(gold: Path, sandbox: Sandbox, root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite")
    inputs = folder / "inputs"
    inputs.mkdir()
    (inputs / sha256(b"ada\n")).write_bytes(b"ada\n")
    ideas = {
        "help": Invocation(id="help-1", argv=("--help",)),
        "args": Invocation(id="args-1", argv=("hello", "Ada")),
        "io": Invocation(id="io-1", argv=("upper",), stdin=sha256(b"ada\n")),
        "config": Invocation(id="save-1", argv=("save", "out.txt", "text")),
    }
    seen = observe(sandbox, root, gold / "executable", "greet", list(ideas.values()), inputs)
    cases = [
        Case(
            **idea.model_dump(),
            category=category,  # type: ignore[arg-type]
            expected=Expected(
                status=one.status or 0,
                stdout=one.stdout.sha256,
                stderr_empty=one.stderr.size == 0,
                files=tuple(OutputFile(path=file.path, sha256=file.content.sha256) for file in one.files),
            ),
        )
        for (category, idea), one in zip(ideas.items(), seen, strict=True)
    ]
    write_jsonl(folder / "cases.jsonl", cases)
    write_jsonl(folder / "ignored.jsonl", [Ignored(id="args-2", reason="dummy_pass")])
    return folder


@pytest.fixture(scope="session")
def docs(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("docs") / "docs"
    docs_bundle(source, out, ProgramSettings())
    return out
