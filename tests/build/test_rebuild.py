"""``rebuild``: stage two for any compile.sh, which is not trusted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gymline.build import BuildInfrastructureError, CompileFailed
from gymline.build.settings import BuildSettings
from gymline.build.stages import rebuild
from gymline.errors import SandboxError
from gymline.lineage.produced import Produced
from gymline.sandbox import Root, Sandbox

Gold = Callable[..., Produced]
Rebuild = Callable[..., Path]
WriteTree = Callable[[Path, dict[str, str]], Path]


@pytest.fixture
def submission(write_tree: WriteTree, tmp_path: Path, sandbox: Sandbox, root: Root) -> Rebuild:
    def run(script: str, files: dict[str, str] | None = None, seconds: float = 30) -> Path:
        source = write_tree(tmp_path / "source", {"compile.sh": script, **(files or {})})
        return rebuild(
            source, source, sandbox=sandbox, root=root, scratch=tmp_path / "scratch", settings=BuildSettings(),
            seconds=seconds,
        )  # fmt: skip

    return run


def test_the_executable_that_compile_sh_leaves_is_returned(hello_c: str, submission: Rebuild) -> None:
    assert submission("cc -o executable hello.c", {"hello.c": hello_c}).read_bytes().startswith(b"\x7fELF")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("ln -s /etc/passwd executable", "no regular file"),
        ("mkfifo executable", "no regular file"),
        ("mkdir executable", "no regular file"),
        ("true", "leaves no ./executable"),
        ("echo broken; exit 3", "compile.sh fails: broken"),
        ("sleep 60", "compile.sh timed out"),
        ("cp /workspace/deps/x executable", "compile.sh fails: "),
        ("getent hosts example.org || { echo 'Could not resolve host'; exit 1; }", "needs the network"),
    ],
)
def test_a_compile_sh_without_a_usable_executable_is_a_failure(submission: Rebuild, script: str, reason: str) -> None:
    with pytest.raises(CompileFailed) as failure:
        submission(script, seconds=3)
    assert reason in failure.value.rule and not failure.value.infrastructure


def test_an_executable_that_came_with_the_source_does_not_count(submission: Rebuild) -> None:
    with pytest.raises(CompileFailed, match=r"leaves no \./executable"):
        submission("true", {"executable": "an old one"})


def test_a_compile_sh_that_is_a_link_to_a_host_file_is_not_read(tmp_path: Path, sandbox: Sandbox, root: Root) -> None:
    (tmp_path / "host.sh").write_text("cp /bin/true executable\n")
    source = tmp_path / "source"
    source.mkdir()
    (source / "compile.sh").symlink_to(tmp_path / "host.sh")
    with pytest.raises(CompileFailed, match="no regular file"):
        rebuild(source, source, sandbox=sandbox, root=root, scratch=tmp_path / "scratch", settings=BuildSettings())


def test_a_link_in_the_source_is_copied_as_a_link(submission: Rebuild, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("host secret")
    (tmp_path / "source").mkdir()
    (tmp_path / "source/notes").symlink_to(secret)
    with pytest.raises(CompileFailed, match="No such file"):
        submission("cat notes > executable")


def test_a_registry_that_does_not_answer_is_no_verdict(gold: Gold) -> None:
    files = {
        "go.mod": "module hello\n\ngo 1.19\n\nrequire example.org/none v1.0.0\n",
        "main.go": 'package main\n\nimport _ "example.org/none"\n\nfunc main() {}\n',
    }
    files["go.sum"] = "".join(f"example.org/none v1.0.0{part} h1:{'A' * 43}=\n" for part in ("", "/go.mod"))
    online = {"GOPROXY": "https://registry.invalid"}
    with pytest.raises(BuildInfrastructureError) as failure:
        gold(files, online_environment=online)
    assert failure.value.infrastructure


def test_a_failing_sandbox_is_no_verdict(write_tree: WriteTree, tmp_path: Path, sandbox: Sandbox) -> None:
    source = write_tree(tmp_path / "source", {"compile.sh": "true"})
    nowhere = Root(tmp_path / "no-rootfs", "sha256:0")
    with pytest.raises(SandboxError):
        rebuild(source, source, sandbox=sandbox, root=nowhere, scratch=tmp_path / "scratch", settings=BuildSettings())
