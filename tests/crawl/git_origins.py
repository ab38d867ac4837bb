"""Origins made with git as a user has it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

MIT = "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\nof this software"
FILES = {"LICENSE": MIT, "Makefile": "all:\n\tcc -o tool tool.c\n", "tool.c": "int main(void) { return 0; }\n"}


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Git as a user has it, but for their configuration."""
    who = {f"GIT_{role}_{key}": "a@b.invalid" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **who}
    command = ["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *arguments]
    return (
        subprocess.run(command, cwd=folder, input=stdin, env=env, check=True, capture_output=True)
        .stdout.decode()
        .strip()
    )


def commit(folder: Path, files: dict[str, str] = FILES) -> str:
    """Writes files and commits them; makes the repository when there is none. Returns the commit id."""
    if not folder.exists():
        folder.mkdir(parents=True)
        git(folder, "init", "-q")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "change")
    return git(folder, "rev-parse", "HEAD")


def forge(folder: Path, entries: list[tuple[str, str, bytes]]) -> str:
    """A commit of one flat tree that ``git add`` would not make. Entries are mode, object id, name."""
    record = b"".join(mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid) for mode, oid, name in entries)
    tree = git(folder, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=record)
    made = git(folder, "commit-tree", tree, "-m", "forged")
    git(folder, "update-ref", "HEAD", made)
    return made
