"""Which of the files a build leaves is the repository's program.

Executables are seldom named exactly like their repository, and helpers, tests and examples look like programs. What
was in the source before the build is never a product; folders and names of tests, examples and benchmarks are left
out; the rest is scored by likeness to the repository's name, mentions in the README and depth.
"""

from __future__ import annotations

import mmap
import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gymline.build.elf import read_elf
from gymline.build.trees import regular_files

_FOLDERS = re.compile(
    r"^(cmakefiles|_?(unit_?|api_?)?tests?|testing|testdata|_?examples?|samples?|demos?|bench(marks?|es)?|fuzz(ing)?|"
    r"docs?|third[-_]?party|3rdparty|external|extern|vendor|_deps|node_modules)$",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"(^|[-_.])(unit)?(tests?|testrunner|examples?|demo|bench(mark)?s?|fuzz(er)?|selftest)($|[-_.])|"
    r"^test|\.(so|o|a|dylib)(\.|$)|^conftest|^a\.out$",
    re.IGNORECASE,
)
_README_BYTES = 256 * 1024


@dataclass(frozen=True)
class Product:
    """A program a build left: its path relative to the source, and how much it looks like the one meant."""

    path: str
    score: int


def find_products(built: Path, source: Path, patterns: tuple[str, ...], repository: str, largest: int) -> list[Product]:
    """The ELF programs of the tree ``built`` that match ``patterns``, best first. Ties go to the shorter path.

    Those of more than ``largest`` bytes are none, nor are those whose path cannot be printed (line breaks, no UTF-8).
    A program that neither looks like ``repository`` (``owner/name`` or a name) nor is mentioned in a README is no
    product where there is a README: a table generator of a library is not its program.
    """
    name = _letters(repository.rpartition("/")[2])
    readme = _readme(source)
    found: list[Product] = []
    for relative, path in regular_files(built):
        if (
            not relative.isprintable()
            or not _eligible(relative, patterns)
            or (source / relative).is_symlink()
            or (source / relative).exists()
        ):
            continue
        if not _is_program(path, largest):
            continue
        likeness = _likeness(_letters(PurePosixPath(relative).name), name)
        mentions = len(re.findall(rf"(?<![\w-]){re.escape(PurePosixPath(relative).name)}(?![\w-])", readme))
        if readme and not likeness and not mentions:
            continue
        found.append(Product(relative, likeness + min(mentions, 30) - relative.count("/")))
    return sorted(found, key=lambda product: (-product.score, len(product.path), product.path))


def _eligible(relative: str, patterns: tuple[str, ...]) -> bool:
    path = PurePosixPath(relative)
    inside = any(_matches(path, pattern) for pattern in patterns)
    return inside and not _NAMES.search(path.name) and not any(_FOLDERS.match(part) for part in path.parts[:-1])


def _matches(path: PurePosixPath, pattern: str) -> bool:
    """``folder/*`` takes the files of one folder, ``folder/**`` those at any depth."""
    folder, _, last = pattern.rpartition("/")
    return str(path.parent) == folder if last == "*" else folder == "" or str(path).startswith(f"{folder}/")


def _is_program(path: Path, largest: int) -> bool:
    """Whether it is an ELF program. Mapped and not read: a hole of gigabytes is quickly made and is no content."""
    with path.open("rb") as file:
        if file.read(4) != b"\x7fELF" or os.fstat(file.fileno()).st_size > largest:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            elf = read_elf(content)
    return elf is not None and elf.program


def _likeness(product: str, repository: str) -> int:
    if product == repository:
        return 100
    shorter, longer = sorted((product, repository), key=len)
    return 50 if len(shorter) >= 2 and shorter in longer else 0


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _readme(source: Path) -> str:
    texts = [
        _head(path)
        for path in sorted(source.iterdir())
        if path.name.lower().startswith("readme") and path.is_file() and not path.is_symlink()
    ]
    return "\n".join(texts)


def _head(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_README_BYTES).decode(errors="replace")
