"""Recorded lineage decides what gets rebuilt.

``code.py`` says what an asset's code is now, ``graph.py`` what reads what, ``plan.py`` compares the record with both
and names every partition fresh, stale, pending or blocked, with reasons. ``work.py`` is the reading interface one
partition gets, ``batch.py`` makes many partitions and reports each. Nothing here knows Dagster: ``resources/`` turns
batches into events and events back into the catalog's projection, which the plan reads.
"""
