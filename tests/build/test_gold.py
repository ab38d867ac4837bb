"""The samples of every language become gold, twice with the same bytes."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gymline.build.elf import read_elf
from gymline.build.settings import BuildSettings
from gymline.build.stages import rebuild
from gymline.lineage.produced import Produced
from gymline.sandbox import Command, Mount, Root, Sandbox

Gold = Callable[..., Produced]
PROGRAMS = {"tally-c": "make", "inkwell-cpp": "cmake", "ledgerkit-go": "go", "routefind-rs": "cargo"}


def digests(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def h1(files: dict[str, bytes]) -> str:
    """Go's hash of a module, as go.sum has it."""
    lines = "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    return "h1:" + base64.b64encode(hashlib.sha256(lines.encode()).digest()).decode()


@pytest.mark.parametrize(("sample", "pack"), PROGRAMS.items())
def test_a_sample_becomes_gold_and_its_scripts_give_the_same_bytes_again(
    samples: Path, gold: Gold, sandbox: Sandbox, root: Root, tmp_path: Path, sample: str, pack: str
) -> None:
    source = samples / sample
    before = digests(source)
    produced = gold(source, f"samples/{sample}")
    assert produced.outcome == "built", produced.metadata["attempts"]
    assert [(check.name, check.passed) for check in produced.checks] == [("reproducible", True)]

    record = json.loads((produced.content / "gold.json").read_text())
    assert (record["buildpack"], record["rootfs"]) == (pack, root.digest)
    executable = produced.content / "executable"
    elf = read_elf(executable.read_bytes())
    assert elf is not None and elf.program and executable.stat().st_mode & 0o777 == 0o755

    again = rebuild(
        source, produced.content,
        sandbox=sandbox, root=root, scratch=tmp_path / "rebuild", settings=BuildSettings(),
    )  # fmt: skip
    assert again.read_bytes() == executable.read_bytes()
    assert digests(source) == before, "the source was written to"


def test_two_gold_builds_have_the_same_content(samples: Path, gold: Gold) -> None:
    first, second = gold(samples / "tally-c"), gold(samples / "tally-c")
    assert digests(first.content) == digests(second.content)


def test_scripts_and_logs_of_every_attempt_are_kept_as_evidence(hello_c: str, gold: Gold) -> None:
    produced = gold({"CMakeLists.txt": "nonsense(\n", "Makefile": "hello: hello.c\n", "hello.c": hello_c})
    assert produced.outcome == "built" and produced.metadata["buildpack"] == "make"
    assert produced.evidence is not None
    kept = {str(path.relative_to(produced.evidence)) for path in produced.evidence.rglob("*") if path.is_file()}
    assert {"1-cmake/attempt.json", "1-cmake/discover-1.log", "2-make/compile.sh", "2-make/compile.log"} <= kept
    assert "| cmake | compile |" in produced.metadata["attempts"]


def test_a_makefile_that_bears_no_parallel_jobs_is_built_with_one(hello_c: str, gold: Gold) -> None:
    makefile = "all: header hello\nheader:\n\tsleep 1; cp hello.in hello.h\nhello: hello.c\n\t$(CC) -o $@ hello.c\n"
    files = {"Makefile": makefile, "hello.in": "", "hello.c": '#include "hello.h"\n' + hello_c}
    produced = gold(files)
    assert produced.outcome == "built", produced.reason
    assert "make -j 1" in (produced.content / "compile.sh").read_text()


def test_a_configure_script_of_the_tree_runs_before_make(hello_c: str, gold: Gold) -> None:
    configure = '#!/bin/sh\ncase "$*" in *--*) exit 1;; esac\nprintf "hello: hello.c\\n" > Makefile\n'
    produced = gold({"configure": configure, "hello.c": hello_c})
    assert produced.outcome == "built", produced.reason


def test_the_fetched_modules_are_all_that_survives_the_online_stage(
    gold: Gold, sandbox: Sandbox, root: Root, tmp_path: Path
) -> None:
    """The repository carries its own module proxy, so that the online stage needs no registry."""
    source = tmp_path / "source"
    proxy = source / "proxy/example.org/greet/@v"
    proxy.mkdir(parents=True)
    (proxy / "v1.0.0.info").write_text('{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}')
    (proxy / "v1.0.0.mod").write_text("module example.org/greet\n\ngo 1.19\n")
    (proxy / "list").write_text("v1.0.0\n")
    with zipfile.ZipFile(proxy / "v1.0.0.zip", "w") as archive:
        archive.writestr("example.org/greet@v1.0.0/go.mod", "module example.org/greet\n\ngo 1.19\n")
        archive.writestr("example.org/greet@v1.0.0/greet.go", 'package greet\n\nconst Text = "usage: hello"\n')
    with zipfile.ZipFile(proxy / "v1.0.0.zip") as archive:
        whole = h1({name: archive.read(name) for name in archive.namelist()})
    alone = h1({"go.mod": (proxy / "v1.0.0.mod").read_bytes()})
    (source / "go.sum").write_text(f"example.org/greet v1.0.0 {whole}\nexample.org/greet v1.0.0/go.mod {alone}\n")
    (source / "go.mod").write_text("module example.org/hello\n\ngo 1.19\n\nrequire example.org/greet v1.0.0\n")
    main = 'package main\n\nimport (\n"example.org/greet"\n"fmt"\n)\n\nfunc main() { fmt.Println(greet.Text) }\n'
    (source / "main.go").write_text(main)
    online = {"GOPROXY": "file:///workspace/src/proxy", "GONOSUMDB": "*"}

    produced = gold(source, online_environment=online)
    assert produced.outcome == "built", produced.metadata["attempts"]
    assert (produced.content / "deps/vendor/example.org/greet/greet.go").is_file()
    program = rebuild(
        source, produced.content,
        sandbox=sandbox, root=root, scratch=tmp_path / "rebuild", settings=BuildSettings(),
    )  # fmt: skip
    said = sandbox.run(root, Command(["/hello"], mounts=[Mount(program, "/hello")]))
    assert said.stdout == b"usage: hello\n"
