"""Input files to feed a program: what its source tree has, best first.

Samples are what is no source code by place (``examples/``, ``testdata/`` …) or by kind (any data file). They are
chosen round-robin over their kinds, so that one folder of a thousand similar files does not take every place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from gymline.suites.bounded import bounded_text
from gymline.suites.generic_inputs import SampleInput
from gymline.suites.settings import SuiteSettings

_SAMPLE_FOLDERS = re.compile(
    r"(?:^|[/_-])(?:examples?|samples?|tests?|test[_-]?data|testsuite|data|fixtures?|demos?|inputs?|cases|specs?)"
    r"(?:$|[/_-])",
    re.IGNORECASE,
)
_SKIPPED_FOLDERS = frozenset(
    (".git", ".github", ".circleci", "vendor", "third_party", "node_modules", "target", "build")
)
_CODE = frozenset(
    [
        ".c",
        ".h",
        ".cc",
        ".cpp",
        ".cxx",
        ".hpp",
        ".hh",
        ".go",
        ".rs",
        ".py",
        ".pl",
        ".rb",
        ".js",
        ".ts",
        ".java",
        ".sh",
        ".bat",
        ".ps1",
        ".cmake",
        ".in",
        ".am",
        ".ac",
        ".m4",
        ".mk",
        ".el",
    ]
)
_NO_INPUT = frozenset(
    [
        ".o",
        ".a",
        ".so",
        ".exe",
        ".dll",
        ".png",
        ".jpg",
        ".jpeg",
        ".gif",
        ".ico",
        ".pdf",
        ".svg",
        ".woff",
        ".ttf",
        ".lock",
        ".sum",
        ".mod",
        ".patch",
        ".diff",
    ]
)
_NO_INPUT_NAMES = re.compile(
    r"^(?:readme|license|licence|copying|authors|changelog|changes|news|contributing|makefile|gnumakefile|cmakelists|"
    r"dockerfile|install|todo|go\.(?:mod|sum)|cargo\.(?:toml|lock)|\.)", re.IGNORECASE
)  # fmt: skip


# A paragraph may be one line.
_LONGEST_LINE, _MOST_LINES = 4_000, 10_000


def collect_inputs(source: Path, settings: SuiteSettings) -> list[SampleInput]:
    """Sample inputs from a source tree in the order they should be tried; links are not followed."""
    by_kind: dict[str, list[tuple[int, SampleInput]]] = {}
    for path in _files(source):
        relative = path.relative_to(source).as_posix()
        rank = _rank(relative)
        if rank is None:
            continue
        content = _content(path, settings.max_input_bytes)
        if content:
            kind = path.suffix.lower() or "none"
            by_kind.setdefault(kind, []).append((rank, SampleInput(path.name, content, kind, relative)))
    for entries in by_kind.values():
        # Neither the largest nor a one-line file says most about a program: begin at a middling size.
        entries.sort(key=lambda e: (e[0], abs(len(e[1].content) - 700) // 200, e[1].path))
    order = sorted(by_kind, key=lambda k: (min(e[0] for e in by_kind[k]), -len(by_kind[k]), k))
    chosen: list[SampleInput] = []
    seen: set[bytes] = set()
    depth = 0
    while len(chosen) < settings.max_inputs and any(depth < len(by_kind[k]) for k in order):
        for kind in order:
            if depth < len(by_kind[kind]) and len(chosen) < settings.max_inputs:
                sample = by_kind[kind][depth][1]
                if sample.content not in seen:
                    seen.add(sample.content)
                    chosen.append(sample)
        depth += 1
    return chosen


def documents(source: Path) -> list[tuple[str, str]]:
    """README and manual texts of a tree, as (path, text), the nearest to the top first."""
    found: list[tuple[str, str]] = []
    for path in _files(source):
        relative = path.relative_to(source).as_posix()
        name = path.name.lower()
        is_manual = bool(re.search(r"\.(?:1|md|rst|txt|adoc)$", name)) and re.match(r"(?:man|docs?)/", relative)
        if name.startswith("readme") or is_manual or (name.endswith(".md") and "/" not in relative):
            content = _content(path, 256 * 1024)
            if content:
                text = bounded_text(content.decode("utf-8", "replace"), longest=_LONGEST_LINE, most=_MOST_LINES)
                found.append((relative, text))
    return sorted(found, key=lambda d: (d[0].count("/"), not d[0].lower().startswith("readme"), d[0]))[:12]


def files_by_name(source: Path) -> dict[str, list[str]]:
    """Relative paths of all files of a tree by their last part: what ``source_file`` looks in."""
    found: dict[str, list[str]] = {}
    for path in _files(source):
        found.setdefault(path.name, []).append(path.relative_to(source).as_posix())
    return found


def source_file(source: Path, listed: Mapping[str, Sequence[str]], name: str, limit: int) -> bytes | None:
    """The file a document calls ``name``: that path in the tree, or the first place where such a name ends. None when
    there is none; a longer one is cut like a sample. ``listed`` is the tree's ``files_by_name``."""
    if not name or name.startswith(("/", "-")) or ".." in Path(name).parts:
        return None
    paths = listed.get(PurePosixPath(name).name, ())
    found = name if name in paths else next((path for path in paths if path.endswith("/" + name)), None)
    return _content(source / found, limit) if found else None


def _files(source: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(source, followlinks=False):
        # A name that cannot be printed could not be written into a case either.
        folders[:] = sorted(f for f in folders if f not in _SKIPPED_FOLDERS and f.isprintable())
        for name in sorted(names):
            path = Path(folder, name)
            if name.isprintable() and path.is_file() and not path.is_symlink():
                yield path


def _rank(relative: str) -> int | None:
    """0 for examples, 1 for other test data, 2 for data elsewhere, 3 for code among tests; None for no input."""
    folder, _, name = relative.rpartition("/")
    suffix = PurePosixPath(name).suffix.lower()
    if _NO_INPUT_NAMES.match(name) or suffix in _NO_INPUT or (suffix in (".yml", ".yaml") and not folder):
        return None
    if _SAMPLE_FOLDERS.search(folder):
        if suffix in _CODE:
            return 3
        return 0 if re.search(r"example|sample|demo", folder, re.IGNORECASE) else 1
    return None if suffix in _CODE or not suffix else 2


def _content(path: Path, limit: int) -> bytes | None:
    with path.open("rb") as file:
        content = file.read(limit + 1)
    if len(content) <= limit:
        return content
    head = content[:limit]
    return None if b"\0" in head else head[: head.rfind(b"\n") + 1] or None


def mutations(sample: SampleInput) -> Sequence[SampleInput]:
    """A text input made shorter, longer and wrong, in fixed ways."""
    if not sample.is_text or not sample.content:
        return ()
    lines = sample.content.splitlines(keepends=True)
    made = {
        "half": b"".join(lines[: max(1, len(lines) // 2)]),
        "twice": sample.content + sample.content,
        "reversed": b"".join(reversed(lines)),
        "cut": sample.content[: len(sample.content) * 2 // 3].rstrip(b"\n"),
        "digits": re.sub(rb"\d+", b"7", sample.content),
        "crlf": sample.content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
        "upper": sample.content.upper(),
    }
    return [
        SampleInput(sample.name, content, f"{sample.kind}+{how}", sample.path)
        for how, content in made.items()
        if content != sample.content
    ]
