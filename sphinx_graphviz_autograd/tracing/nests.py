"""Nests of values: tuples, lists, dicts and dataclasses, and what their items are called."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DEEPEST = 2
"""Nests within the arguments of a function that are looked at."""


def is_nest(value: object) -> bool:
    """Whether `value` is a tuple, list, dict or dataclass."""
    return isinstance(value, tuple | list | dict) or (dataclasses.is_dataclass(value) and not isinstance(value, type))


def items(value: object, name: str) -> Iterator[tuple[str, object]]:
    """Yield the items of a nest with their names: `out["logits"]`, `out[0]`, `out.loss`; nothing for other values.

    Keys that are neither text nor whole numbers are left out, since they cannot be written so that it is the same text
    in every run.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from _fields(value, name, [field.name for field in dataclasses.fields(value)])
    elif isinstance(value, dict):
        for key, item in list(value.items()):
            if type(key) in {str, int}:
                yield f"{name}[{json.dumps(key, ensure_ascii=False)}]", item
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        yield from _fields(value, name, cast("tuple[str, ...]", value._fields))
    elif isinstance(value, tuple | list):
        for at, item in enumerate(value):
            yield f"{name}[{at}]", item


def _fields(value: object, name: str, fields: Iterable[str]) -> Iterator[tuple[str, object]]:
    missing = object()
    for field in fields:
        item: object = getattr(value, field, missing)
        if item is not missing:
            yield f"{name}.{field}", item


def flat(values: Iterable[object]) -> Iterator[object]:
    """Yield what is in the arguments of a function, and in tuples, lists and dicts among them."""
    waiting = [(value, 0) for value in values]
    waiting.reverse()
    while waiting:
        value, depth = waiting.pop()
        if depth <= _DEEPEST and isinstance(value, tuple | list | dict):
            inner = value.values() if isinstance(value, dict) else value
            waiting.extend((item, depth + 1) for item in reversed(list(inner)))
        else:
            yield value
