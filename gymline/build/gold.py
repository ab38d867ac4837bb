"""Gold builds: every matching buildpack in order, until one leaves a program that passes the gates.

Each attempt builds twice from fresh copies. The first build shows the products; the second runs the
compile.sh that names the chosen one, which is the script recorded, and shows whether the bytes are the same
again.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath

import orjson

from gymline.build import Buildpack
from gymline.build.buildpacks import compile_script, download_script, matching
from gymline.build.elf import read_elf
from gymline.build.gates import smoke, unresolved_libraries
from gymline.build.products import Product, find_products
from gymline.build.settings import BuildSettings
from gymline.build.stages import EXECUTABLE, Stage, compile_offline, download, take_executable
from gymline.build.trees import copy_tree
from gymline.lineage.produced import Check, Produced, refused
from gymline.sandbox import Root, Sandbox
from gymline.store import remove_tree

NO_BUILDPACK = "no buildpack matches"
LIBRARY_ONLY = "library only: no executable among the products"

_STAGES = ("download", "compile", "product", "executable", "libraries", "smoke", "passed")


@dataclass
class _Attempt:
    """One buildpack's try, filled in as it goes; ``reached`` is the stage that failed, or ``passed``."""

    pack: str
    reached: str = _STAGES[0]
    reason: str = ""
    product: str = ""
    candidates: list[str] = field(default_factory=list[str])
    reproducible: bool = False
    seconds: dict[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class _Bench:
    """What every attempt at one repository shares."""

    source: Path
    name: str
    sandbox: Sandbox
    root: Root
    settings: BuildSettings


def build_gold(
    source: Path, name: str, sandbox: Sandbox, root: Root, scratch: Path, settings: BuildSettings
) -> Produced:
    """Builds the program of ``source``, a tree without history that is only read.

    Args:
        name: the repository (``owner/name`` or a name); programs are compared with its last part.
        scratch: an empty folder for the stages; the result's content and evidence lie in it too.

    Returns:
        Built: a folder with ``executable``, ``download.sh``, ``compile.sh``, ``gold.json`` and, where
        anything was fetched, ``deps/``. Refused: the reason of the attempt that came furthest. Evidence: a
        folder an attempt.

    Raises ``SandboxError`` or ``BuildInfrastructureError``, which say nothing about the repository.
    """
    bench = _Bench(source, name, sandbox, root, settings)
    evidence = scratch / "evidence"
    evidence.mkdir(parents=True)
    attempts: list[_Attempt] = []
    for number, pack in enumerate(matching(source), start=1):
        content = scratch / f"content-{pack.name}"
        attempt = _attempt(bench, pack, scratch / f"work-{pack.name}", content, evidence / f"{number}-{pack.name}")
        attempts.append(attempt)
        remove_tree(scratch / f"work-{pack.name}")
        if attempt.reached == "passed":
            return _built(attempt, content, attempts, evidence)
    metadata = {"attempts": _table(attempts)}
    if not attempts:
        return refused(NO_BUILDPACK, evidence=evidence, metadata=metadata)
    furthest = max(attempts, key=lambda attempt: _STAGES.index(attempt.reached))
    return refused(furthest.reason, evidence=evidence, metadata=metadata)


def program_name(content: Path) -> str:
    """The name of the program in a gold build's content folder: what it is called as."""
    return str(orjson.loads((content / "gold.json").read_bytes())["name"])


def _attempt(bench: _Bench, pack: Buildpack, work: Path, content: Path, evidence: Path) -> _Attempt:
    attempt = _Attempt(pack.name)
    evidence.mkdir()
    try:
        attempt.reason = _build(bench, pack, attempt, work, content, evidence)
    finally:
        (evidence / "attempt.json").write_bytes(
            orjson.dumps(asdict(attempt), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"
        )
    return attempt


def _build(bench: _Bench, pack: Buildpack, attempt: _Attempt, work: Path, content: Path, evidence: Path) -> str:
    """Goes through the stages of one attempt; the reason of the first that fails, empty where all passed."""
    settings, sandbox, root = bench.settings, bench.sandbox, bench.root
    script = download_script(pack, settings)
    fetched = download(bench.source, script, sandbox=sandbox, root=root, work=work / "download", settings=settings)
    _keep(attempt, evidence, "download", script, fetched)
    if fetched.reason:
        return fetched.reason

    attempt.reached = "compile"
    built, jobs = _discover(bench, pack, fetched.deps, attempt, work, evidence)
    if built.reason:
        return built.reason

    attempt.reached = "product"
    products = find_products(built.tree, bench.source, pack.products, bench.name, settings.executable_bytes)
    attempt.candidates = [f"{product.path} ({product.score})" for product in products[:20]]
    if not products:
        return LIBRARY_ONLY
    attempt.product = products[0].path

    attempt.reached = "executable"
    script = compile_script(pack, settings, jobs=jobs, product=attempt.product)
    final = compile_offline(
        bench.source,
        script,
        fetched.deps,
        sandbox=sandbox,
        root=root,
        work=work / "compile",
        settings=settings,
    )
    _keep(attempt, evidence, "compile", script, final)
    content.mkdir()
    executable = content / EXECUTABLE
    reason = final.reason or take_executable(final, executable, settings)
    if reason:
        return reason
    binary = executable.read_bytes()
    attempt.reproducible = binary == (built.tree / attempt.product).read_bytes()
    elf = read_elf(binary)
    if elf is None or not elf.program:
        return "executable is no ELF program"

    attempt.reached = "libraries"
    reason = unresolved_libraries(executable, sandbox, root, settings) if elf.dynamic else ""
    if reason:
        return reason
    attempt.reached = "smoke"
    reason = smoke(executable, sandbox, root, settings)
    if reason:
        return reason

    attempt.reached = "passed"
    _write_content(bench, pack, products[0], script, fetched.deps, binary, content)
    return ""


def _discover(
    bench: _Bench, pack: Buildpack, deps: Path, attempt: _Attempt, work: Path, evidence: Path
) -> tuple[Stage, int]:
    """Builds without naming a product; the last build, and its number of jobs.

    One that fails is tried again with one job: not every Makefile bears more, and in a parallel build which
    error comes first is chance, while a reason must be the same every time.
    """
    jobs = bench.settings.jobs
    while True:
        script = compile_script(pack, bench.settings, jobs=jobs, product=None)
        stage = compile_offline(
            bench.source, script, deps,
            sandbox=bench.sandbox, root=bench.root, work=work / f"discover-{jobs}", settings=bench.settings,
        )  # fmt: skip
        _keep(attempt, evidence, f"discover-{jobs}", script, stage)
        if not stage.reason or jobs == 1 or stage.completed.ending != "exited":
            return stage, jobs
        remove_tree(stage.tree)
        jobs = 1


def _write_content(
    bench: _Bench, pack: Buildpack, product: Product, script: str, deps: Path, binary: bytes, content: Path
) -> None:
    (content / "download.sh").write_text(download_script(pack, bench.settings))
    (content / "compile.sh").write_text(script)
    for name in ("download.sh", "compile.sh"):
        (content / name).chmod(0o755)
    if any(deps.iterdir()):
        copy_tree(deps, content / "deps", mtime=bench.settings.source_date_epoch)
    gold = {
        "name": PurePosixPath(product.path).name,
        "buildpack": pack.name,
        "product": product.path,
        "rootfs": bench.root.digest,
        "executable_sha256": hashlib.sha256(binary).hexdigest(),
        "size": len(binary),
    }
    (content / "gold.json").write_bytes(orjson.dumps(gold, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")


def _built(attempt: _Attempt, content: Path, attempts: list[_Attempt], evidence: Path) -> Produced:
    same = Check(
        "reproducible",
        attempt.reproducible,
        "Two builds from fresh copies left the same bytes" if attempt.reproducible else "Two builds differ",
        blocking=False,
    )
    return Produced(
        content=content,
        evidence=evidence,
        checks=(same,),
        metadata={
            "buildpack": attempt.pack,
            "product": attempt.product,
            "size": (content / EXECUTABLE).stat().st_size,
            "seconds": round(sum(sum(a.seconds.values()) for a in attempts), 1),
            "attempts": _table(attempts),
        },
    )


def _keep(attempt: _Attempt, evidence: Path, stage: str, script: str, result: Stage) -> None:
    attempt.seconds[stage] = round(result.completed.seconds, 2)
    (evidence / f"{stage}.sh").write_text(script)
    (evidence / f"{stage}.log").write_text(result.log)


def _table(attempts: list[_Attempt]) -> str:
    rows = [
        f"| {a.pack} | {a.reached} | {a.product or '-'} | {sum(a.seconds.values()):.1f} | {a.reason or '-'} |"
        for a in attempts
    ]
    return "\n".join(["| buildpack | reached | product | seconds | reason |", "|---|---|---|---|---|", *rows])
