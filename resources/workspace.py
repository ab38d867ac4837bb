"""The workspace: where artifacts, the catalog and the mirror live, and the sandbox untrusted code runs in."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path

import dagster as dg
from dagster import DagsterInstance

from gymline.catalog.catalog import Catalog
from gymline.crawl.mirror import Mirror
from gymline.errors import SettingsError
from gymline.lineage.code import Code
from gymline.sandbox import Root, Sandbox
from gymline.sandbox.choose import open_sandbox
from gymline.sandbox.labels import is_orphan, new_name
from gymline.sandbox.rootfs import prepare_rootfs, recorded_rootfs
from gymline.sandbox.settings import SandboxSettings
from gymline.store import Store, remove_tree

NO_ROOTFS = "none yet"

REPOS, PROGRAMS = "repos", "programs"
PARTITION_SETS = (REPOS, PROGRAMS)

_KEYS_AT_ONCE = 10_000
"""Dagster looks all of them up in one statement, and SQLite takes some 32,000 variables in one."""


def dagster_home() -> Path:
    """Dagster's home, which holds all state by default. Raises ``SettingsError`` where it is not set."""
    home = os.environ.get("DAGSTER_HOME")
    if not home:
        raise SettingsError(
            "DAGSTER_HOME", "it is not set, and all state lives there", "export DAGSTER_HOME=$PWD/dagster_home"
        )
    return Path(home).absolute()


class Workspace(dg.ConfigurableResource):
    """Each field is a URL or folder; empty means: below ``$DAGSTER_HOME``."""

    store_url: str = ""
    """Folder or fsspec URL of the artifact store (``s3://…``, ``gcs://…``)."""
    catalog_url: str = ""
    """SQLAlchemy URL of the catalog (``sqlite:///…``, ``postgresql://…``)."""
    mirror_folder: str = ""
    """Folder of the local mirror."""
    jobs: int = 0
    """Partitions made at once in a run; 0 means one a CPU core."""

    @staticmethod
    def from_environment() -> Workspace:
        """The workspace that GYMLINE_STORE_URL, GYMLINE_CATALOG_URL, GYMLINE_MIRROR and GYMLINE_JOBS describe."""
        jobs = os.environ.get("GYMLINE_JOBS") or "0"
        if not (jobs.isascii() and jobs.isdigit()):
            raise SettingsError(f"GYMLINE_JOBS={jobs}", "it must be a whole number", "Unset it for one job a CPU core")
        return Workspace(
            store_url=os.environ.get("GYMLINE_STORE_URL", ""),
            catalog_url=os.environ.get("GYMLINE_CATALOG_URL", ""),
            mirror_folder=os.environ.get("GYMLINE_MIRROR", ""),
            jobs=int(jobs),
        )

    def store(self) -> Store:
        return Store(self.store_url or dagster_home() / "store")

    def catalog(self) -> Catalog:
        return Catalog(self.catalog_url or f"sqlite:///{dagster_home() / 'catalog.db'}")

    def mirror(self) -> Mirror:
        return Mirror(Path(self.mirror_folder) if self.mirror_folder else dagster_home() / "mirror")

    def new_scratch(self) -> Path:
        """A folder for work in progress. What killed processes of this machine left there is removed."""
        mine = dagster_home() / "scratch" / socket.gethostname()
        for left in mine.iterdir() if mine.is_dir() else ():
            if is_orphan(left.name):
                remove_tree(left)
        return mine / new_name()

    def sandbox(self) -> Sandbox:
        """The sandbox untrusted code runs in. Raises ``SandboxUnavailable``; there is no other way to run it."""
        return open_sandbox(SandboxSettings())

    def root(self) -> Root:
        """The rootfs, made on first use."""
        return prepare_rootfs(SandboxSettings())

    def worker_count(self) -> int:
        return self.jobs or os.cpu_count() or 1

    def fingerprints(self, code: Code) -> dict[str, str]:
        """The fingerprints the code names. Does not make a rootfs: planning must stay quick."""
        if "rootfs" not in code.fingerprints:
            return {}
        root = recorded_rootfs(SandboxSettings())
        return {"rootfs": root.digest if root else NO_ROOTFS}


def partition_sets(instance: DagsterInstance) -> dict[str, list[str]]:
    """Set name → keys, sorted."""
    return {name: sorted(instance.get_dynamic_partitions(name)) for name in PARTITION_SETS}


def add_partitions(instance: DagsterInstance, name: str, keys: Sequence[str]) -> None:
    """Adds keys to a partition set, any number of them."""
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        instance.add_dynamic_partitions(name, keys[start : start + _KEYS_AT_ONCE])


def sync_repos(instance: DagsterInstance, workspace: Workspace) -> list[str]:
    """Makes the partition set ``repos`` what the mirror lists; returns its keys, sorted.

    A repository that left the mirror leaves both sets; its records stay in the event log.
    """
    names = sorted(workspace.mirror().names())
    known = set(instance.get_dynamic_partitions(REPOS))
    add_partitions(instance, REPOS, [name for name in names if name not in known])
    for name in sorted(known - set(names)):
        for each in PARTITION_SETS:
            instance.delete_dynamic_partition(each, name)
    return names
