"""The environment stage: everything packaged as a task, scored before it counts."""

from __future__ import annotations

from assets.declare import DeclaredCheck, gym_asset, identity
from gymline.lineage.code import Code
from gymline.lineage.produced import Produced
from gymline.lineage.work import Work
from gymline.programs.environment import package_environment
from gymline.programs.settings import ProgramSettings
from resources.workspace import PROGRAMS, Workspace


@gym_asset(
    group="environment",
    partitions=PROGRAMS,
    inputs=[
        identity("repository"),
        identity("locked_commit"),
        identity("source_tree"),
        identity("gold_build"),
        identity("docs_bundle"),
        identity("test_suite"),
    ],
    code=Code(
        ("gymline.programs.environment:package_environment", "gymline.cases.worker:*"),
        texts=("gymline.programs/harbor/*", "gymline.programs/dummies/*.sh"),
        fingerprints=("rootfs",),
    ),
    kinds={"bubblewrap", "harbor"},
    pool="sandbox",
    checks=[
        DeclaredCheck("oracle_scores_all", "The original source, built with the gold scripts, passes every case."),
        DeclaredCheck("do_nothing_scores_zero", "Submissions that do nothing pass no case."),
    ],
)
def program_environment(work: Work, workspace: Workspace) -> Produced:
    """A program-reproduction environment as a Harbor task folder: instruction, documents, reference, hidden tests,
    oracle, manifest. It is recorded only when the oracle scores 100% and doing nothing scores 0%.
    """
    return package_environment(
        work.key,
        work.json("repository"),
        work.json("locked_commit"),
        gold=work.folder("gold_build"),
        docs=work.folder("docs_bundle"),
        suite=work.folder("test_suite"),
        source=work.folder("source_tree"),
        sandbox=workspace.sandbox(),
        root=workspace.root(),
        scratch=work.new("package"),
        out=work.scratch / "out",
        settings=ProgramSettings(),
    )


ASSETS = (program_environment,)
