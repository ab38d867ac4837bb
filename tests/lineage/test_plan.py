"""Claims about the plan, on a small graph with records made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gymline.catalog.catalog import Cost, Record
from gymline.errors import LineageError
from gymline.lineage.code import Code
from gymline.lineage.graph import Graph, Input, Node
from gymline.lineage.plan import Layer, PlanInputs, fan_in_manifest, make_plan
from gymline.store import digest_json

NO_CODE = Code(())
GRAPH = Graph.of(
    [
        Node("head", "repos", max_age_seconds=3600),
        Node("lock", "repos", (Input("head"),), NO_CODE),
        Node("gold", "repos", (Input("lock"),), NO_CODE, defines="programs"),
        Node("suite", "programs", (Input("gold"),), NO_CODE),
        Node("corpus", None, (Input("lock", "all"), Input("gold", "all")), NO_CODE),
    ]
)
NOW = 100_000.0
REPOS = ("a/a", "b/b", "c/c")


def record(key: str, version: str, inputs: Mapping[str, str], **changes: object) -> Record:
    made = Record(key, 1, version, "code", inputs, "built", "", "", NOW - 10)
    return made._replace(**changes)


def settled() -> PlanInputs:
    """Everything fresh; c/c is refused by gold."""
    records: dict[str, dict[str, Record]] = {
        "head": {k: record(k, f"head {k}", {}, code_version="") for k in REPOS},
        "lock": {k: record(k, f"lock {k}", {"head": f"head {k}"}) for k in REPOS},
        "gold": {k: record(k, f"gold {k}", {"lock": f"lock {k}"}) for k in REPOS},
        "suite": {k: record(k, f"suite {k}", {"gold": f"gold {k}"}) for k in REPOS[:2]},
    }
    records["gold"]["c/c"] = records["gold"]["c/c"]._replace(outcome="refused", reason="library only")
    partitions = {"repos": list(REPOS), "programs": list(REPOS[:2])}
    fan_in = {name: digest_json(fan_in_manifest(GRAPH, name, records, partitions)) for name in ("lock", "gold")}
    records["corpus"] = {"": record("", "corpus", fan_in)}
    code = {name: "code" for name, node in GRAPH.nodes.items() if not node.is_source}
    return PlanInputs(records, partitions, code, frozenset(), {}, {}, frozenset(), {}, NOW)


def with_record(start: PlanInputs, asset: str, key: str, **changes: object) -> PlanInputs:
    changed = {**start.records[asset], key: start.records[asset][key]._replace(**changes)}
    return replace(start, records={**start.records, asset: changed})


def without_record(inputs: PlanInputs, asset: str, key: str) -> PlanInputs:
    left = {k: r for k, r in inputs.records[asset].items() if k != key}
    return replace(inputs, records={**inputs.records, asset: left})


def stale(inputs: PlanInputs) -> dict[str, list[str]]:
    return {name: sorted(plan.stale) for name, plan in make_plan(GRAPH, inputs).assets.items() if plan.stale}


def kinds(inputs: PlanInputs, asset: str, key: str) -> list[str]:
    return [reason.kind for reason in make_plan(GRAPH, inputs).assets[asset].reasons(key)]


def test_nothing_changed_means_nothing_to_do() -> None:
    plan = make_plan(GRAPH, settled())
    assert plan.stale == 0
    assert plan.next_layer() is None
    assert plan.assets["gold"].fresh == 3
    assert plan.assets["gold"].refused == 1


def test_a_refusal_is_settled_and_what_follows_it_is_blocked_with_the_reason() -> None:
    inputs = settled()
    inputs = replace(inputs, partitions={**inputs.partitions, "programs": list(REPOS)})
    reason = make_plan(GRAPH, inputs).assets["suite"].blocked["c/c"]
    assert (reason.kind, reason.detail) == ("upstream refused", "library only")


def test_a_changed_input_stales_only_its_own_partition_and_the_rest_waits() -> None:
    inputs = with_record(settled(), "head", "a/a", data_version="moved")
    assert stale(inputs) == {"lock": ["a/a"]}
    plan = make_plan(GRAPH, inputs)
    assert plan.assets["gold"].state("a/a") == "pending"
    assert plan.assets["gold"].state("b/b") == "fresh"
    assert plan.assets["corpus"].state("") == "pending"
    (reason,) = plan.assets["lock"].reasons("a/a")
    assert (reason.kind, reason.subject, reason.before, reason.after) == ("input changed", "head", "head a/a", "moved")


def test_a_rebuild_with_equal_content_stops_there() -> None:
    inputs = with_record(settled(), "head", "a/a", data_version="moved")
    inputs = with_record(inputs, "lock", "a/a", inputs={"head": "moved"})
    assert stale(inputs) == {}


def test_a_fan_in_is_stale_when_one_of_its_parts_changed() -> None:
    inputs = with_record(settled(), "gold", "b/b", data_version="other")
    assert stale(inputs) == {"suite": ["b/b"], "corpus": [""]}


def test_a_record_cut_off_by_a_refusal_upstream_leaves_the_fan_in() -> None:
    inputs = with_record(settled(), "lock", "a/a", outcome="refused", reason="no commits")
    assert "a/a" not in fan_in_manifest(GRAPH, "gold", inputs.records, inputs.partitions)
    assert stale(inputs)["corpus"] == [""]


def test_changed_code_stales_all_of_the_asset_unless_it_was_accepted() -> None:
    inputs = settled()
    changed = replace(inputs, code={**inputs.code, "gold": "newer"})
    assert stale(changed) == {"gold": sorted(REPOS)}
    assert kinds(changed, "gold", "a/a") == ["code changed"]
    assert stale(replace(changed, accepted={("gold", "code", "newer")})) == {}
    assert stale(replace(changed, accepted={("gold", "code", "another")})) == {"gold": sorted(REPOS)}


def test_a_missing_artifact_and_a_missing_record_are_told_apart() -> None:
    assert kinds(replace(settled(), missing={"gold a/a"}), "gold", "a/a") == ["artifact missing"]
    assert kinds(without_record(settled(), "gold", "a/a"), "gold", "a/a") == ["never built"]


def test_a_source_is_due_by_age_and_what_reads_it_is_pending() -> None:
    old = with_record(settled(), "head", "a/a", recorded_at=NOW - 7200)
    assert stale(old) == {"head": ["a/a"]}
    assert kinds(old, "head", "a/a") == ["source due"]
    assert make_plan(GRAPH, old).assets["lock"].pending["a/a"].kind == "upstream pending"
    assert stale(replace(old, observed_at={"head": NOW - 60})) == {}
    assert kinds(without_record(settled(), "head", "a/a"), "head", "a/a") == ["never observed"]


def test_a_source_whose_observation_left_the_store_is_looked_at_again() -> None:
    inputs = replace(settled(), missing={"head a/a"})
    assert stale(inputs) == {"head": ["a/a"]}
    assert kinds(inputs, "head", "a/a") == ["artifact missing"]


def test_layers_come_in_topological_order_and_leave_out_what_they_are_told() -> None:
    inputs = without_record(without_record(settled(), "suite", "b/b"), "lock", "a/a")
    plan = make_plan(GRAPH, inputs)
    assert list(plan.layers()) == [Layer("lock", ("a/a",)), Layer("suite", ("b/b",))]
    assert plan.next_layer(without={("lock", "a/a")}) == Layer("suite", ("b/b",))
    assert plan.next_layer(among={"suite"}) == Layer("suite", ("b/b",))


def approving(inputs: PlanInputs, **node_changes: object) -> tuple[Graph, PlanInputs]:
    nodes = {**GRAPH.nodes, "gold": replace(GRAPH.nodes["gold"], **node_changes)}
    return Graph.of(nodes.values()), replace(inputs, code={**inputs.code, "gold": "newer"})


def test_an_asset_that_needs_approval_waits_for_it_and_uses_it_up() -> None:
    graph, inputs = approving(settled(), rebuild="approve")
    plan = make_plan(graph, inputs).assets["gold"]
    assert not plan.stale
    assert plan.blocked["a/a"].kind == "awaiting approval"
    assert "gymline approve gold a/a" in str(plan.blocked["a/a"])
    one = replace(inputs, approvals={("gold", "a/a"): NOW})
    assert sorted(make_plan(graph, one).assets["gold"].stale) == ["a/a"]
    everything = replace(inputs, approvals={("gold", "*"): NOW})
    assert sorted(make_plan(graph, everything).assets["gold"].stale) == sorted(REPOS)
    used_up = replace(inputs, approvals={("gold", "a/a"): NOW - 60})
    assert not make_plan(graph, used_up).assets["gold"].stale


def test_an_estimate_over_the_cost_cap_waits_for_approval() -> None:
    graph, inputs = approving(settled(), cost_cap_usd=5.0)
    cheap, dear = ({"gold": Cost(1, 0, usd)} for usd in (1.0, 2.0))
    assert len(make_plan(graph, replace(inputs, costs=cheap)).assets["gold"].stale) == 3
    blocked = make_plan(graph, replace(inputs, costs=dear)).assets["gold"].blocked
    assert {reason.kind for reason in blocked.values()} == {"over cost cap"}
    assert make_plan(graph, replace(inputs, costs=cheap)).estimate("gold") == {"seconds": 3, "tokens": 0, "usd": 3.0}


@pytest.mark.parametrize(
    "nodes",
    [
        [Node("a", None, (Input("b"),), NO_CODE)],
        [Node("a", None, (Input("b"),), NO_CODE), Node("b", None, (Input("a"),), NO_CODE)],
        [Node("a", "repos", (), NO_CODE), Node("b", None, (Input("a"),), NO_CODE)],
    ],
    ids=["unknown input", "circle", "identity between partitioned and not"],
)
def test_a_graph_that_cannot_be_is_refused(nodes: list[Node]) -> None:
    with pytest.raises(LineageError):
        Graph.of(nodes)
