"""Bounds for text that a stranger wrote, set before any pattern reads it.

A pattern that is quick on every honest page may take the square of a line's length, or worse, on a hostile one, and
one that started cannot be interrupted. No honest help page or document comes near these bounds.
"""

from __future__ import annotations

from itertools import islice


def bounded_text(text: str, *, longest: int, most: int) -> str:
    """The first ``most`` lines of ``text``, each cut to ``longest`` characters."""
    return "\n".join(line[:longest] for line in islice(text.splitlines(), most))
