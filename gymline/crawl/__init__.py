"""Where repositories come from, and what is known of one before anything is built.

``mirror.py`` is the observed source: a folder of bare clones. From it follow, one step a function, each returning a
``Produced``: ``validate_repository`` (identity: language, licence), ``lock_commit`` (commit and tree, complete with
submodules), ``detect_markers``, ``export_source`` and over all of them ``corpus``.

Git data is untrusted. ``git.py`` is the one place that runs git: plumbing only, never a checkout, with no
configuration but ours; objects are copied file by file from a local origin, so no program an origin's
configuration names (hooks, fsmonitor, filters, upload-pack, promisor remotes) ever runs.
"""

from __future__ import annotations

from gymline.crawl.corpus import corpus
from gymline.crawl.mirror import Head, Mirror, MirrorEntry
from gymline.crawl.repository import detect_markers, lock_commit, observe_head, validate_repository
from gymline.crawl.samples import mirror_samples
from gymline.crawl.settings import CrawlSettings
from gymline.crawl.source import export_source

__all__ = [
    "CrawlSettings",
    "Head",
    "Mirror",
    "MirrorEntry",
    "corpus",
    "detect_markers",
    "export_source",
    "lock_commit",
    "mirror_samples",
    "observe_head",
    "validate_repository",
]
