"""How much is tried and kept per program. Budgets are counts: a clock would make two runs differ."""

from __future__ import annotations

from pydantic_settings import BaseSettings, SettingsConfigDict


class SuiteSettings(BaseSettings):
    """Settings of the test-suite room; every one of them can change a suite."""

    model_config = SettingsConfigDict(env_prefix="GYMLINE_SUITES_", frozen=True)

    max_invocations: int = 600
    """Invocations of the reference while exploring, help probes included."""
    batch: int = 120
    """Invocations a round, and so a sandbox."""
    max_kept: int = 150
    """Cases in a finished suite."""
    min_kept: int = 10
    """Fewer stable cases than this and the program is refused."""
    max_refusal_share: float = 0.15
    """Share of kept cases where the program only refuses (no output but an error): a program that always refuses
    would pass them, so they may never be many."""
    max_per_group: int = 6
    """Kept cases with the same subcommand and the same set of options."""
    max_commands: int = 40
    """Subcommands explored."""
    max_inputs: int = 24
    """Sample inputs taken from the source tree."""
    max_input_bytes: int = 32 * 1024
    """A longer text input is cut to the whole lines that fit; a longer binary one is left out."""
    max_output_bytes: int = 256 * 1024
    """An invocation with more output than this makes no case."""
    case_timeout_seconds: float = 5.0
    """What a case may take; recorded in the case."""
    clock_seconds: float = 2.1
    """Seconds that pass at least between the last answer recorded and the check that it stays the same."""
    slow_seconds: float = 3.0
    """A reference slower than this makes no case (``slow_or_hang``)."""
