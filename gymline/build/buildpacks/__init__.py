"""The buildpacks in the order they are tried: a language's own tool before the general ones.

The scripts are templates with ``@NAME@`` marks, kept beside this module and written out whole, so that anyone who
has the source, the rootfs and deps can run them without Gymline.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from gymline.build import Buildpack
from gymline.build.settings import BuildSettings

_HERE = Path(__file__).parent
_MAKE_STARTS = (
    "configure",
    "autogen.sh",
    "configure.ac",
    "configure.in",
    "Makefile",
    "makefile",
    "GNUmakefile",
)


def _has(*names: str) -> Callable[[Path], bool]:
    def detect(source: Path) -> bool:
        return any((source / name).is_file() for name in names)

    return detect


BUILDPACKS: tuple[Buildpack, ...] = (
    Buildpack("cargo", _has("Cargo.toml"), ("target/release/*",)),
    Buildpack("go", _has("go.mod"), ("gymline-build/**",)),
    Buildpack("cmake", _has("CMakeLists.txt"), ("gymline-build/**",)),
    Buildpack("make", _has(*_MAKE_STARTS), ("**",)),
)


def matching(source: Path) -> list[Buildpack]:
    """The packs that may build ``source``, in the order to try them."""
    return [pack for pack in BUILDPACKS if pack.detect(source)]


def download_script(pack: Buildpack, settings: BuildSettings) -> str:
    """The text of download.sh."""
    return _render(f"{pack.name}.download.sh", settings, settings.jobs)


def compile_script(pack: Buildpack, settings: BuildSettings, *, jobs: int, product: str | None) -> str:
    """The text of compile.sh; without a ``product`` (a path in the source tree) it picks none."""
    text = _render(f"{pack.name}.compile.sh", settings, jobs)
    if product is None:
        return text
    return text + (_HERE / "executable.sh").read_text().replace("@PRODUCT@", shlex.quote(product))


def script_texts() -> dict[str, str]:
    """Every template by file name: texts that a code version of gold builds must cover."""
    return {path.name: path.read_text() for path in sorted(_HERE.glob("*.sh"))}


def _render(template: str, settings: BuildSettings, jobs: int) -> str:
    text = (_HERE / template).read_text()
    marks = {"DEPS": settings.deps_path, "EPOCH": str(settings.source_date_epoch), "JOBS": str(jobs)}
    for mark, value in marks.items():
        text = text.replace(f"@{mark}@", shlex.quote(value))
    return text
