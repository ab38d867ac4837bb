"""The catalog's tables."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Text
from sqlmodel import Field, SQLModel


class PartitionRecord(SQLModel, table=True):
    """The latest record of one partition of one asset or source: what the plan reads.

    ``inputs`` is canonical JSON {asset: data version}. Unpartitioned assets have the partition ''.
    """

    __tablename__ = "partition_record"  # pyright: ignore[reportAssignmentType]

    asset: str = Field(primary_key=True)
    partition: str = Field(primary_key=True)
    event_id: int = Field(sa_column=Column(BigInteger, nullable=False))
    run_id: str
    data_version: str
    code_version: str = ""
    inputs: str = Field(default="{}", sa_column=Column(Text, nullable=False))
    outcome: str = "built"
    reason: str = Field(default="", sa_column=Column(Text, nullable=False))
    evidence: str = ""
    seconds: float = 0.0
    tokens: int = Field(default=0, sa_column=Column(BigInteger, nullable=False))
    usd: float = 0.0
    recorded_at: float


class Cursor(SQLModel, table=True):
    """How far the projection has read the events of one asset, and when a source was last observed as a whole."""

    __tablename__ = "projection_cursor"  # pyright: ignore[reportAssignmentType]

    asset: str = Field(primary_key=True)
    event_id: int = Field(default=0, sa_column=Column(BigInteger, nullable=False))
    observed_at: float = 0.0


class Approval(SQLModel, table=True):
    """A person's yes to rebuild one partition (or all: '*') of an asset; used up by the next record after it."""

    __tablename__ = "approval"  # pyright: ignore[reportAssignmentType]

    asset: str = Field(primary_key=True)
    partition: str = Field(primary_key=True)
    granted_at: float


class AcceptedCode(SQLModel, table=True):
    """A person's word that contents made by ``accepted`` stay valid under ``current``."""

    __tablename__ = "accepted_code"  # pyright: ignore[reportAssignmentType]

    asset: str = Field(primary_key=True)
    accepted: str = Field(primary_key=True)
    current: str = Field(primary_key=True)
    reason: str = Field(sa_column=Column(Text, nullable=False))
    at: float
