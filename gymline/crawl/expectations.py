"""What the corpus table must satisfy, as a Great Expectations suite."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from gymline.crawl.settings import CrawlSettings
from gymline.lineage.produced import Check


def corpus_check(rows: Sequence[Mapping[str, Any]], settings: CrawlSettings) -> Check:
    """Whether the rows of ``corpus`` are whole: each repository once, locked, of our languages, with a build marker.

    An empty table is sound: there is nothing wrong in it.
    """
    if not rows:
        return Check("corpus_is_sound", True, "the table is empty")
    # Here and not above: the import takes seconds, and reports home unless it is told not to.
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    gx: Any = importlib.import_module("great_expectations")
    pd: Any = importlib.import_module("pandas")
    expectations = gx.expectations
    sha = r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$"
    suite = gx.ExpectationSuite(
        name="repo_corpus",
        expectations=[
            expectations.ExpectColumnValuesToBeUnique(column="name"),
            expectations.ExpectColumnValuesToMatchRegex(column="name", regex=r"^[^/]+/[^/]+$"),
            expectations.ExpectColumnValuesToMatchRegex(column="commit", regex=sha),
            expectations.ExpectColumnValuesToMatchRegex(column="tree", regex=sha),
            expectations.ExpectColumnValuesToBeInSet(column="language", value_set=list(settings.languages)),
            expectations.ExpectColumnValuesToNotBeNull(column="licence", mostly=float(settings.require_licence)),
            expectations.ExpectColumnValuesToBeBetween(column="systems", min_value=1),
        ],
    )
    table = pd.DataFrame([{**row, "systems": len(row["markers"])} for row in rows]).drop(columns="markers")
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    asset = context.data_sources.add_pandas("corpus").add_dataframe_asset("rows")
    batch = asset.add_batch_definition_whole_dataframe("all").get_batch(batch_parameters={"dataframe": table})
    result = batch.validate(suite)
    failed = [
        f"{each.expectation_config.type} of {each.expectation_config.kwargs['column']}"
        for each in result.results
        if not each.success and each.expectation_config
    ]
    said = f"broken: {'; '.join(failed)}" if failed else f"{len(rows)} rows meet {len(result.results)} expectations"
    return Check("corpus_is_sound", not failed, said, metadata={"rows": len(rows), "expectations": len(result.results)})
