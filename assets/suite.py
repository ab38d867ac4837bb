"""The suite stage: what a solver may see, and the hidden tests that pin the gold executable's behaviour."""

from __future__ import annotations

from assets.declare import DeclaredCheck, gym_asset, identity
from gymline.build.gold import program_name
from gymline.lineage.code import Code
from gymline.lineage.produced import Produced
from gymline.lineage.work import Work
from gymline.programs.docs import docs_bundle as extract_docs
from gymline.programs.settings import ProgramSettings
from gymline.suites.settings import SuiteSettings
from gymline.suites.suite import build_suite
from resources.workspace import PROGRAMS, Workspace


@gym_asset(
    group="suite",
    partitions=PROGRAMS,
    inputs=[identity("source_tree")],
    code=Code(("gymline.programs.docs:docs_bundle",)),
    checks=[DeclaredCheck("no_source_code", "No file of the bundle is source code or has a source file's bytes.")],
)
def docs_bundle(work: Work, workspace: Workspace) -> Produced:
    """README, LICENSE and the input assets a solver could not make, with a manifest; never source code."""
    return extract_docs(work.folder("source_tree"), work.scratch / "out", ProgramSettings())


@gym_asset(
    group="suite",
    partitions=PROGRAMS,
    inputs=[identity("source_tree"), identity("gold_build")],
    code=Code(
        ("gymline.suites.suite:build_suite", "gymline.cases.worker:*"),
        texts=("gymline.suites/dummies/*.sh",),
        fingerprints=("rootfs",),
    ),
    kinds={"bubblewrap"},
    pool="sandbox",
    checks=[
        DeclaredCheck("enough_cases", "Twice as many cases are kept as are required.", blocking=False),
        DeclaredCheck("three_categories", "Cases in three of the six interaction categories.", blocking=False),
        DeclaredCheck("inputs_present", "Every input and expectation a case refers to is in the suite."),
    ],
)
def test_suite(work: Work, workspace: Workspace) -> Produced:
    """Black-box test cases with the gold executable's answers. A case is kept when the reference passes it again
    (pass), in another order and place too (double), and no do-nothing program does (dummy); others are recorded as
    ignored, with the reason.
    """
    return build_suite(
        work.folder("source_tree"),
        work.folder("gold_build"),
        program_name(work.folder("gold_build")),
        workspace.sandbox(),
        workspace.root(),
        work.new("suite"),
        work.scratch / "out",
        SuiteSettings(),
    )


ASSETS = (docs_bundle, test_suite)
