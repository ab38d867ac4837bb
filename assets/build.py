"""The build stage: the files at the locked commit, and the gold executable made from them."""

from __future__ import annotations

from assets.declare import DeclaredCheck, gym_asset, identity
from gymline.build.gold import build_gold
from gymline.build.settings import BuildSettings
from gymline.crawl.settings import CrawlSettings
from gymline.crawl.source import export_source
from gymline.lineage.code import Code
from gymline.lineage.produced import Produced
from gymline.lineage.work import Work
from resources.workspace import PROGRAMS, REPOS, Workspace


@gym_asset(
    group="build",
    partitions=REPOS,
    inputs=[identity("locked_commit"), identity("build_markers")],
    code=Code(("gymline.crawl.source:export_source",)),
    kinds={"git"},
)
def source_tree(work: Work, workspace: Workspace) -> Produced:
    """The files at the locked commit, submodules included, without history: nothing can leak through it later."""
    return export_source(work.json("locked_commit"), work.key, workspace.mirror(), work.new("out"), CrawlSettings())


@gym_asset(
    group="build",
    partitions=REPOS,
    inputs=[identity("source_tree")],
    code=Code(
        ("gymline.build.gold:build_gold",),
        texts=("gymline.build/**/*.sh",),
        fingerprints=("rootfs",),
    ),
    kinds={"bubblewrap", "debian"},
    pool="sandbox",
    defines=PROGRAMS,
    checks=[DeclaredCheck("reproducible", "Two builds from fresh copies leave the same bytes.", blocking=False)],
)
def gold_build(work: Work, workspace: Workspace) -> Produced:
    """The gold executable with the two scripts that make it: `download.sh` (online) and `compile.sh` (offline, on a
    fresh copy). Gates: offline, ELF, every shared library resolved, smoke run. What cannot be built is refused, with
    the reason, and does not come back every night.
    """
    return build_gold(
        work.folder("source_tree"), work.key, workspace.sandbox(), workspace.root(), work.new("build"), BuildSettings()
    )


ASSETS = (source_tree, gold_build)
