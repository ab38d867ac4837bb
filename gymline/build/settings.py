"""Settings of the build room; a change may change what is built, so it rebuilds gold builds."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from gymline.sandbox import GIB, MIB


class BuildSettings(BaseSettings):
    """Paths, limits and flags of both stages."""

    model_config = SettingsConfigDict(env_prefix="GYMLINE_BUILD_", frozen=True)

    source_path: str = "/workspace/src"
    """Where the source lies in the sandbox; fixed, because a path in a binary changes its hash."""
    deps_path: str = "/workspace/deps"
    """Where download.sh leaves dependencies and compile.sh finds them."""
    script_path: str = "/workspace/script.sh"
    """Where the running script lies, outside the source tree."""
    download_seconds: float = 600
    """Wall time of download.sh."""
    compile_seconds: float = 900
    """Wall time of compile.sh (ProgramBench's evaluator gives 900 s)."""
    memory_bytes: int = 4 * GIB
    """Memory of either stage."""
    disk_bytes: int = 8 * GIB
    """Disk of either stage."""
    processes: int = 512
    """Processes and threads of either stage."""
    cpus: float = 2
    """CPUs of either stage."""
    jobs: int = Field(default=2, ge=1)
    """Parallel jobs, written into compile.sh; a build that fails is tried again with one."""
    source_date_epoch: int = 946684800
    """Seconds since 1970 shown as the time of the build and set on every source file (2000-01-01)."""
    smoke_seconds: float = 10
    """Wall time of each smoke probe."""
    smoke_memory_bytes: int = 1 * GIB
    """Memory of each smoke probe."""
    executable_bytes: int = 512 * MIB
    """The largest executable taken out of a build."""
    log_bytes: int = 1 * MIB
    """Kept of a script's stdout and of its stderr."""
    online_environment: dict[str, str] = Field(default_factory=dict[str, str])
    """Extra environment of download.sh: the registries of an organisation. No secrets: repository files are read
    by package tools in that stage."""
