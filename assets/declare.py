"""Turns ten lines of declaration into a Dagster asset that makes many partitions in one run and records each.

Three things here are not what Dagster would do by itself, each for a measured reason (see docs/architecture.md):

* A run works on an exact key list from op config and yields one ``AssetMaterialization`` a partition, since a
  single-run asset that returns normally records the same provenance on all its partitions.
* The op declares no inputs, though the asset declares its dependencies: with a partitioned dependency as op input,
  Dagster resolves it before the op starts and fails a run that has no partition tag. Order within a run comes from
  step priorities instead, so a whole chain picked in the UI still runs upstream first.
* Checks run inside the batch and are reported per partition: a separate check step would be skipped silently.
"""

# No `from __future__ import annotations` here: Dagster reads the type of an op's config from the live annotation.

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import dagster as dg
from pydantic import Field

from gymline.errors import GymlineError, LineageError
from gymline.lineage.batch import Batch, Failed
from gymline.lineage.code import Code, code_manifest
from gymline.lineage.graph import UNPARTITIONED, Graph, Input, Node
from gymline.lineage.plan import partition_keys
from gymline.lineage.produced import Produced
from gymline.lineage.work import Work
from gymline.sandbox.stopping import stop_running
from resources import dagster_tags as tags
from resources.events import check_evaluation, materialization, observation, project, whole_observation
from resources.planning import require_key
from resources.progress import announce
from resources.workspace import Workspace, partition_sets, sync_repos

Body = Callable[[Work, Workspace], Produced]
Observe = Callable[[Workspace, Sequence[str]], Mapping[str, Any]]

OWNERS = ("team:environments",)


class Keys(dg.Config):
    """Which partitions a run makes, where the run itself carries no partition."""

    keys: list[str] = Field(default=[])


@dataclass(frozen=True)
class Declared:
    """An asset or source, once for the plan and once for Dagster.

    ``define`` takes the priority of its step, which orders the steps of a run.
    """

    node: Node
    define: Callable[[int], dg.AssetsDefinition]


@dataclass(frozen=True)
class DeclaredCheck:
    """A check a body reports per partition. A failed blocking one withholds the materialization."""

    name: str
    description: str
    blocking: bool = True


def identity(name: str) -> Input:
    """A read of the partition of the same key."""
    return Input(name, "identity")


def every(name: str) -> Input:
    """A read of all partitions (fan-in)."""
    return Input(name, "all")


def gym_asset(
    *,
    group: str,
    inputs: Sequence[Input],
    code: Code,
    partitions: str | None = None,
    kinds: set[str] | None = None,
    pool: str | None = None,
    checks: Sequence[DeclaredCheck] = (),
    defines: str | None = None,
    rebuild: Literal["auto", "approve"] = "auto",
    cost_cap_usd: float | None = None,
) -> Callable[[Body], Declared]:
    """Declares an asset: the body gets its declared inputs (``Work``) and the workspace, and returns ``Produced``.

    Args:
        checks: what the body's ``Produced.checks`` report; one that is not declared is an error.
        pool: Dagster concurrency pool. For the others see ``Node`` and ``Code``. The docstring is the description.
    """

    def declare(body: Body) -> Declared:
        name = body.__name__
        node = Node(name, partitions, tuple(inputs), code, rebuild, cost_cap_usd, None, defines)

        # Not annotated: Dagster would want a tuple, one element an output.
        def compute(context: dg.OpExecutionContext, config: Keys):
            yield from _run_batch(context, node, body, config, {check.name for check in checks})

        def define(priority: int) -> dg.AssetsDefinition:
            outputs = ["content", *(check.name for check in checks)]
            op = dg.op(
                name=name,
                out={output: dg.Out(dg.Nothing, is_required=False) for output in outputs},
                required_resource_keys={"workspace"},
                pool=pool,
                tags={tags.PRIORITY: str(priority)},
            )(compute)
            return dg.AssetsDefinition(
                node_def=op,
                keys_by_input_name={},
                keys_by_output_name={"content": dg.AssetKey(name)},
                check_specs_by_output_name={
                    check.name: dg.AssetCheckSpec(
                        check.name, asset=name, blocking=check.blocking, description=check.description
                    )
                    for check in checks
                },
                specs=[_spec(node, group, body.__doc__, kinds)],
                backfill_policy=dg.BackfillPolicy.single_run(),
                can_subset=bool(checks),
            )

        return Declared(node, define)

    return declare


def gym_source(
    *, group: str, partitions: str, max_age_seconds: float | None, kinds: set[str] | None = None
) -> Callable[[Observe], Declared]:
    """Declares an observed source: the function returns key → JSON value for the keys it is asked about."""

    def declare(observe: Observe) -> Declared:
        node = Node(observe.__name__, partitions, max_age_seconds=max_age_seconds)

        def compute(context: dg.OpExecutionContext, config: Keys) -> Iterator[Any]:
            workspace: Workspace = context.resources.workspace
            known = sync_repos(context.instance, workspace)
            wanted = sorted(set(config.keys or _partition_keys(context, node) or known) & set(known))
            yield from observe_source(context.instance, workspace, node, observe, wanted, whole=wanted == known)

        def define(_priority: int) -> dg.AssetsDefinition:
            # A step without a priority has 0, and so goes before every asset's.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", dg.BetaWarning)
                return dg.multi_observable_source_asset(
                    specs=[_spec(node, group, observe.__doc__, kinds)],
                    name=node.name,
                    can_subset=True,
                    required_resource_keys={"workspace"},
                )(compute)

        return Declared(node, define)

    return declare


