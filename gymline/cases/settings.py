"""Limits of a batch of cases and the environment a program under test sees."""

from __future__ import annotations

from pydantic_settings import BaseSettings, SettingsConfigDict

MIB = 1024 * 1024


class CaseSettings(BaseSettings):
    """Settings of the cases room. A change can change what a program is seen to do, so suites depend on
    them."""

    model_config = SettingsConfigDict(env_prefix="GYMLINE_CASES_", frozen=True)

    batch_cases: int = 100
    """Invocations in one sandbox."""
    batch_input_bytes: int = 32 * MIB
    """Inputs carried into one sandbox; a batch is cut earlier when it would carry more."""
    batch_output_bytes: int = 128 * MIB
    """Bound on all result lines of a batch. What does not fit is run again in another batch."""
    jobs: int = 1
    """Sandboxes at once."""
    memory_bytes: int = 2048 * MIB
    """Memory of a sandbox: the worker, the program and what it writes to /tmp."""
    disk_bytes: int = 512 * MIB
    """Bound on what one case may write."""
    processes: int = 128
    """Processes and threads in a sandbox."""
    cpus: float = 2.0
    """CPUs of a sandbox."""
    output_bytes: int = 1 * MIB
    """Most of stdout, and of stderr, that a case may print before it is killed."""
    file_bytes: int = 64 * MIB
    """Largest single file a program may write (RLIMIT_FSIZE)."""
    files: int = 64
    """Files a case may leave; with more, none is reported."""
    files_bytes: int = 4 * MIB
    """Bytes in the files a case may leave; with more, none is reported."""
    depth: int = 12
    """Folders below the case's folder that are looked into."""
    grace_seconds: float = 30
    """What a batch may take beyond its cases' own timeouts (and a second each) before it is given up."""
    columns: int = 80
    """COLUMNS, as help texts are wrapped by it."""
    lines: int = 24
    """LINES."""

    def environment(self) -> dict[str, str]:
        """The whole environment of a program under test, before the case's own variables."""
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": "/tmp/case",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "COLUMNS": str(self.columns),
            "LINES": str(self.lines),
        }

    def worker_limits(self) -> dict[str, int]:
        """The limits the worker itself keeps, in its names."""
        return {
            "output_bytes": self.output_bytes,
            "file_bytes": self.file_bytes,
            "files": self.files,
            "files_bytes": self.files_bytes,
            "depth": self.depth,
        }
