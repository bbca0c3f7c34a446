"""Nests of values: tuples, lists, dicts and dataclasses, and what their items are called."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator


def is_nest(value: object) -> bool:
    """Whether `value` is a tuple, list, dict or dataclass."""
    return isinstance(value, tuple | list | dict) or (dataclasses.is_dataclass(value) and not isinstance(value, type))


def items(value: object, name: str) -> Iterator[tuple[str, object]]:
    """Yield the items of a nest with their names: `out["logits"]`, `out[0]`, `out.loss`; nothing for other values.

    Keys that are neither text nor whole numbers are left out, since they cannot be written so that it is the same text
    in every run.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            if hasattr(value, field.name):
                yield f"{name}.{field.name}", cast("object", getattr(value, field.name))
    elif isinstance(value, dict):
        for key, item in list(value.items()):
            if type(key) in {str, int}:
                yield f"{name}[{json.dumps(key, ensure_ascii=False)}]", item
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for field_name, item in zip(cast("tuple[str, ...]", value._fields), value, strict=False):
            yield f"{name}.{field_name}", item
    elif isinstance(value, tuple | list):
        for at, item in enumerate(value):
            yield f"{name}[{at}]", item
