"""The table of repositories that have everything, and the funnel of those that have not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from gymline.lineage.produced import Produced

Contents = Mapping[str, Mapping[str, Any]]


def corpus(repositories: Contents, locks: Contents, markers: Contents) -> Produced:
    """Joins the contents of the three stages, each by repository name (a refusal is ``{"refused": reason}``).

    Content is ``{"repositories": [rows sorted by name]}``, those with markers only. Metadata counts who got how far.
    """
    validated = {name for name, content in repositories.items() if "refused" not in content}
    locked = {name for name in validated if "commit" in locks.get(name, {})}
    built = sorted(name for name in locked if "markers" in markers.get(name, {}))
    rows = [
        {
            "name": name,
            "language": repositories[name]["language"],
            "licence": repositories[name]["licence"],
            "commit": locks[name]["commit"],
            "tree": locks[name]["tree"],
            "markers": sorted(markers[name]["markers"]),
        }
        for name in built
    ]
    funnel = {
        "observed": len(repositories),
        "validated": len(validated),
        "locked": len(locked),
        "with markers": len(rows),
    }
    reasons = Counter(
        str(content["refused"])
        for stage, names in ((repositories, repositories), (locks, validated), (markers, locked))
        for name in names
        if "refused" in (content := stage.get(name, {}))
    )
    return Produced(
        {"repositories": rows},
        metadata={
            **{key.replace(" ", "_"): count for key, count in funnel.items()},
            "funnel": _table("Stage", funnel),
            "languages": _table("Language", Counter(str(row["language"]) for row in rows)),
            "refused": _table("Reason", reasons),
        },
    )


def _table(title: str, counts: Mapping[str, int]) -> str:
    """A Markdown table; counts kept in the order given, or largest first for a ``Counter``."""
    ordered = (
        sorted(counts.items(), key=lambda item: (-item[1], item[0])) if isinstance(counts, Counter) else counts.items()
    )
    lines = [f"| {key.replace('|', '/')} | {count} |" for key, count in ordered]
    return "\n".join([f"| {title} | Repositories |", "| --- | ---: |", *lines])
