"""How this machine reaches package registries, for the online stages alone.

A command with ``network=True`` gets the host's name servers, its bundle of trusted certificates, its proxy variables
and its apt transport settings, each as a read-only file or a variable; nothing else of the host, and nothing at all
when the network is off. The same facts serve the making of the rootfs. The online stage shares the host's network, its
loopback included: what listens there must not trust its callers.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from gymline.errors import SandboxUnavailable
from gymline.sandbox.settings import SandboxSettings

PROXY_VARIABLES = ("http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")

_BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
_APT = Path("/etc/apt")
_INSIDE_BUNDLE, _INSIDE_NAMES, _INSIDE_APT = ONLINE_TARGETS = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/resolv.conf",
    "/etc/apt/apt.conf.d/90gymline-host",
)


def ca_bundle() -> str | None:
    """The host's file of trusted certificates: what SSL_CERT_FILE names, else where distributions keep it."""
    candidates = (os.environ.get("SSL_CERT_FILE", ""), *_BUNDLES)
    return next((name for name in candidates if name and Path(name).is_file()), None)


def apt_settings() -> str:
    """The host's apt transport settings (``Acquire::…``: proxies, date checks) as apt.conf text; "" without apt."""
    try:
        dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
    wanted = re.compile(r"Acquire::(?:(?:https?|ftp)(?:::[^ ]*)?|Check-[^ ]*|Retries) \"[^\"]+\";")
    lines = [line for line in dump.splitlines() if wanted.fullmatch(line) and "CaInfo" not in line]
    for variable, key in (("http_proxy", "Acquire::http::Proxy"), ("https_proxy", "Acquire::https::Proxy")):
        if value := os.environ.get(variable):
            lines.append(f'{key} "{value}";')
    return "".join(f"{line}\n" for line in lines)


def online_environment() -> dict[str, str]:
    """The proxy variables set on the host."""
    return {name: os.environ[name] for name in PROXY_VARIABLES if os.environ.get(name)}


def online_files(state: Path) -> dict[str, Path]:
    """Path inside → host file, for the online stage; texts are written into ``state``."""
    files: dict[str, Path] = {}
    if bundle := ca_bundle():
        files[_INSIDE_BUNDLE] = Path(bundle).resolve()
    for target, text in (
        (_INSIDE_NAMES, Path("/etc/resolv.conf").read_text()),
        (_INSIDE_APT, apt_settings()),
    ):
        files[target] = state / Path(target).name
        files[target].write_text(text)
    return files


def debian_sources(settings: SandboxSettings) -> tuple[str, str]:
    """The mirror's base URL and the sources.list of the rootfs.

    Raises:
        SandboxUnavailable: no mirror was set and this machine's apt sources name none for the suite.
    """
    suite = settings.suite
    known = _apt_sources()
    mirror = settings.mirror or known.get(suite, "")
    if not mirror:
        raise SandboxUnavailable(
            f"rootfs of Debian {suite}",
            "this machine's apt sources name no mirror for it",
            "Set GYMLINE_SANDBOX_MIRROR to the base URL of a Debian mirror.",
        )
    suites = {suite: mirror, f"{suite}-updates": mirror}
    if settings.backports:
        suites[f"{suite}-backports"] = mirror
    if security := known.get(f"{suite}-security"):
        suites[f"{suite}-security"] = security
    return mirror, "".join(f"deb {url} {name} main\n" for name, url in suites.items())


def _apt_sources() -> dict[str, str]:
    """Suite → base URL, from one-line and deb822 source files."""
    found: dict[str, str] = {}
    for path in sorted([_APT / "sources.list", *_APT.glob("sources.list.d/*.list")]):
        lines = path.read_text().splitlines() if path.is_file() else []
        for match in filter(None, (re.match(r"deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)", line) for line in lines)):
            found.setdefault(match[2], match[1])
    for path in sorted(_APT.glob("sources.list.d/*.sources")):
        for stanza in re.split(r"\n\s*\n", path.read_text()):
            keys = dict(re.findall(r"(?m)^(URIs|Suites|Enabled):\s*(.+)$", stanza))
            if "URIs" in keys and keys.get("Enabled", "yes").strip() != "no":
                for suite in keys.get("Suites", "").split():
                    found.setdefault(suite, keys["URIs"].split()[0])
    return found
