"""Gymline's domain library: HOW environments are made. It imports no Dagster.

Packages are layered; each imports only from those before it in this order: store, catalog, lineage, sandbox,
models, cases, kernels, harnesses, trajectories, agents, crawl, build, suites, tasks, programs, datasets, cluster,
evaluation. ``tests/test_architecture.py`` enforces it.
"""
