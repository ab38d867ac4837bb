"""A real PostgreSQL server for tests and benchmarks: a private cluster in a folder, on a free port."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Postgres:
    """A running server. ``new_database`` makes a database and returns its URL."""

    port: int
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def new_database(self) -> str:
        import psycopg2

        name = f"gymline_{next(self._numbers)}"
        connection = psycopg2.connect(host="127.0.0.1", port=self.port, user="gymline", dbname="postgres")
        connection.autocommit = True
        connection.cursor().execute(f"CREATE DATABASE {name}")
        connection.close()
        return f"postgresql+psycopg2://gymline@127.0.0.1:{self.port}/{name}"


@contextmanager
def running(folder: Path) -> Iterator[Postgres]:
    """Starts a server with its data below ``folder``; stopped at the end. PostgreSQL refuses to run as root."""
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not binaries:
        raise RuntimeError("PostgreSQL is not installed; run: apt-get install postgresql")
    data = folder / "pgdata"
    data.mkdir(parents=True)
    as_user: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(data, "postgres")
        for parent in [folder, *folder.parents]:
            if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001:
                parent.chmod(parent.stat().st_mode | 0o001)
        as_user = ["runuser", "-u", pwd.getpwnam("postgres").pw_name, "--"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    tool = binaries[-1]
    initdb = [*as_user, tool / "initdb", "-D", data, "-U", "gymline", "--auth=trust", "-E", "UTF8", "--locale=C", "-N"]
    options = f"-p {port} -h 127.0.0.1 -k {data} -c fsync=off -c max_connections=200"
    control = [*as_user, tool / "pg_ctl", "-D", data, "-w"]
    subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd="/")
    subprocess.run(
        [*control, "-o", options, "-l", data / "log", "start"], check=True, stdout=subprocess.DEVNULL, cwd="/"
    )
    try:
        yield Postgres(port)
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=False, stdout=subprocess.DEVNULL, cwd="/")
