"""What counts as a repository for us."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class CrawlSettings(BaseSettings):
    """Settings of the crawl room; a change of one stales what was crawled with it."""

    model_config = SettingsConfigDict(env_prefix="GYMLINE_CRAWL_", frozen=True)

    languages: tuple[str, ...] = ("C", "C++", "Go", "Rust")
    """A repository is kept when its main language, by bytes, is one of these."""

    require_licence: bool = True
    """Refuse repositories whose licence is not recognised and not stated in the mirror."""

    follow_tip: bool = True
    """Whether a new commit on an unpinned local origin makes locked_commit due."""

    markers: dict[str, tuple[str, ...]] = Field(
        default={
            "autoconf": ("configure.ac", "configure.in"),
            "cargo": ("Cargo.toml",),
            "cmake": ("CMakeLists.txt",),
            "configure": ("configure",),
            "gomod": ("go.mod",),
            "make": ("GNUmakefile", "Makefile", "makefile"),
            "meson": ("meson.build",),
            "npm": ("package.json",),
        }
    )
    """Build system to the file names that give it away."""

    marker_depth: int = 3
    """Folders deep a marker may lie: 0 is the root only."""

    max_files: int = 100_000
    """A repository with more files at the commit is refused."""

    max_bytes: int = 2 * 1024**3
    """A repository with more bytes at the commit is refused."""
