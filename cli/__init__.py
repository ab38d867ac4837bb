"""``gymline …``: thin commands over resources and gymline. Each prints a typed error as one line and exits with 1."""

from __future__ import annotations

import os
import sys

from cli.app import app


def main() -> None:
    """Entry point of the ``gymline`` command."""
    # Commands register themselves on import; Dagster takes a second to import, so not before it is needed.
    from dagster import DagsterError
    from pydantic import ValidationError
    from sqlalchemy.exc import SQLAlchemyError
    from yaml import YAMLError

    from cli import demo, lineage, machine, materialize, plan, repo, score, store  # noqa: F401
    from gymline.errors import GymlineError

    try:
        app()
    except GymlineError as error:
        sys.stderr.write(f"gymline: {error}\n")
        sys.exit(1)
    except ValidationError as error:
        first = error.errors()[0]
        setting = f"setting {'.'.join(map(str, first['loc']))!r} of {error.title}"
        sys.stderr.write(f"gymline: {setting}: {first['msg']}. Correct its GYMLINE_… variable\n")
        sys.exit(1)
    except (OSError, SQLAlchemyError, DagsterError, YAMLError) as error:
        # A full disk, a database that is gone, a home that is none: the world's fault, and a traceback tells no more.
        if os.environ.get("GYMLINE_TRACEBACK"):
            raise
        said = " ".join(str(error).partition("\n[SQL")[0].split())[:300]
        sys.stderr.write(
            f"gymline: {type(error).__name__}: {said}. Check the disk, DAGSTER_HOME and its dagster.yaml; "
            "GYMLINE_TRACEBACK=1 shows where\n"
        )
        sys.exit(1)
