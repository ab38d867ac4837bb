"""The crawl stage: from what the mirror shows to a locked commit with build markers, and the corpus table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from assets.declare import DeclaredCheck, every, gym_asset, gym_source, identity
from gymline.crawl.corpus import corpus
from gymline.crawl.expectations import corpus_check
from gymline.crawl.repository import detect_markers, lock_commit, observe_head, observe_metadata, validate_repository
from gymline.crawl.settings import CrawlSettings
from gymline.lineage.code import Code
from gymline.lineage.produced import Produced
from gymline.lineage.work import Work
from resources.workspace import REPOS, Workspace

MIRROR_IS_DUE_AFTER = 3600.0


@gym_source(group="crawl", partitions=REPOS, max_age_seconds=MIRROR_IS_DUE_AFTER, kinds={"git"})
def mirror_metadata(workspace: Workspace, keys: Sequence[str]) -> dict[str, Any]:
    """What the local mirror says of a repository: name, default branch, main language, licence.

    The observed source of `repository`. Add repositories with `gymline repo add`.
    """
    mirror, settings = workspace.mirror(), CrawlSettings()
    return {key: observe_metadata(key, mirror, settings) for key in keys}


@gym_source(group="crawl", partitions=REPOS, max_age_seconds=MIRROR_IS_DUE_AFTER, kinds={"git"})
def mirror_head(workspace: Workspace, keys: Sequence[str]) -> dict[str, Any]:
    """The commit each repository of the mirror is at: its pin, or the tip of its default branch.

    An unpinned repository with a local origin follows it (`GYMLINE_CRAWL_FOLLOW_TIP`).
    """
    mirror, settings = workspace.mirror(), CrawlSettings()
    return {key: observe_head(key, mirror, settings) for key in keys}


@gym_asset(
    group="crawl",
    partitions=REPOS,
    inputs=[identity("mirror_metadata")],
    code=Code(("gymline.crawl.repository:validate_repository",)),
)
def repository(work: Work, workspace: Workspace) -> Produced:
    """The validated identity of a repository: name, default branch, language, licence. No star counts: they change
    daily and would stale everything below.
    """
    return validate_repository(work.json("mirror_metadata"), CrawlSettings())


@gym_asset(
    group="crawl",
    partitions=REPOS,
    inputs=[identity("repository"), identity("mirror_head")],
    code=Code(("gymline.crawl.repository:lock_commit",)),
    kinds={"git"},
)
def locked_commit(work: Work, workspace: Workspace) -> Produced:
    """The one commit a repository is used at: commit and root tree SHA. Refused where objects or submodules lack."""
    return lock_commit(work.json("repository"), work.json("mirror_head"), workspace.mirror(), CrawlSettings())


@gym_asset(
    group="crawl",
    partitions=REPOS,
    inputs=[identity("locked_commit")],
    code=Code(("gymline.crawl.repository:detect_markers",)),
)
def build_markers(work: Work, workspace: Workspace) -> Produced:
    """Where the locked tree shows evidence of a build system (Makefile, CMakeLists.txt, go.mod, Cargo.toml, …)."""
    return detect_markers(work.json("locked_commit"), work.key, workspace.mirror(), CrawlSettings())


@gym_asset(
    group="crawl",
    inputs=[every("repository"), every("locked_commit"), every("build_markers")],
    code=Code(("gymline.crawl.corpus:corpus", "gymline.crawl.expectations:corpus_check")),
    kinds={"table", "greatexpectations"},
    checks=[DeclaredCheck("corpus_is_sound", "Every row is whole: unique, locked, of our languages, with a marker.")],
)
def repo_corpus(work: Work, workspace: Workspace) -> Produced:
    """The table of repositories that passed the crawl, and the funnel of those that did not, with reasons."""
    table = corpus(work.each("repository"), work.each("locked_commit"), work.each("build_markers"))
    return replace(table, checks=[corpus_check(table.content["repositories"], CrawlSettings())])


ASSETS = (mirror_metadata, mirror_head, repository, locked_commit, build_markers, repo_corpus)
