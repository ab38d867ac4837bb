"""What a command inside can see and touch."""

from __future__ import annotations

import json
import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gymline.errors import SandboxError
from gymline.sandbox import GIB, Command, Limits, Mount, Root, Sandbox

PYTHON_ENV = "import os, json; print(json.dumps(dict(os.environ)))"


def test_there_is_no_network_not_even_the_hosts_loopback(python) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = python(f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)")
        interfaces = python("import os; print(*[name for _, name in __import__('socket').if_nameindex()])")
    assert done.status == 1
    assert b"ConnectionRefusedError" in done.stderr
    assert interfaces.stdout.split() == [b"lo"]


def test_abstract_sockets_of_the_host_are_out_of_reach(python) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0gymline-test-{os.getpid()}")
        server.listen()
        done = python(f"import socket; socket.socket(socket.AF_UNIX).connect('\\0gymline-test-{os.getpid()}')")
    assert b"ConnectionRefusedError" in done.stderr


def test_the_environment_is_only_what_was_given(python, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "secret")
    done = python(PYTHON_ENV, env={"GIVEN": "1", "TZ": "Europe/Rome"}, cwd="/tmp")
    assert json.loads(done.stdout) == {
        "GIVEN": "1",
        "TZ": "Europe/Rome",
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PWD": "/tmp",
    } | ({"LC_CTYPE": "C.UTF-8"} if b"LC_CTYPE" in done.stdout else {})


def test_the_root_and_dev_are_read_only_and_tmp_is_private(shell, root: Root) -> None:
    done = shell("touch /new /etc/passwd /dev/new /usr/bin/new; touch /tmp/new && ls /tmp")
    assert done.stdout == b"new\n"
    assert done.stderr.count(b"Read-only file system") == 4
    assert not (root.folder / "new").exists()
    assert shell("ls -A /tmp").stdout == b""


