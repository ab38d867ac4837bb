"""Git as a reader of untrusted repositories.

Every command runs with a cleared environment, no system or user configuration, hooks and fsmonitor off, no prompt,
a time limit, and only network transports allowed. Only plumbing that executes nothing is used. Blobs are checked
against their object ids, since git itself trusts a pack's index.
"""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from gymline.errors import SourceError

CHUNK = 1 << 20
SECONDS = 300.0
NETWORK_SECONDS = 3600.0

_PASSED_ON = ("http_proxy", "https_proxy", "no_proxy", "all_proxy", "SSL_CERT_FILE", "GIT_SSL_CAINFO")
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "https:http:ssh:git",
}
_CONFIGURATION = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.alternateRefsCommand=",
    "protocol.ext.allow=never",
    "safe.directory=*",
    "gc.auto=0",
    "maintenance.auto=false",
)


@dataclass(frozen=True)
class TreeFile:
    """One file of a commit's tree. ``mode`` is git's octal text; ``size`` is 0 for a submodule."""

    path: bytes
    mode: str
    object_id: str
    size: int


@dataclass(frozen=True)
class Listing:
    """Files sorted by path; ``complete`` is False where the tree could not be read to its end."""

    files: tuple[TreeFile, ...]
    complete: bool


def run(
    repository: Path, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None, network: bool = False
) -> bytes:
    """What git printed. Raises ``SourceError`` with git's own last line when it fails."""
    with _process(repository, arguments, stdin=stdin, env=env, network=network) as (child, errors):
        output = _stdout(child).read()
        if child.wait() == 0:
            return output
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace").strip().splitlines()
    detail = said[-1] if said else f"status {child.returncode}"
    raise SourceError(
        f"repository {str(repository)!r}", f"git {arguments[0]} failed: {detail}", "Check it with git fsck"
    )


def ask(repository: Path, *arguments: str, stdin: bytes = b"") -> str | None:
    """What git printed, stripped, or None where it says no."""
    with _process(repository, arguments, stdin=stdin) as (child, _):
        output = _stdout(child).read()
        return output.decode("utf-8", "replace").strip() if child.wait() == 0 else None


def initialise(repository: Path, object_format: str = "sha1") -> None:
    """Makes an empty bare repository with no hooks and no configuration but git's own."""
    repository.mkdir(parents=True)
    run(repository, "init", "-q", "--bare", "--template=", f"--object-format={object_format}", str(repository))


def has_commit(repository: Path, commit: str) -> bool:
    """Whether the commit object itself is there."""
    return ask(repository, "cat-file", "-t", commit) == "commit"


def root_tree(repository: Path, commit: str) -> str:
    """The tree id a commit states, whether or not that tree is there. Raises ``SourceError``."""
    first = run(repository, "cat-file", "commit", commit).split(b"\n", 1)[0].decode("ascii", "replace")
    if not re.fullmatch("tree ([0-9a-f]{40}|[0-9a-f]{64})", first):
        raise SourceError(f"commit {commit}", "it states no tree", "Clone the repository again")
    return first.removeprefix("tree ")


def missing_objects(repository: Path, tree: str) -> list[str] | None:
    """Ids of the objects a tree needs that are absent, sorted; None where git cannot read it at all."""
    if ask(repository, "cat-file", "-t", tree) is None:
        return [tree]
    listed = ask(repository, "rev-list", "--objects", "--no-object-names", "--missing=print", tree)
    return None if listed is None else sorted(line[1:] for line in listed.splitlines() if line.startswith("?"))


def list_files(repository: Path, tree: str, limit: int) -> Listing:
    """The files of a tree, at most ``limit`` of them: a few nested trees can stand for billions of paths."""
    files: list[TreeFile] = []
    with _process(repository, ("ls-tree", "-r", "-l", "-z", "--full-tree", tree)) as (child, _):
        for record in _records(_stdout(child)):
            if len(files) == limit:
                return Listing(tuple(files), complete=False)
            head, _, path = record.partition(b"\t")
            mode, _, object_id, size = head.decode("ascii").split()
            files.append(TreeFile(path, mode, object_id, int(size) if size.isdigit() else 0))
        return Listing(tuple(files), complete=child.wait() == 0)


def read_blobs(repository: Path, object_ids: Sequence[str]) -> Generator[Iterator[bytes]]:
    """Each blob in the order asked, as pieces to be used up before the next. Raises ``SourceError`` for one that is
    absent, or whose bytes do not have its id."""
    request = "".join(f"{object_id}\n" for object_id in object_ids).encode()
    with _process(repository, ("cat-file", "--batch"), stdin=request) as (child, _):
        for object_id in object_ids:
            yield _blob(_stdout(child), object_id)


def read_blob(repository: Path, object_id: str) -> bytes:
    """One whole blob: ask for small ones only. Raises ``SourceError``."""
    blobs = read_blobs(repository, [object_id])
    try:
        return b"".join(next(blobs))
    finally:
        blobs.close()


def _blob(stream: IO[bytes], object_id: str) -> Iterator[bytes]:
    header = stream.readline().split()
    if len(header) != 3 or header[1] != b"blob":
        raise SourceError(f"blob {object_id}", "it is not in the repository", "Clone the repository again")
    left = int(header[2])
    actual = hashlib.new("sha1" if len(object_id) == 40 else "sha256", b"blob %d\0" % left)
    while left:
        piece = stream.read(min(left, CHUNK))
        if not piece:
            raise SourceError(f"blob {object_id}", "git stopped in the middle of it", "Clone the repository again")
        left -= len(piece)
        actual.update(piece)
        yield piece
    stream.readline()
    if actual.hexdigest() != object_id:
        raise SourceError(f"blob {object_id}", "its bytes do not have its id", "Clone the repository again")


def _records(stream: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while piece := stream.read(CHUNK):
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole


def _stdout(child: subprocess.Popen[bytes]) -> IO[bytes]:
    assert child.stdout
    return child.stdout


@contextmanager
def _process(
    repository: Path,
    arguments: Sequence[str],
    *,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    network: bool = False,
) -> Generator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """A git process and its stderr; it and its children are dead when this ends."""
    environment = {"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT, **(env or {})}
    # Without a ceiling, a plain folder inside some other repository would pass for that repository.
    environment["GIT_CEILING_DIRECTORIES"] = str(repository.parent)
    if network:
        known = {name for base in _PASSED_ON for name in (base, base.upper())}
        environment |= {name: os.environ[name] for name in known if name in os.environ}
    options = [part for setting in _CONFIGURATION for part in ("-c", setting)]
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as errors:
        source.write(stdin)
        source.seek(0)
        try:
            child = subprocess.Popen(
                ["git", "-C", str(repository), *options, *arguments],
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise SourceError("git", f"it cannot be started: {error}", "Install git") from error

        def kill() -> None:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)

        timer = threading.Timer(NETWORK_SECONDS if network else SECONDS, kill)
        timer.daemon = True
        timer.start()
        try:
            yield child, errors
        finally:
            timer.cancel()
            if child.poll() is None:
                kill()
            child.wait()
            _stdout(child).close()
