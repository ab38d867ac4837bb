"""What counts as source code of a repository: by name, by extension, by first bytes, by quotation.

A solver must not get any of it, so the rules would rather call a sample code than let code pass for a sample.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_EXTENSIONS = (
    ".c .h .cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .inl .ipp .tpp .inc .def .tcc .m .mm .go .rs .py .pyi .pl .pm .rb"
    " .lua .js .mjs .cjs .ts .tsx .jsx .java .kt .scala .cs .fs .swift .zig .d .nim .v .vhd .hs .ml .mli .ex .exs .erl"
    " .php .r .jl .tcl .awk .sed .sh .bash .zsh .fish .ps1 .bat .cmd .s .asm .l .ll .y .yy .re .rl .peg .proto .m4 .ac"
    " .am .in .cmake .mk .mak .gn .gni .bzl .bazel .ninja .nix .gradle .patch .diff .tmpl .wasm .o .a .so .lib .obj"
    " .dll .exe .cu .cl .glsl .vert .frag .sql .vim .el .ino"
)
_NAMES = (
    "makefile gnumakefile bsdmakefile cmakelists.txt configure meson.build meson_options.txt build.ninja dockerfile"
    " justfile rakefile build workspace sconstruct sconscript cargo.toml cargo.lock go.mod go.sum go.work package.json"
    " vcpkg.json conanfile.txt bootstrap autogen jenkinsfile vagrantfile"
)
EXTENSIONS = frozenset(_EXTENSIONS.split())
NAMES = frozenset(_NAMES.split())
WINDOW = 5
LONGEST_LINE = 64 * 1024


def why_code(path: str, head: bytes) -> str:
    """The rule that makes this file source code or a program, or an empty string. ``head``: its first
    bytes."""
    name = PurePosixPath(path).name.lower()
    if name in NAMES:
        return "build file"
    if any(suffix in EXTENSIONS for suffix in PurePosixPath(name).suffixes[-2:]):
        return "source extension"
    if head.startswith(b"#!"):
        return "script"
    if head.startswith((b"\x7fELF", b"MZ", b"\xca\xfe\xba\xbe", b"!<arch>", b"\0asm")):
        return "program or library"
    return ""


def regular_files(tree: Path) -> Iterator[tuple[str, Path]]:
    """Relative path and file of every regular file, sorted; links and version control are passed by."""
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            file = Path(folder, name)
            if stat.S_ISREG(file.lstat().st_mode):
                yield file.relative_to(tree).as_posix(), file


def windows(file: Path) -> Iterator[int]:
    """A hash for each run of five consecutive lines that say something (blank lines and lone braces do
    not). A longer line counts as several of ``LONGEST_LINE`` bytes."""
    run: deque[bytes] = deque(maxlen=WINDOW)
    with file.open("rb") as opened:
        while raw := opened.readline(LONGEST_LINE):
            line = raw.strip()
            if len(line) > 3:
                run.append(line)
                if len(run) == WINDOW:
                    yield hash(tuple(run))
