"""WHEN: the nightly schedule opens a campaign, the lineage sensor carries it on layer by layer."""
