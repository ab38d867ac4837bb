"""What a solver is given and how its submission is judged."""

from __future__ import annotations

from pydantic_settings import BaseSettings, SettingsConfigDict

MIB = 1024 * 1024


class ProgramSettings(BaseSettings):
    """Settings of the programs room; a change can change an environment."""

    model_config = SettingsConfigDict(env_prefix="GYMLINE_PROGRAMS_", frozen=True)

    docs_file_bytes: int = 1 * MIB
    """A larger document or sample file is left out."""
    docs_bytes: int = 16 * MIB
    """Documents and samples together; what comes later in order is left out."""
    docs_files: int = 200
    """Most sample files."""
    compile_seconds: float = 900
    """Wall time of a submission's compile.sh (ProgramBench's limit)."""
    verifier_seconds: float = 3600
    """Wall time of a whole verification in a container."""
    agent_seconds: float = 8 * 3600
    """Wall time of a solver."""
    container_cpus: int = 8
    """CPUs declared for a solver's container."""
    container_memory_mb: int = 16 * 1024
    """Memory declared for a solver's container, in MB."""
    container_storage_mb: int = 30 * 1024
    """Disk declared for a solver's container, in MB."""
