"""What cannot become gold is an outcome with a reason that is the same on every run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gymline.build.gold import LIBRARY_ONLY, NO_BUILDPACK
from gymline.lineage.produced import Produced

Gold = Callable[..., Produced]
MAKE = "all: hello\nhello: hello.c\n\t$(CC) -o $@ hello.c\n"


def test_no_build_file_is_refused(gold: Gold) -> None:
    assert gold({"README.md": "# hello\n"}).content == {"refused": NO_BUILDPACK}


def test_the_library_only_sample_is_refused(samples: Path, gold: Gold) -> None:
    assert gold(samples / "ringbuf-c-lib", "ringbuf-c-lib").reason == LIBRARY_ONLY


def test_the_sample_that_needs_the_network_is_refused(samples: Path, gold: Gold) -> None:
    assert gold(samples / "fetchver-c", "fetchver-c").reason == "compile.sh fails offline: needs the network"


def test_a_library_whose_tests_and_helpers_are_programs_is_refused(hello_c: str, gold: Gold) -> None:
    makefile = "all: test_all gentables tests/run\n%: main.c\n\t@mkdir -p $(@D)\n\t$(CC) -o $@ main.c\n"
    files = {"Makefile": makefile, "main.c": hello_c, "README.md": "# libtables\nA library.\n"}
    assert gold(files, "someone/speedy").reason == LIBRARY_ONLY


def test_a_build_that_succeeds_and_builds_nothing_is_refused(gold: Gold) -> None:
    assert gold({"Makefile": "all:\n\t@echo nothing to be done\n"}).reason == LIBRARY_ONLY


def test_a_program_that_came_with_the_source_is_no_product(hello_c: str, gold: Gold, tmp_path: Path) -> None:
    built = gold({"Makefile": MAKE, "hello.c": hello_c})
    source = tmp_path / "prebuilt"
    source.mkdir()
    for name in ("hello", "executable"):
        (source / name).write_bytes((built.content / "executable").read_bytes())
    (source / "Makefile").write_text("all:\n")
    assert gold(source).reason == LIBRARY_ONLY


def test_a_product_that_is_a_link_to_a_host_program_is_refused(gold: Gold) -> None:
    assert gold({"Makefile": "all:\n\tln -s /bin/ls hello\n"}).reason == LIBRARY_ONLY


def test_an_executable_linked_to_a_host_file_by_the_build_is_not_written_through(hello_c: str, gold: Gold) -> None:
    produced = gold({"Makefile": MAKE + "\tln -s /etc/passwd executable\n", "hello.c": hello_c})
    assert produced.outcome == "built", produced.reason
    assert (produced.content / "executable").read_bytes().startswith(b"\x7fELF")


@pytest.mark.parametrize("jobs", [1, 4])
def test_the_reason_is_the_first_error_in_serial_order(gold: Gold, jobs: int) -> None:
    makefile = "all: one.o two.o\none.o:\n\tsleep 0.3; $(CC) -c one.c\ntwo.o:\n\t$(CC) -c two.c\n"
    files = {"Makefile": makefile, "one.c": "int f(void) { return one; }\n", "two.c": "int g(void) { return two; }\n"}
    reason = gold(files, jobs=jobs).reason
    assert reason.startswith("compile.sh fails: one.c:1:22: error: ") and "/" not in reason.partition("error")[0][16:]


def test_a_library_left_in_the_build_tree_is_refused(gold: Gold) -> None:
    makefile = (
        "all: hello\nlibgreet.so: greet.c\n\t$(CC) -shared -fPIC -o $@ greet.c\n"
        "hello: hello.c libgreet.so\n\t$(CC) -o $@ hello.c -L. -lgreet -Wl,-rpath,$(CURDIR)\n"
    )
    files = {
        "Makefile": makefile,
        "greet.c": '#include <stdio.h>\nvoid greet(void) { puts("usage"); }\n',
        "hello.c": "void greet(void);\nint main(void) { greet(); return 0; }\n",
    }
    assert gold(files).reason == "executable does not resolve libraries: libgreet.so"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('execl("/workspace/src/helper", "helper", (char *)0); return 127;', "cannot be started, status 127"),
        ('fprintf(stderr, "cannot open %s\\n", DATA); return 1;', "needs its build tree"),
        ("return 0;", "prints nothing"),
        ("abort();", "killed by SIGABRT"),
        ("for (;;) pause();", "stopped by its timeout limit"),
    ],
)
def test_a_program_that_does_not_run_by_itself_fails_the_smoke_run(gold: Gold, body: str, reason: str) -> None:
    main = f"#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\nint main(void) {{ {body} }}\n"
    makefile = "hello: hello.c\n\t$(CC) -DDATA='\"$(CURDIR)/data\"' -o $@ hello.c\n"
    produced = gold({"Makefile": makefile, "hello.c": main, "helper": "#!/bin/sh\necho ok\n"}, smoke_seconds=1)
    assert produced.reason == f"smoke run fails: {reason} (--help)"


def test_a_build_that_does_not_end_is_refused(gold: Gold) -> None:
    produced = gold({"Makefile": "all:\n\t@echo started\n\tsleep 600\n"}, compile_seconds=2)
    assert produced.reason == "compile.sh timed out"
    assert produced.evidence and "started" in (produced.evidence / "1-make/discover-2.log").read_text()


def test_a_dependency_that_does_not_exist_is_refused(gold: Gold) -> None:
    files = {"go.mod": "module hello\n\ngo 1.19\n\nrequire example.org/none v1.0.0\n", "main.go": "package main\n"}
    files["main.go"] += '\nimport _ "example.org/none"\n\nfunc main() {}\n'
    files["go.sum"] = "".join(f"example.org/none v1.0.0{part} h1:{'A' * 43}=\n" for part in ("", "/go.mod"))
    produced = gold(files, online_environment={"GOPROXY": "file:///nowhere"})
    assert produced.reason.startswith("download.sh fails: go: hello imports example.org/none: "), produced.reason


def test_the_reason_of_the_attempt_that_came_furthest_is_given(gold: Gold) -> None:
    produced = gold({"CMakeLists.txt": "nonsense(\n", "Makefile": "all:\n"})
    assert produced.reason == LIBRARY_ONLY


def test_a_build_that_nests_folders_without_end_is_refused_and_cleaned_up(gold: Gold, tmp_path: Path) -> None:
    script = "import os\nfor _ in range(2000):\n    os.mkdir('d')\n    os.chdir('d')\n"
    assert gold({"Makefile": "all:\n\tpython3 deep.py\n", "deep.py": script}).reason == LIBRARY_ONLY
    assert not list(tmp_path.glob("run*/scratch/work-*"))