def observe_source(
    instance: dg.DagsterInstance,
    workspace: Workspace,
    node: Node,
    observe: Observe,
    keys: Sequence[str],
    *,
    whole: bool,
) -> Iterator[dg.AssetObservation]:
    """Looks at a source: an event for each partition that changed (each one looked at, unless it was all of them)."""
    store, catalog = workspace.store(), workspace.catalog()
    project(instance, catalog, Graph.of([node]))
    before = catalog.records([node.name]).get(node.name, {})
    changed = 0
    for key, value in sorted(observe(workspace, keys).items()):
        version = store.put_json(value)
        if not whole or key not in before or before[key].data_version != version:
            changed += 1
            yield observation(node.name, key, version)
    if whole:
        yield whole_observation(node.name, len(keys), changed)
    catalog.dispose()


def _spec(node: Node, group: str, documentation: str | None, kinds: set[str] | None) -> dg.AssetSpec:
    partitions_def = dg.DynamicPartitionsDefinition(name=node.partitions) if node.partitions else None
    return dg.AssetSpec(
        node.name,
        group_name=group,
        description=documentation,
        owners=list(OWNERS),
        kinds=kinds or set(),
        partitions_def=partitions_def,
        skippable=True,
        deps=[
            dg.AssetDep(
                edge.asset,
                partition_mapping=dg.AllPartitionMapping()
                if edge.mapping == "all" and node.partitions
                else dg.IdentityPartitionMapping()
                if edge.mapping == "identity" and node.partitions
                else None,
            )
            for edge in node.inputs
        ],
        metadata={"rebuild": node.rebuild},
    )


def _partition_keys(context: dg.OpExecutionContext, node: Node) -> list[str]:
    if node.partitions is None:
        return [UNPARTITIONED]
    return list(context.partition_keys) if context.has_partition_key or context.has_partition_key_range else []


def _run_batch(
    context: dg.OpExecutionContext, node: Node, body: Body, config: Keys, declared_checks: Collection[str]
) -> Iterator[Any]:
    # The whole graph, because a fan-in leaves out what a refusal further up has cut off.
    from assets import graph

    workspace: Workspace = context.resources.workspace
    assert node.code is not None, "sources are observed, not built"
    manifest = code_manifest(node.code, _fingerprints(workspace, node.code))
    whole_graph, catalog = graph(), workspace.catalog()
    partitions = partition_sets(context.instance)
    keys = sorted(set(config.keys)) or _partition_keys(context, node)
    if not keys:
        raise LineageError(
            f"asset {node.name!r}",
            "the run names no partition",
            "Pick partitions in the UI, or give 'keys' in op config",
        )
    known = set(partition_keys(node, partitions))
    for key in keys:
        if key not in known:
            require_key(whole_graph, partitions, node.name, key)
    project(context.instance, catalog, whole_graph)
    batch = Batch(
        graph=whole_graph,
        node=node,
        records=catalog.records(),
        partitions=partitions,
        store=workspace.store(),
        code=manifest,
        scratch=workspace.new_scratch(),
    )
    catalog.dispose()
    failures: list[Failed] = []
    made = batch.run(keys, lambda work: body(work, workspace), jobs=workspace.worker_count(), stop=stop_running)
    for result in made:
        announce(node.name, result)
        checks = result.checks if isinstance(result, Failed) else result.produced.checks
        for check in checks:
            if check.name not in declared_checks:
                raise LineageError(
                    f"check {check.name!r} of {node.name!r}", "it is reported but not declared", "Add it to the asset"
                )
            yield check_evaluation(node, result.key, check)
        if isinstance(result, Failed):
            failures.append(result)
            context.log.error(f"{node.name} {result.key}: {result.error}", exc_info=_traceback(result.error))
            continue
        yield materialization(node, result, manifest.version)
        if node.defines and result.produced.outcome == "built":
            context.instance.add_dynamic_partitions(node.defines, [result.key])
        elif node.defines:
            context.instance.delete_dynamic_partition(node.defines, result.key)
    if failures:
        raise dg.Failure(
            description=f"{len(failures)} of {len(keys)} partitions of {node.name} could not be made; "
            "the others are recorded, and these stay stale",
            metadata={f.key or node.name: f"{type(f.error).__name__}: {f.error}" for f in failures[:50]},
            allow_retries=False,
        )


def _fingerprints(workspace: Workspace, code: Code) -> dict[str, str]:
    if "rootfs" in code.fingerprints:
        workspace.root()
    return workspace.fingerprints(code)


def _traceback(error: Exception) -> Exception | None:
    """A typed error says it all; anything else is a fault of ours and wants its traceback."""
    return None if isinstance(error, GymlineError) else error
