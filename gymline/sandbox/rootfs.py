"""The Debian root that every sandbox sees, made once and kept in the cache.

``prepare_rootfs`` runs debootstrap and apt (``rootfs.sh``) into a temporary folder under a lock, hashes what came
out and renames it into place; the digest is recorded beside the folder, so later calls only read it. The folder's
name is a digest of the recipe (suite, packages, script), so a changed recipe makes another root; the *content*
digest is what builds record. It leaves out what differs between two equal installations: times, logs, caches,
package lists and databases, the mirror's address, password dates. Nothing of the host is copied in.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from gymline.errors import SandboxError, SandboxUnavailable
from gymline.sandbox import Root
from gymline.sandbox.online import apt_settings, ca_bundle, debian_sources
from gymline.sandbox.settings import SandboxSettings

_HERE = Path(__file__).parent
_RECIPE = ("rootfs.sh", "rootfs.preferences.txt", "rootfs.dpkg.txt")

_NOT_HASHED = re.compile(
    r"(dev|proc|run|sys|tmp|var/(cache|log|tmp|lib/(apt|dpkg)))/.+"
    r"|etc/(apt/sources\.list|shadow|gshadow|ld\.so\.cache|hostname|resolv\.conf|machine-id)"
    r"|(.*/)?__pycache__(/.*)?"
)

Progress = Callable[[str], None]


def rootfs_folder(settings: SandboxSettings) -> Path:
    """Where the root of these settings lies, or will."""
    recipe = [settings.suite, settings.backports, sorted(settings.packages), platform.machine()]
    digest = hashlib.sha256(json.dumps(recipe).encode())
    for name in _RECIPE:
        digest.update((_HERE / name).read_bytes())
    return settings.cache / f"rootfs-{settings.suite}-{digest.hexdigest()[:12]}"


def recorded_rootfs(settings: SandboxSettings) -> Root | None:
    """The root of these settings, or None when it was not made yet."""
    folder = rootfs_folder(settings)
    try:
        record = json.loads(_record(folder).read_text())
    except FileNotFoundError:
        return None
    return Root(folder, record["digest"]) if folder.is_dir() else None


def prepare_rootfs(settings: SandboxSettings, progress: Progress | None = None) -> Root:
    """The root of these settings, made when it is not there yet (minutes; about 2 GB).

    Args:
        progress: called with each line that debootstrap and apt print.

    Raises:
        SandboxUnavailable: it cannot be made here (not root, no debootstrap, no Debian mirror).
        SandboxError: debootstrap or apt failed.
    """
    if root := recorded_rootfs(settings):
        return root
    folder = rootfs_folder(settings)
    settings.cache.mkdir(parents=True, exist_ok=True)
    with folder.with_name(folder.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return recorded_rootfs(settings) or _make(settings, folder, lock.fileno(), progress or (lambda line: None))


def _make(settings: SandboxSettings, folder: Path, lock: int, progress: Progress) -> Root:
    if os.geteuid() != 0:
        raise SandboxUnavailable(
            f"rootfs {folder}",
            "debootstrap needs root, and this is an ordinary user",
            "Make it once as root, with GYMLINE_SANDBOX_CACHE naming the same folder.",
        )
    if not shutil.which("debootstrap"):
        raise SandboxUnavailable(
            f"rootfs {folder}", "debootstrap is not installed", "Run `apt-get install debootstrap`."
        )
    mirror, sources = debian_sources(settings)
    making = folder.with_name(folder.name + ".making")
    _remove(making)
    _remove(folder)
    root = making / "root"
    making.mkdir()
    (making / "sources.list").write_text(sources)
    bundle = ca_bundle()
    lent_ca = 'Acquire::https::CaInfo "/run/gymline/ca.crt";\n' if bundle else ""
    (making / "apt.conf").write_text(apt_settings() + lent_ca)
    script = ["unshare", "--mount", "--propagation", "private", "sh", str(_HERE / "rootfs.sh"), str(root)]
    inputs = [settings.suite, mirror, str(making / "sources.list"), str(making / "apt.conf"), bundle or ""]
    _run(script + inputs + sorted(settings.packages), making / "log.txt", lock, progress)
    progress("hash")
    digest = tree_digest(root)
    root.rename(folder)
    _write_record(folder, {"digest": digest, "suite": settings.suite, "packages": sorted(settings.packages)})
    _remove(making)
    return Root(folder, digest)


def _run(argv: list[str], log: Path, lock: int, progress: Progress) -> None:
    # The script inherits the lock: should this process be killed, the next one waits for the script to end.
    with (
        log.open("w") as kept,
        subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            pass_fds=(lock,),
        ) as process,
    ):
        assert process.stdout
        for line in process.stdout:
            kept.write(line)
            progress(line.rstrip("\n"))
    if process.returncode:
        tail = " | ".join(log.read_text().splitlines()[-4:])
        raise SandboxError(
            f"rootfs {log.parent}",
            f"the installation ended with status {process.returncode}: {tail}",
            f"Read {log}; GYMLINE_SANDBOX_MIRROR, _BACKPORTS and _PACKAGES change what is installed.",
        )


def tree_digest(root: Path) -> str:
    """``sha256:…`` over the sorted (path, type, mode, link target or content hash) of what is hashed of a root."""
    digest = hashlib.sha256()
    for entry in sorted(_entries(root, ""), key=lambda entry: os.fsencode(entry)):
        if _NOT_HASHED.fullmatch(entry):
            continue
        path = root / entry
        status = path.lstat()
        kind = stat.S_IFMT(status.st_mode)
        if kind == stat.S_IFLNK:
            what = str(path.readlink())
        elif kind == stat.S_IFREG:
            with path.open("rb") as file:
                what = hashlib.file_digest(file, "sha256").hexdigest()
        else:
            what = ""
        mode = stat.S_IMODE(status.st_mode)
        digest.update(os.fsencode(f"{entry}\0{kind:o}\0{mode:o}\0{status.st_uid}:{status.st_gid}\0{what}\n"))
    return f"sha256:{digest.hexdigest()}"


def _entries(root: Path, prefix: str) -> Iterator[str]:
    with os.scandir(root / prefix) as entries:
        for entry in entries:
            relative = prefix + entry.name
            yield relative
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(root, relative + "/")


def _record(folder: Path) -> Path:
    return folder.with_name(folder.name + ".json")


def _write_record(folder: Path, record: dict[str, object]) -> None:
    temporary = folder.with_name(folder.name + ".json.making")
    with temporary.open("w") as file:
        json.dump(record, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(_record(folder))


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
