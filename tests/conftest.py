"""The sandbox and its rootfs, made once in the user's cache and shared by all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gymline.sandbox import Root, Sandbox
from gymline.sandbox.choose import open_sandbox
from gymline.sandbox.rootfs import prepare_rootfs
from gymline.sandbox.settings import SandboxSettings
from tests.postgres import Postgres, running


@pytest.fixture(scope="session")
def root() -> Root:
    return prepare_rootfs(SandboxSettings())


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return open_sandbox(SandboxSettings())


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    with running(tmp_path_factory.mktemp("postgres")) as server:
        yield server
