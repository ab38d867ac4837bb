"""The samples of this project as repositories of a mirror.

Each folder becomes a repository with a commit whose id depends on the files alone: author and date are fixed. A
changed sample gets one more commit, dated one second after the last, so that it looks like any origin that moved on.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from gymline.crawl import git
from gymline.crawl.mirror import Mirror
from gymline.errors import SourceError
from gymline.store.tree import Entry, scan, to_bytes

_EPOCH = 1_700_000_000
_MODES = {"f": "100644", "x": "100755", "l": "120000"}


def mirror_samples(samples: Path, mirror: Mirror, owner: str = "gymline") -> list[str]:
    """Adds or follows every folder of ``samples``; returns the names, sorted. Raises ``SourceError`` where
    there is none."""
    folders = sorted(path for path in samples.iterdir() if path.is_dir()) if samples.is_dir() else []
    if not folders:
        raise SourceError(f"samples {str(samples)!r}", "there is no folder in it", "Give the folder of samples")
    names: list[str] = []
    for folder in folders:
        name = f"{owner}/{folder.name}"
        repository = mirror.folder / ".origins" / f"{name}.git"
        _commit(folder, repository)
        if name in mirror.names():
            mirror.refresh(name)
        else:
            mirror.add(str(repository), name)
        names.append(name)
    return names


def _commit(folder: Path, repository: Path) -> None:
    """Commits the folder as it is, unless the last commit holds the same."""
    if not (repository / "HEAD").exists():
        git.initialise(repository)
        git.run(repository, "symbolic-ref", "HEAD", "refs/heads/main")
    parent = git.ask(repository, "rev-parse", "--verify", "-q", "HEAD")
    tree = _write_tree(folder, repository)
    if parent and git.root_tree(repository, parent) == tree:
        return
    count = int(git.ask(repository, "rev-list", "--count", parent) or 0) if parent else 0
    who = {"NAME": "Gymline samples", "EMAIL": "samples@gymline.invalid", "DATE": f"{_EPOCH + count} +0000"}
    env = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    message = b"Add the sample\n" if parent is None else b"Change the sample\n"
    parents = ["-p", parent] if parent else []
    commit = git.run(repository, "commit-tree", *parents, tree, stdin=message, env=env).decode().strip()
    git.run(repository, "update-ref", "refs/heads/main", commit)


def _write_tree(folder: Path, repository: Path) -> str:
    """The id of the folder's tree, its objects written. Content is stored as it is: no filter, no ignore file."""

    def write(path: bytes) -> str:
        return _write_blob(repository, Path(path.decode("utf-8", "surrogateescape")).read_bytes())

    def line(entry: Entry) -> bytes:
        value = _write_blob(repository, to_bytes(entry.value)) if entry.kind == "l" else entry.value
        return f"{_MODES[entry.kind]} {value}\t".encode() + to_bytes(entry.path) + b"\0"

    entries = [entry for entry in scan(folder, write).entries if entry.kind != "d"]
    with tempfile.TemporaryDirectory() as temporary:
        env = {"GIT_INDEX_FILE": f"{temporary}/index"}
        git.run(repository, "update-index", "-z", "--index-info", stdin=b"".join(map(line, entries)), env=env)
        return git.run(repository, "write-tree", env=env).decode().strip()


def _write_blob(repository: Path, data: bytes) -> str:
    return git.run(repository, "hash-object", "-w", "--no-filters", "--stdin", stdin=data).decode().strip()
