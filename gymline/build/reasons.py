"""Logs to reasons: part of a data version, so equal on every run, without paths of one machine."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NEEDS_NETWORK = (
    r"could(?:n't| not) resolve (?:host|proxy)",
    r"temporary failure in name resolution",
    r"name or service not known",
    r"network is unreachable",
    r"no such host",
    r"dial (?:tcp|udp)",
    r"failed to clone",
    r"fatal: unable to access '",
    r"module lookup disabled by goproxy=off",
    r"--offline was specified",
    r"you may wish to retry without the offline flag|remove the --offline flag",
    r"error: downloading '",
    r"failed to connect to",
)
_UNREACHABLE = (
    *_NEEDS_NETWORK[:6],
    r"connection (?:refused|reset|timed out)",
    r"i/o timeout|tls handshake timeout|operation timed out|timeout was reached",
    r"spurious network error",
    r"certificate (?:verify failed|signed by unknown authority)|ssl certificate problem",
    r"(?:status|response|http)[^\n]{0,20}\b(?:429|5\d\d)\b|: (?:429|5\d\d) [A-Z]",
    r"failed to connect to",
)
_ERRORS = (
    r"^.*?\b(?:fatal error|error)(?:\[E\d+\])?: .*$",
    r"^.*undefined reference to .*$",
    r"^CMake Error at .*$",
    r"^go: (?!downloading |finding |extracting ).*$",
    r"^[^\s:]+\.go:\d+:\d+: .*$",
    r"^.*\*\*\* (?!\[).*$",
    r"^.*: (?:command )?not found$",
    r"^make(?:\[\d+\])?: \*\*\* .*$",
)
_NOISE = re.compile(r"^(?:warning|note)\b|-Werror=|error: could not compile|error: aborting due to", re.I)


def needs_network(log: str) -> bool:
    """Whether an offline build failed for want of a network."""
    return _any(_NEEDS_NETWORK, log)


def unreachable(log: str) -> bool:
    """Whether an online stage failed because a registry did not answer, not because it said no."""
    return _any(_UNREACHABLE, log)


def first_error(log: str, *, build_path: str) -> str:
    """The first line that a build tool calls an error, without what varies; at most 200 characters."""
    lines = [line.strip() for line in log.splitlines()]
    for pattern in _ERRORS:
        for number, line in enumerate(lines):
            if re.match(pattern, line) and not _NOISE.search(line):
                # CMake and Go say where on one line and what on the next that is not empty.
                split = line.startswith("CMake Error") or line.endswith(" imports")
                what = next((later for later in lines[number + 1 :] if later), "") if split else ""
                return _normalise(f"{line} {what}", build_path)
    return _normalise(next((line for line in reversed(lines) if line), "no output"), build_path)


def _normalise(line: str, build_path: str) -> str:
    line = line.replace(f"{build_path}/", "")
    line = re.sub(r"/tmp/[^\s:'\"]+", "/tmp/…", line)
    line = re.sub(r"0x[0-9a-fA-F]+", "0x…", line)
    line = re.sub(r"\b\d+(?:\.\d+)? ?(?:ms|s|seconds)\b", "…", line)
    # Terminal colours, and what neither a terminal nor a database should be given.
    line = re.sub(r"\x1b\[[0-9;]*[A-Za-z]|[^\S ]+|[\x00-\x1f\x7f-\x9f]+", " ", line)
    return re.sub(r" +", " ", line).strip()[:200]


def _any(patterns: Sequence[str], log: str) -> bool:
    return any(re.search(pattern, log, re.IGNORECASE) for pattern in patterns)
