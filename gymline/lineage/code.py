"""Code versions: a digest of what could change an asset's content, so nobody types a version.

From the declared root callables we follow names through first-party modules to every definition they can reach
(functions, classes, module constants; through re-exports to the real definition) and hash each one's tokens without
comments, docstrings and layout; of a settings class that is reached, its values as they are now. R's `targets` does
the same with a function's deparsed body and its globals. We work on tokens and not on ``ast.dump``, whose output
differs between Python versions.

Left out on purpose: transport (``TRANSPORT``), third-party packages (the lock file's business), and names looked up
dynamically, which must be declared as roots of their own.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic_settings import BaseSettings

from gymline.errors import LineageError
from gymline.lineage.source_code import Module, read_module
from gymline.store import digest_bytes, digest_json

FIRST_PARTY = ("gymline", "training_jobs")
TRANSPORT = ("gymline.store", "gymline.catalog", "gymline.lineage", "gymline.sandbox", "gymline.errors")


@dataclass(frozen=True)
class Code:
    """What an asset's content depends on besides its inputs.

    Args:
        roots: ``module:name`` of the callables the asset runs; ``module:*`` for every definition of a module that
            is run as a script.
        texts: ``package/glob`` patterns of files the roots use (templates, prompts, Dockerfiles), first part a package.
        fingerprints: names of values that injected collaborators declare (``rootfs``), looked up when evaluated.
    """

    roots: tuple[str, ...]
    texts: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()


@dataclass(frozen=True)
class CodeManifest:
    """The parts of a code version, flat: part name → digest. Kept so that a change can be named later."""

    parts: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def version(self) -> str:
        """Digest of the canonical JSON of the parts; also the manifest's address in the store."""
        return digest_json(dict(self.parts))


def code_manifest(code: Code, fingerprints: Mapping[str, str]) -> CodeManifest:
    """Evaluates what the code is now, from the files on disk.

    Raises ``LineageError`` where a root, text or fingerprint does not exist.
    """
    parts: dict[str, str] = {}
    for root in code.roots:
        for module, name in _reached(root):
            if (settings := _settings_class(module, name)) is not None:
                for key, value in _flat(settings().model_dump(mode="json")):
                    parts[f"setting {name}.{key}"] = digest_json(value)
            else:
                parts[f"code {module.relative}:{name}"] = module.definitions[name].digest
    for pattern in code.texts:
        for relative, path in _texts(pattern):
            parts[f"text {relative}"] = digest_bytes(path.read_bytes().replace(b"\r\n", b"\n"))
    for name in code.fingerprints:
        if name not in fingerprints:
            raise LineageError(f"fingerprint {name!r}", "nobody declares it", "Give it in the workspace resource")
        parts[f"fingerprint {name}"] = fingerprints[name]
    return CodeManifest(dict(sorted(parts.items())))


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The names of parts that were added, removed or changed, for people: ``code gymline/build/gold.py:smoke``."""
    names = sorted(before.keys() | after.keys())
    return [name for name in names if before.get(name) != after.get(name)]


def _flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, item in sorted(value.items()):
        if isinstance(item, dict):
            yield from _flat(item, f"{prefix}{key}.")  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield f"{prefix}{key}", item


def _texts(pattern: str) -> list[tuple[str, Path]]:
    package, _, glob = pattern.partition("/")
    folder = _module_file(package).parent
    found = sorted(path for path in folder.glob(glob) if path.is_file())
    if not found:
        raise LineageError(f"text {pattern!r}", "no file matches it", "Correct the pattern in the asset's declaration")
    return [(f"{package.replace('.', '/')}/{path.relative_to(folder).as_posix()}", path) for path in found]


def _reached(root: str) -> list[tuple[Module, str]]:
    module_name, _, name = root.partition(":")
    module = _module(module_name)
    if name == "*":
        pending = [(module, each) for each in module.definitions]
    elif name in module.definitions:
        pending = [(module, name)]
    else:
        raise LineageError(f"code root {root!r}", "that module defines no such name", "Correct the declaration")
    seen: dict[tuple[str, str], Module] = {}
    while pending:
        module, name = pending.pop()
        if (module.name, name) in seen:
            continue
        seen[module.name, name] = module
        if _settings_class(module, name) is not None:
            continue
        for reference in module.definitions[name].references:
            pending.extend(_resolve(module, reference))
    return [(seen[key], key[1]) for key in sorted(seen)]


def _settings_class(module: Module, name: str) -> type[BaseSettings] | None:
    """The class, where the name is a room's settings: what counts of it is its values, wherever they come from."""
    if module.name.rpartition(".")[2] != "settings":
        return None
    found = getattr(importlib.import_module(module.name), name, None)
    return found if isinstance(found, type) and issubclass(found, BaseSettings) else None


def _resolve(module: Module, reference: str) -> list[tuple[Module, str]]:
    """The first-party definitions a dotted reference in ``module`` names; empty for anything else."""
    head, _, rest = reference.partition(".")
    if head in module.definitions:
        return [(module, head)]
    target = module.imports.get(head)
    if target is None:
        return []
    return _lookup(f"{target}.{rest}" if rest else target)


def _lookup(dotted: str) -> list[tuple[Module, str]]:
    """Resolves ``package.module.name[.attribute…]`` to definitions; a bare module means all it defines."""
    parts = dotted.split(".")
    if parts[0] not in FIRST_PARTY:
        return []
    for end in range(len(parts), 0, -1):
        name = ".".join(parts[:end])
        if any(name == out or name.startswith(f"{out}.") for out in TRANSPORT):
            return []
        if (spec_file := _find_file(name)) is None:
            continue
        module = read_module(name, spec_file)
        if end == len(parts):
            return [(module, each) for each in module.definitions]
        return _resolve(module, ".".join(parts[end:]))
    return []


def _module(name: str) -> Module:
    return read_module(name, _module_file(name))


def _module_file(name: str) -> Path:
    found = _find_file(name)
    if found is None:
        raise LineageError(f"module {name!r}", "it cannot be found", "Correct the asset's declaration")
    return found


@lru_cache(maxsize=4096)
def _find_file(name: str) -> Path | None:
    """The source file of a module without running it: only its top-level package is looked up by import rules."""
    top, *rest = name.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    for part in rest[:-1]:
        folder = folder / part
    if not rest:
        return Path(spec.origin)
    for candidate in (folder / rest[-1] / "__init__.py", folder / f"{rest[-1]}.py"):
        if candidate.is_file():
            return candidate
    return None
