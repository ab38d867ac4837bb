"""Logs of real tools, and what is made of them."""

from __future__ import annotations

import pytest

from gymline.build.reasons import first_error, needs_network, unreachable

BUILD = "/workspace/src"


@pytest.mark.parametrize(
    "log",
    [
        "fatal: unable to access 'https://example.org/a.git/': Could not resolve host: example.org",
        "go: example.org/a@v1.0.0: module lookup disabled by GOPROXY=off",
        "dial tcp: lookup example.org: no such host",
        "error: no matching package named `serde` found\nAs a reminder, you're using offline mode (--offline) which can"
        " sometimes cause surprising resolution failures, if this error is too confusing you may wish to retry without"
        " the offline flag.",
        "error: downloading 'https://example.org/x.zip' failed",
    ],
)
def test_a_log_that_asks_for_the_network_is_recognised(log: str) -> None:
    assert needs_network(log)


def test_a_compiler_error_does_not_ask_for_the_network() -> None:
    assert not needs_network("net.c:3:10: fatal error: sys/socket_x.h: No such file or directory")


@pytest.mark.parametrize(
    ("log", "answer"),
    [
        ("go: module example.org/a: reading https://registry/a: 404 Not Found", False),
        ("go: module example.org/a: reading https://registry/a: 503 Service Unavailable", True),
        ("error: no matching package named `nope` found", False),
        ("warning: spurious network error (3 tries remaining): [6] Could not resolve hostname", True),
        ("tls: failed to verify certificate: x509: certificate signed by unknown authority", True),
        ("go: example.org/a@v1.500.3: unknown revision", False),
    ],
)
def test_a_registry_that_says_no_is_told_from_one_that_does_not_answer(log: str, answer: bool) -> None:
    assert unreachable(log) is answer


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("gcc -Werror=format -c a.c\n/workspace/src/a.c:3:1: error: unknown type name 'x'\n"
         "make: *** [Makefile:2: a.o] Error 1", "a.c:3:1: error: unknown type name 'x'"),
        ("CMake Error at CMakeLists.txt:4 (find_package):\n\n  Could not find a package", "CMake Error at"
         " CMakeLists.txt:4 (find_package): Could not find a package"),
        ("   Compiling a v0.1.0\nerror[E0425]: cannot find value `x`\nerror: could not compile `a`",
         "error[E0425]: cannot find value `x`"),
        ("# example.org/a\n./main.go:3:5: undefined: x", "./main.go:3:5: undefined: x"),
        ("/usr/bin/ld: /tmp/ccAb12.o: in function `main':\nx.c:(.text+0x5): undefined reference to `f'",
         "x.c:(.text+0x…): undefined reference to `f'"),
        ("make: *** No rule to make target 'x', needed by 'all'.  Stop.",
         "make: *** No rule to make target 'x', needed by 'all'. Stop."),
        ("", "no output"),
    ],
)  # fmt: skip
def test_the_first_true_error_is_named_without_what_varies(log: str, reason: str) -> None:
    assert first_error(log, build_path=BUILD) == reason


def test_a_reason_gives_a_terminal_and_a_database_nothing_but_text() -> None:
    log = "\x1b]0;title\x07\x1b[31mmain.c:1:1: error: \x00[/red]\x9b2J\u2028 is\tbad\x1b[0m\n"
    reason = first_error(log, build_path=BUILD)
    assert reason.isprintable() and "error: [/red]" in reason
