"""One byte string for one JSON value, and the digest of it.

Canonical: UTF-8, keys sorted, no spaces. What JSON cannot carry without loss is refused instead of bent: NaN
and infinities (orjson would write ``null``), keys that are not strings, and objects such as dates or enums.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any, cast

import orjson

from gymline.errors import StoreError

CHUNK = 1 << 20


def digest_bytes(data: bytes) -> str:
    """Lowercase hex sha256."""
    return hashlib.sha256(data).hexdigest()


def canonical_json(value: object) -> bytes:
    """The canonical bytes of a JSON value; a tuple counts as a list.

    Raises ``StoreError`` naming the place in the value that is no JSON.
    """
    _require_json(value, "$")
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError) as error:
        raise StoreError("JSON value", f"it cannot be written: {error}", "Store it as text or bytes") from error


def digest_json(value: object) -> str:
    """The digest ``Store.put_json`` would return. Raises ``StoreError``."""
    return digest_bytes(canonical_json(value))


def _require_json(value: object, place: str) -> None:
    kind: type[Any] = type(value)
    if value is None or kind is str or kind is bool or kind is int:
        return
    if kind is float:
        if math.isfinite(cast(float, value)):
            return
        raise StoreError(f"JSON value at {place}", f"{value} is no JSON number", "Use null or a string for it")
    if kind is list or kind is tuple:
        for index, item in enumerate(cast("list[object]", value)):
            _require_json(item, f"{place}[{index}]")
        return
    if kind is dict:
        for key, item in cast("dict[object, object]", value).items():
            if type(key) is not str:
                raise StoreError(f"JSON value at {place}", f"the key {key!r} is no string", "Use string keys")
            _require_json(item, f"{place}.{key}")
        return
    raise StoreError(f"JSON value at {place}", f"{kind.__name__} is no JSON type", "Convert it to plain values first")
