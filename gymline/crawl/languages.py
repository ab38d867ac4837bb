"""The main language of a commit: the most bytes among extensions that name a programming language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from gymline.crawl.git import TreeFile

EXTENSIONS = {
    "C": "c",
    "C++": "cc cpp cxx c++ hh hpp hxx h++ ipp inl tcc",
    "Go": "go",
    "Rust": "rs",
    "Assembly": "s asm nasm",
    "C#": "cs",
    "D": "d",
    "Fortran": "f f90 f95",
    "Haskell": "hs",
    "Java": "java",
    "JavaScript": "js mjs cjs jsx",
    "Kotlin": "kt kts",
    "Lua": "lua",
    "OCaml": "ml mli",
    "Objective-C": "m mm",
    "PHP": "php",
    "Perl": "pl pm",
    "Python": "py pyx",
    "Ruby": "rb",
    "Scala": "scala",
    "Shell": "sh bash",
    "Swift": "swift",
    "TypeScript": "ts tsx",
    "Zig": "zig",
}
_LANGUAGE_OF = {ext: language for language, exts in EXTENSIONS.items() for ext in exts.split()}
_TESTS = re.compile(rb"(^|/)(tests?|testsuites?|testdata|fixtures?|examples?)/", re.IGNORECASE)
_VENDORED = re.compile(
    rb"(^|/)(vendor|vendored|third[-_]?party|3rd[-_]?party|node_modules|externals?|Godeps)/", re.IGNORECASE
)


def is_vendored(path: bytes) -> bool:
    """Whether a path lies in a folder that by its name holds other people's code."""
    return _VENDORED.search(path) is not None


def main_language(files: Iterable[TreeFile]) -> str | None:
    """None where no file names a language. A ``.h`` is C unless C++ sources prevail; symlinks do not count.

    Tests and examples count only where there is nothing else: a preprocessor's test inputs are not what it is
    written in.
    """
    sources = [file for file in files if file.mode.startswith("100") and not is_vendored(file.path)]
    return _largest([f for f in sources if not _TESTS.search(f.path)]) or _largest(sources)


def _largest(files: Iterable[TreeFile]) -> str | None:
    size: Counter[str] = Counter()
    headers = 0
    for file in files:
        extension = file.path.rpartition(b"/")[2].rpartition(b".")[2].decode("ascii", "replace").lower()
        if extension == "h":
            headers += file.size
        elif language := _LANGUAGE_OF.get(extension):
            size[language] += file.size
    if headers:
        size["C++" if size["C++"] > size["C"] else "C"] += headers
    return min(size, key=lambda language: (-size[language], language), default=None)
