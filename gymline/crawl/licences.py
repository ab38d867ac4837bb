"""The licence of a commit, from the texts of the licence files in its root.

Recognised by a sentence only that licence has, not by whole-text similarity: files with several licences are
common, and there the one that comes first counts. Ids are GitHub's (``GPL-3.0``, without ``-only`` or ``-or-later``,
which the licence text does not decide).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from gymline.crawl import git
from gymline.crawl.git import TreeFile
from gymline.errors import SourceError

_FILE = re.compile(rb"(un)?licen[cs]e|copying|copyright", re.IGNORECASE)
_PERMISSION = (
    "permission to use,? copy,? modify,? and( or)? distribute this software for any purpose with or without fee"
    " is hereby granted"
)
_BSD = "redistribution and use in source and binary forms"
_SENTENCES = {
    "AGPL-3.0": "gnu affero general public license,? version 3",
    "Apache-2.0": "apache license,? version 2.0",
    "BSL-1.0": "boost software license - version 1.0",
    "BSD-4-Clause": f"{_BSD}(?=.{{1,1500}}all advertising materials mentioning)",
    "BSD-3-Clause": f"{_BSD}(?=.{{1,1500}}used to endorse or promote)",
    "BSD-2-Clause": _BSD,
    "CC0-1.0": "cc0 1.0 universal",
    "EPL-2.0": "eclipse public license - v 2.0",
    "GPL-2.0": "gnu general public license,? version 2",
    "GPL-3.0": "gnu general public license,? version 3",
    "ISC": f"{_PERMISSION},? provided",
    "0BSD": f"{_PERMISSION}\\.",
    "LGPL-2.1": "gnu lesser general public license,? version 2.1",
    "LGPL-3.0": "gnu lesser general public license,? version 3",
    "MIT": "permission is hereby granted,? free of charge,? to any person obtaining a copy of this software",
    "MPL-2.0": "mozilla public license,? version 2.0",
    "Unlicense": "this is free and unencumbered software released into the public domain",
    "WTFPL": "do what the fuck you want to public license",
    "Zlib": "in no event will the authors be held liable for any damages arising from the use of this software",
}
_PATTERNS = {licence: re.compile(sentence) for licence, sentence in _SENTENCES.items()}


def licence_of(text: str) -> str | None:
    """The SPDX id of the first licence in a text, or None."""
    plain = re.sub(r"[\s*#/>]+", " ", text.lower())
    found = [
        (match.start(), order, licence)
        for order, (licence, pattern) in enumerate(_PATTERNS.items())
        if (match := pattern.search(plain))
    ]
    return min(found)[2] if found else None


def recognise_licence(repository: Path, files: Iterable[TreeFile]) -> str | None:
    """The licence of a listed commit: LICENSE files before COPYING, then by name. None where none is recognised."""
    candidates = [file for file in files if b"/" not in file.path and _FILE.match(file.path)]
    plain = [file for file in candidates if file.mode.startswith("100") and file.size < 1 << 20]
    for file in sorted(plain, key=lambda file: (not _is_licence(file.path), file.path)):
        try:
            text = git.read_blob(repository, file.object_id).decode("utf-8", "replace")
        except SourceError:
            continue  # absent: lock_commit refuses the repository for it
        if licence := licence_of(text):
            return licence
    return None


def _is_licence(path: bytes) -> bool:
    return re.match(rb"(un)?licen[cs]e", path, re.IGNORECASE) is not None
