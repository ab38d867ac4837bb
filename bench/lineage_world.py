"""A seeded world the size of the paper's corpus: keys, contents, and bodies that make those contents.

The nodes, edges and code are the real ones (``assets.graph()``); only the bodies are replaced, since what is
measured is recording and planning, not building. A body's content depends on the seed, the asset and the key.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import dagster as dg

import assets
from assets.declare import Declared, gym_asset, gym_source
from gymline.errors import SettingsError
from gymline.lineage.graph import Graph, Node
from gymline.lineage.produced import Produced, refused
from gymline.lineage.work import Work
from gymline.sandbox import Root
from resources.workspace import PROGRAMS, REPOS, Workspace

FAN_IN = "repo_corpus"
REFUSALS = ("no build system", "needs the network", "a library only", "does not compile", "fails the smoke run")
MARKERS = ("Makefile", "CMakeLists.txt", "go.mod", "Cargo.toml")


@dataclass(frozen=True)
class World:
    """``recorded``: how many partitions go through the real recording path.

    ``files``: files of each source tree; one is its own and the others are in all, so that only manifests grow.
    """

    repos: int
    programs: int
    recorded: int
    seed: int
    files: int
    graph: Graph = field(default_factory=assets.graph)

    def __post_init__(self) -> None:
        programs, repos, _ = self._recorded_chains
        others = repos - programs + 1
        if not (0 < programs < self.programs and 1 < others < self.repos - self.programs):
            raise SettingsError(
                f"{self.recorded} recorded partitions of {self.repos} repositories and {self.programs} programs",
                "they must hold a built and a refused repository, and leave some of both to insert in bulk",
                "Try --repos 60 --programs 10 --recorded 40",
            )

    @cached_property
    def keys(self) -> Mapping[str, Sequence[str]]:
        """Partition set → keys, sorted. Programs are a seeded sample of the repositories."""
        repos = [f"owner-{n:05}/project-{n:05}" for n in range(self.repos)]
        return {REPOS: repos, PROGRAMS: sorted(random.Random(self.seed).sample(repos, self.programs))}

    def keys_of(self, node: Node) -> Sequence[str]:
        return self.keys[node.partitions] if node.partitions else ("",)

    @cached_property
    def partitioned(self) -> tuple[Node, ...]:
        """Every node except the fan-in, in topological order."""
        return tuple(self.graph.nodes[name] for name in self.graph.order if name != FAN_IN)

    @cached_property
    def recorded_keys(self) -> Mapping[str, Sequence[str]]:
        """Asset → the keys that are really recorded: whole chains, seeded; ``recorded`` of them with the fan-in."""
        programs, repos, rest = self._recorded_chains
        dice = random.Random(self.seed + 1)
        of_programs = dice.sample(self.keys[PROGRAMS], programs)
        others = dice.sample(sorted(set(self.keys[REPOS]) - set(self.keys[PROGRAMS])), repos - programs + 1)
        found: dict[str, Sequence[str]] = {}
        for node in self.partitioned:
            whole = of_programs if node.partitions == PROGRAMS else [*of_programs, *others[:-1]]
            extra = others[-1:] if rest > 0 and node.partitions == REPOS else []
            rest -= len(extra)
            found[node.name] = sorted([*whole, *extra])
        return {**found, FAN_IN: ("",)}

    @property
    def _recorded_chains(self) -> tuple[int, int, int]:
        """Programs, repositories with all their assets, and the records left over for one cut short."""
        repo_level = sum(node.partitions == REPOS for node in self.partitioned)
        program_level = sum(node.partitions == PROGRAMS for node in self.partitioned)
        programs = self.recorded // 20
        repos, rest = divmod(self.recorded - programs * program_level - 1, repo_level)
        return programs, repos, rest

    @property
    def size(self) -> int:
        return sum(len(self.keys_of(node)) for node in self.graph.nodes.values())

    def content(self, asset: str, key: str, version: int = 0) -> Mapping[str, Any]:
        """A JSON value, or for a tree asset {"files": {path: text}}."""
        salt = hashlib.sha256(f"{self.seed}/{asset}/{key}/{version}".encode()).hexdigest()
        pick = int(salt[:8], 16)
        match asset:
            case "mirror_metadata" | "repository":
                branch = "main" if version == 0 else f"main-{version}"
                return {"name": key, "default_branch": branch, "language": "C", "licence": "MIT", "at": asset}
            case "mirror_head" | "locked_commit":
                return {"commit": salt[:40], "tree": salt[24:]}
            case "build_markers":
                return {"markers": [MARKERS[pick % len(MARKERS)]]}
            case "source_tree":
                shared = {f"src/{n // 16}/file_{n}.c": f"/* {n} */\n" for n in range(1, self.files)}
                return {"files": {"README.md": f"# {key}\n{salt}\n", **shared}}
            case "gold_build" if key not in self._program_set:
                return {"refused": REFUSALS[pick % len(REFUSALS)]}
            case "gold_build":
                return {"files": {"bin/program": salt, "compile.sh": "make\n", "download.sh": "true\n"}}
            case "docs_bundle":
                return {"files": {"README.md": f"# {key}\n{salt}\n", "manifest.json": "{}\n"}}
            case "test_suite":
                return {"files": {"cases.jsonl": salt * 8, "ignored.jsonl": ""}}
            case "program_environment":
                return {"files": {"task.toml": f'name = "{key}"\n', "instruction.md": "Rebuild it.\n", "digest": salt}}
            case "repo_corpus":
                return {"rows": self.repos}
        raise AssertionError(f"bench/lineage_world.py has no content for the asset {asset!r}; add a case")

    @cached_property
    def _program_set(self) -> frozenset[str]:
        return frozenset(self.keys[PROGRAMS])

    def declared(self, head_version: Mapping[tuple[str, str], int] | None = None) -> dict[str, Declared]:
        """The real nodes with bodies of this world; (source, key) pairs in ``head_version`` are seen changed."""
        return {node.name: self._declare(node, head_version or {}) for node in self.graph.nodes.values()}

    def _declare(self, node: Node, versions: Mapping[tuple[str, str], int]) -> Declared:
        def observe(workspace: Workspace, keys: Sequence[str]) -> Mapping[str, Any]:
            return {key: self.content(node.name, key, versions.get((node.name, key), 0)) for key in keys}

        def body(work: Work, workspace: Workspace) -> Produced:
            content = self.content(node.name, work.key)
            if "refused" in content:
                return refused(content["refused"])
            return Produced(write(content["files"], work.new("out")) if "files" in content else content)

        observe.__name__ = body.__name__ = node.name
        if node.code is None:
            assert node.partitions is not None, "every source has partitions"
            source = gym_source(group="bench", partitions=node.partitions, max_age_seconds=node.max_age_seconds)
            return source(observe)
        asset = gym_asset(
            group="bench", inputs=node.inputs, code=node.code, partitions=node.partitions, defines=node.defines
        )
        return asset(body)

    def definitions(self, head_version: Mapping[tuple[str, str], int] | None = None) -> dg.Definitions:
        """For runs within this process."""
        made = [each.define(0) for each in self.declared(head_version).values()]
        workspace = WorldWorkspace(world_repos=self.repos, world_seed=self.seed)
        return dg.Definitions(assets=made, resources={"workspace": workspace}, executor=dg.in_process_executor)


@dataclass(frozen=True)
class WorldMirror:
    repos: int

    def names(self) -> list[str]:
        return [f"owner-{n:05}/project-{n:05}" for n in range(self.repos)]


class WorldWorkspace(Workspace):
    """The real store and catalog; a mirror that only lists the world's names, and no rootfs, for nothing is built."""

    world_repos: int
    world_seed: int

    def mirror(self) -> Any:
        return WorldMirror(self.world_repos)

    def root(self) -> Root:
        return Root(Path("/nothing-runs-here"), "")


def write(files: Mapping[str, str], folder: Path) -> Path:
    """Writes a tree content's files below the folder; returns it."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not (target.exists() and target.read_text() == text):
            # ext4 flushes a file that is truncated and written again, but not a new one of the same name.
            target.unlink(missing_ok=True)
            target.write_text(text)
    return folder
