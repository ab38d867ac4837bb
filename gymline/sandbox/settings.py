"""Settings of this room, read from ``GYMLINE_SANDBOX_*``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

TOOLCHAINS = (
    "autoconf automake bison bmake build-essential ca-certificates cargo-web cmake file flex gettext git golang-go"
    " libtool meson ninja-build pkg-config python3 rustc-web xxd zlib1g-dev"
)
"""C, C++, Go and Rust. ``rustc-web`` and ``cargo-web`` are the newer Rust that Debian keeps for its browsers."""


def default_cache() -> Path:
    """``$XDG_CACHE_HOME/gymline``, by default ``~/.cache/gymline``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gymline"


class SandboxSettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="GYMLINE_SANDBOX_", frozen=True)

    backend: Literal["auto", "bubblewrap"] = "auto"
    """Which back end runs untrusted code; ``auto`` takes the first that works."""

    cache: Path = Field(default_factory=default_cache)
    """Rootfs folders and the state of running sandboxes. Not part of the artifact store: wiping that keeps this."""

    suite: str = "bookworm"
    """The Debian release of the rootfs."""

    mirror: str = ""
    """Base URL of the Debian archive; empty: the one in this machine's own apt sources."""

    backports: bool = True
    """Take Go, CMake and Meson from the suite's backports: today's ``go.mod`` files need a Go newer than stable's."""

    packages: tuple[str, ...] = tuple(TOOLCHAINS.split())
    """Debian packages of the rootfs, on top of debootstrap's ``minbase``. A change makes another rootfs."""
