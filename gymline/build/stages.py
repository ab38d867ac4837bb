"""The two stages of a build, each in a fresh sandbox on a fresh copy of the source.

Stage two is the same for the gold build and for a candidate's: what compiles here compiles there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from gymline.build import BuildInfrastructureError, CompileFailed
from gymline.build.reasons import first_error, needs_network, unreachable
from gymline.build.settings import BuildSettings
from gymline.build.trees import copy_tree
from gymline.sandbox import Command, Completed, Limits, Mount, Root, Sandbox
from gymline.sandbox.outfiles import read_file
from gymline.store import remove_tree

EXECUTABLE = "executable"


@dataclass(frozen=True)
class Stage:
    """What one stage came to: ``reason`` is empty where it succeeded; ``tree`` is where it worked."""

    completed: Completed
    reason: str
    tree: Path
    deps: Path

    @property
    def log(self) -> str:
        """Both streams as text, stdout first."""
        return (self.completed.stdout + b"\n" + self.completed.stderr).decode(errors="replace")


def download(source: Path, script: str, *, sandbox: Sandbox, root: Root, work: Path, settings: BuildSettings) -> Stage:
    """Runs download.sh online; what it leaves in ``Stage.deps`` is all that survives.

    Raises ``BuildInfrastructureError`` where a registry does not answer in time, or at all.
    """
    deps = work / "fetched"
    deps.mkdir(parents=True)
    stage = _run(
        source, script, Mount(deps, settings.deps_path, writable=True), settings.download_seconds,
        name="download.sh", network=True, sandbox=sandbox, root=root, work=work, settings=settings,
    )  # fmt: skip
    if stage.reason and (stage.completed.ending == "timeout" or unreachable(stage.log)):
        raise BuildInfrastructureError(
            "download.sh",
            f"a registry did not answer ({stage.reason})",
            "Check the network and GYMLINE_BUILD_ONLINE_ENVIRONMENT, then build again",
        )
    return stage


def compile_offline(
    source: Path,
    script: str,
    deps: Path,
    *,
    sandbox: Sandbox,
    root: Root,
    work: Path,
    settings: BuildSettings,
    seconds: float | None = None,
) -> Stage:
    """Runs a compile.sh without network, with ``deps`` read-only. It may or may not leave an executable."""
    return _run(
        source, script, Mount(deps, settings.deps_path), seconds or settings.compile_seconds,
        name="compile.sh", network=False, sandbox=sandbox, root=root, work=work, settings=settings,
    )  # fmt: skip


def take_executable(stage: Stage, target: Path, settings: BuildSettings) -> str:
    """Copies a finished stage's ``./executable`` to ``target`` (0755), or says why there is none to take."""
    try:
        status = (stage.tree / EXECUTABLE).lstat()
    except FileNotFoundError:
        return "compile.sh leaves no ./executable"
    if not S_ISREG(status.st_mode):
        return "compile.sh leaves a ./executable that is no regular file"
    if status.st_size > settings.executable_bytes:
        return f"compile.sh leaves a ./executable larger than {settings.executable_bytes} bytes"
    target.write_bytes(read_file(stage.tree, EXECUTABLE, settings.executable_bytes))
    target.chmod(0o755)
    return ""


def rebuild(
    source: Path,
    scripts: Path,
    *,
    sandbox: Sandbox,
    root: Root,
    scratch: Path,
    settings: BuildSettings,
    seconds: float | None = None,
) -> Path:
    """Stage two with the compile.sh (and deps, if any) of the folder ``scripts``: the executable it leaves.

    ``scripts`` may be ``source`` itself, as for a submission. Raises ``CompileFailed`` with the stable reason.
    """
    script = scripts / "compile.sh"
    if script.is_symlink() or not script.is_file():
        raise CompileFailed("compile.sh", "is missing or no regular file", "Put one beside the source")
    deps = scripts / "deps"
    if deps.is_symlink() or not deps.is_dir():
        deps = scratch / "no-deps"
        deps.mkdir(parents=True)
    stage = compile_offline(
        source, script.read_text(errors="surrogateescape"), deps,
        sandbox=sandbox, root=root, work=scratch / "rebuild", settings=settings, seconds=seconds,
    )  # fmt: skip
    executable = scratch / EXECUTABLE
    reason = stage.reason or take_executable(stage, executable, settings)
    remove_tree(stage.tree.parent)
    if reason:
        raise CompileFailed("compile.sh", reason, "Run it offline in a fresh copy of the source to see its output")
    return executable


def _run(
    source: Path,
    script: str,
    deps: Mount,
    seconds: float,
    *,
    name: str,
    network: bool,
    sandbox: Sandbox,
    root: Root,
    work: Path,
    settings: BuildSettings,
) -> Stage:
    tree = work / "src"
    copy_tree(source, tree, mtime=settings.source_date_epoch)
    _clear(tree / EXECUTABLE)
    file = work / name
    file.write_text(script, errors="surrogateescape")
    completed = sandbox.run(
        root,
        Command(
            argv=["bash", settings.script_path],
            cwd=settings.source_path,
            env={"HOME": "/tmp", "LC_ALL": "C", **(settings.online_environment if network else {})},
            mounts=[
                Mount(tree, settings.source_path, writable=True),
                deps,
                Mount(file, settings.script_path),
            ],
            network=network,
            limits=Limits(
                wall_seconds=seconds,
                memory_bytes=settings.memory_bytes,
                processes=settings.processes,
                cpus=settings.cpus,
                disk_bytes=settings.disk_bytes,
                output_bytes=settings.log_bytes,
            ),
            label=f"build {name}",
        ),
    )
    stage = Stage(completed, "", tree, deps.source)
    return Stage(completed, _reason(stage, name, settings), tree, deps.source)


def _reason(stage: Stage, name: str, settings: BuildSettings) -> str:
    if stage.completed.ok:
        return ""
    match stage.completed.ending:
        case "timeout":
            return f"{name} timed out"
        case "memory" | "disk" | "output":
            return f"{name} exceeds its {stage.completed.ending} limit"
        case "exited":
            if name == "compile.sh" and needs_network(stage.log):
                return "compile.sh fails offline: needs the network"
            return f"{name} fails: {first_error(stage.log, build_path=settings.source_path)}"


def _clear(path: Path) -> None:
    """A file of this name that came with the source must not pass for one that was built."""
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)
