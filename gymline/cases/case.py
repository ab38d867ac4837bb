"""The test-case format: one JSON object a line, inputs by digest.

Categories are ProgramGym's six black-box interaction categories (Table 7).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from gymline.errors import CaseError

Category = Literal["args", "config", "help", "io", "subcommands", "tui"]
CATEGORIES: tuple[Category, ...] = ("args", "config", "help", "io", "subcommands", "tui")

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def _beneath(path: str) -> str:
    if path.startswith("/") or any(part in ("", ".", "..") for part in path.split("/")) or "\0" in path:
        raise ValueError("must be a plain relative path below the case's folder")
    return path


RelativePath = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_beneath)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class InputFile(_Frozen):
    """A file laid into the case's folder before the program starts."""

    path: RelativePath
    sha256: Sha256
    executable: bool = False


class OutputFile(_Frozen):
    """A file the program must leave, by content."""

    path: RelativePath
    sha256: Sha256


class Expected(_Frozen):
    """What must come back. ``stdout`` is compared byte for byte; stderr only for being empty or not."""

    status: int = Field(ge=0, le=255)
    stdout: Sha256
    stderr_empty: bool | None = None
    files: tuple[OutputFile, ...] = ()


class Invocation(_Frozen):
    """One way to call the program, in a fresh folder. ``argv`` excludes the program itself. ``stdin`` and
    file contents are digests into the suite's ``inputs`` folder, whose files are named by their digest."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,79}$")
    argv: tuple[str, ...] = ()
    stdin: Sha256 | None = None
    files: tuple[InputFile, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    timeout_seconds: float = Field(default=5.0, gt=0, le=60)


class Case(Invocation):
    """An invocation and what must come back. Expectations are digests too, so that two cases share what they
    share."""

    category: Category
    expected: Expected
    origin: str = ""
    """Where the explorer had the idea from: ``help``, ``readme``, ``sample-input``, …"""


class Ignored(_Frozen):
    """A case left out, with the reason in ProgramBench's vocabulary."""

    id: str
    reason: Literal[
        "gold_fail",
        "gold_flaky",
        "dummy_pass",
        "outcome_dependent_presence",
        "slow_or_hang",
        "ignored_manual",
    ]
    detail: str = ""


def sha256(content: bytes) -> str:
    """The hex digest used for inputs and expectations."""
    return hashlib.sha256(content).hexdigest()


def write_jsonl(path: Path, records: Iterable[BaseModel]) -> None:
    """Writes one canonical JSON object a line, in the order given."""
    lines = (orjson.dumps(r.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS) for r in records)
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def read_cases(path: Path) -> Sequence[Case]:
    """Reads ``cases.jsonl``. Raises ``CaseError`` naming the line that breaks the format, or a repeated
    id."""
    cases: list[Case] = []
    seen: set[str] = set()
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            case = Case.model_validate_json(line)
        except ValidationError as error:
            raise CaseError(f"{path.name} line {number}", str(error), "Correct the case or drop the line") from error
        if case.id in seen:
            raise CaseError(f"{path.name} line {number}", f"the id {case.id!r} is used twice", "Rename one of them")
        seen.add(case.id)
        cases.append(case)
    return cases
