"""``gymline …``: thin commands over resources and gymline. Each prints a typed error as one line and exits with 1."""

from __future__ import annotations

import sys

from cli.app import app


def main() -> None:
    """Entry point of the ``gymline`` command."""
    # Commands register themselves on import; Dagster takes a second to import, so not before it is needed.
    from cli import demo, lineage, machine, materialize, plan, repo, score  # noqa: F401
    from gymline.errors import GymlineError

    try:
        app()
    except GymlineError as error:
        sys.stderr.write(f"gymline: {error}\n")
        sys.exit(1)