def test_files_of_the_host_are_not_visible(shell, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("host secret")
    done = shell(f"cat {secret}; cat /proc/1/root{secret}; cat /proc/*/environ | tr '\\0' '\\n' | grep -c PYTEST")
    assert b"host secret" not in done.stdout
    assert done.stdout.strip() == b"0"


def test_processes_of_the_host_are_not_visible(shell) -> None:
    assert int(shell("ls -d /proc/[0-9]* | wc -l").stdout) < 8
    assert shell(f"kill -0 {os.getpid()}").status == 1


@pytest.mark.parametrize("user", [1000, 0])
def test_the_command_cannot_change_the_kernel_or_its_mounts(shell, user: int) -> None:
    attempts = [
        "mount -t tmpfs tmpfs /mnt",
        "umount /proc",
        "mount -o remount,rw /proc",
        "mknod /tmp/sda b 8 0",
        "unshare --mount true",
        "hostname other",
        "unshare --user true",
    ]
    # Opened to append, nothing written: were this to succeed, the host would not be harmed.
    attempts += [f"true >>/proc/sys/{name}" for name in ("kernel/core_pattern", "kernel/modprobe", "vm/panic_on_oom")]
    done = shell("; ".join(f"({attempt}) && echo '{attempt}'" for attempt in attempts) + "; id -u; hostname", user=user)
    assert done.stdout.splitlines() == [str(user).encode(), b"gymline"]
    writable = shell("find / -path '/proc/[0-9]*' -prune -o -path /dev -prune -o -type f -writable -print", user=user)
    assert writable.stdout == b""


def test_an_ordinary_user_has_no_capabilities(python) -> None:
    status = dict(
        line.split(":\t")
        for line in python("print(open('/proc/self/status').read())").stdout.decode().splitlines()
        if ":\t" in line
    )
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert status["NoNewPrivs"] == "1"


def test_the_hosts_kernel_keyrings_are_out_of_reach(python) -> None:
    add_key = "libc.syscall(248 if platform.machine() == 'x86_64' else 217, b'user', b'name', b'value', 5, -4)"
    done = python(
        f"import ctypes, os, platform; libc = ctypes.CDLL(None, use_errno=True)\nprint({add_key}, ctypes.get_errno())"
    )
    assert done.stdout == b"-1 1\n"


def test_writable_and_read_only_mounts_are_what_they_say(shell, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/hidden").write_text("read me")
    mounts = [Mount(workspace, "/job", writable=True), Mount(tmp_path / "tests", "/job/tests")]
    done = shell("cat tests/hidden >out; touch tests/new", cwd="/job", mounts=mounts)
    assert b"Read-only" in done.stderr
    assert (workspace / "out").read_text() == "read me"
    assert [path.name for path in (tmp_path / "tests").iterdir()] == ["hidden"]


def test_a_layer_holds_what_was_written_and_later_runs_see_it(sandbox: Sandbox, root: Root, tmp_path: Path) -> None:
    first, second = tmp_path / "a:b,c", tmp_path / "second"
    make = Command(["sh", "-c", "echo one >/opt/one; rm /usr/bin/bison"], user=0)
    assert sandbox.run_layer(root, make, first).ok
    with_first = Root(root.folder, root.digest, (first,))
    assert sandbox.run_layer(with_first, Command(["sh", "-c", "echo two >>/opt/one"], user=0), second).ok
    both = Root(root.folder, root.digest, (first, second))
    done = sandbox.run(both, Command(["sh", "-c", "cat /opt/one; ls /usr/bin/bison; touch /opt/two"]))
    assert done.stdout == b"one\ntwo\n"
    assert done.stderr.count(b"No such file") == 1
    assert done.stderr.count(b"Read-only") == 1
    assert (first / "opt/one").read_text() == "one\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a:b,c", "second"]
    assert (root.folder / "usr/bin/bison").exists()


def test_a_link_in_a_layer_cannot_redirect_a_mount(sandbox: Sandbox, root: Root, tmp_path: Path) -> None:
    layer, source = tmp_path / "layer", tmp_path / "source"
    source.mkdir()
    sandbox.run_layer(root, Command(["ln", "-s", str(tmp_path), "/job"], user=0), layer)
    redirected = Root(root.folder, root.digest, (layer,))
    with pytest.raises(SandboxError, match="passes a link"):
        sandbox.run(redirected, Command(["true"], mounts=[Mount(source, "/job/made")]))
    assert not (tmp_path / "made").exists()


def test_the_status_is_the_shells(shell, sandbox: Sandbox, root: Root) -> None:
    assert shell("exit 7").status == 7
    assert shell("kill -TERM $$").status == 128 + 15
    assert sandbox.run(root, Command(["no-such-program"])).status == 127
    assert sandbox.run(root, Command(["/etc/passwd"])).status == 126


def test_a_sandbox_that_cannot_start_is_an_error_not_a_result(shell, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="no-such-folder"):
        shell("true", cwd="/no-such-folder")
    with pytest.raises(SandboxError, match="no source"):
        shell("true", mounts=[Mount(tmp_path / "missing", "/job")])


def test_arguments_that_cannot_be_passed_are_an_error(sandbox: Sandbox, root: Root) -> None:
    for argument in ("x" * 2**20, "nul\0inside"):
        with pytest.raises(SandboxError, match="cannot be started"):
            sandbox.run(root, Command(["echo", argument]))
    with pytest.raises(SandboxError, match="argv is empty"):
        sandbox.run(root, Command([]))


def test_stdin_of_any_size_passes_through_without_deadlock(shell) -> None:
    text = os.urandom(8_000_000)
    limits = Limits(output_bytes=16_000_000)
    assert shell("cat", stdin=text, limits=limits).stdout == text
    assert shell("exec <&-; sleep 0.2; echo done", stdin=text).stdout == b"done\n"


def test_threads_run_sandboxes_at_once(shell, workspace: Path) -> None:
    barrier = threading.Barrier(4)

    def one(number: int) -> bytes:
        barrier.wait()
        return shell(f"sleep 0.1; echo {number}").stdout

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(one, range(4))) == [b"0\n", b"1\n", b"2\n", b"3\n"]


def test_the_online_stage_reaches_registries_and_installs_packages(
    sandbox: Sandbox, root: Root, tmp_path: Path
) -> None:
    script = "apt-get -q update && apt-get -qy install --no-install-recommends libpopt-dev"
    online = Command(
        ["sh", "-c", script],
        network=True,
        user=0,
        limits=Limits(300, 4 * GIB),
        env={"DEBIAN_FRONTEND": "noninteractive"},
    )
    done = sandbox.run_layer(root, online, tmp_path / "layer")
    assert done.ok, done.stderr
    header = Command(["test", "-f", "/usr/include/popt.h"])
    assert sandbox.run(Root(root.folder, root.digest, (tmp_path / "layer",)), header).ok
    assert not sandbox.run(root, header).ok
