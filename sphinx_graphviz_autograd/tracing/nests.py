"""What values are, and what is in nests of them: tuples, lists, dicts and dataclasses.

The values are the author's. They are asked by way of their types and of Python's own methods, so that no code of the
author's runs, which might raise or lie.
"""

from __future__ import annotations

import dataclasses
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, TypeGuard, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

T = TypeVar("T")

_DEEPEST = 2
"""Nests within the arguments of a function that are looked at."""


def is_a(value: object, kind: type[T]) -> TypeGuard[T]:
    """Whether `value` really is a `kind`; `isinstance` believes what an object says of its class."""
    return issubclass(type(value), kind)


def is_nest(value: object) -> bool:
    """Whether `value` is a tuple, list, dict or dataclass."""
    return issubclass(type(value), (tuple, list, dict)) or bool(_of_class(type(value), "__dataclass_fields__"))


def items(value: object, name: str) -> Iterator[tuple[str, object]]:
    """Yield the items of a nest with their names: `out["logits"]`, `out[0]`, `out.loss`; nothing for other values.

    Keys that are neither text nor whole numbers are left out, since they cannot be written so that it is the same text
    in every run.
    """
    kind = type(value)
    if declared := _of_class(kind, "__dataclass_fields__"):
        # a stand-in, as `fields` would ask the class itself
        fields_ = dataclasses.fields(SimpleNamespace(__dataclass_fields__=declared))  # type: ignore[arg-type]
        yield from _fields(value, name, [field.name for field in fields_])
    elif is_a(value, dict):
        for key, item in list(dict.items(value)):
            if type(key) in {str, int}:
                yield f"{name}[{json.dumps(key, ensure_ascii=False)}]", item
    elif is_a(value, tuple) and isinstance(fields := _of_class(kind, "_fields"), tuple):
        yield from _fields(value, name, fields)
    else:
        for at, item in enumerate(members(value)):
            yield f"{name}[{at}]", item


def members(value: object) -> list[object]:
    """Return the items of a tuple, list or dict without their names; nothing for other values."""
    if is_a(value, dict):
        return list(dict.values(value))
    if is_a(value, tuple):
        return list(tuple.__iter__(value))
    return list(list.__iter__(value)) if is_a(value, list) else []


def _of_class(kind: type, name: str) -> object:
    """Return an attribute of a class, without asking its metaclass, which may be the author's; else None."""
    try:
        return type.__getattribute__(kind, name)
    except AttributeError:
        return None


def _fields(value: object, name: str, fields: Iterable[str]) -> Iterator[tuple[str, object]]:
    for field in fields:
        try:
            item: object = object.__getattribute__(value, field)
        except AttributeError:
            continue
        yield f"{name}.{field}", item


def flat(values: Iterable[object]) -> Iterator[object]:
    """Yield what is in the arguments of a function, and in tuples, lists and dicts among them."""
    waiting = [(value, 0) for value in values]
    waiting.reverse()
    while waiting:
        value, depth = waiting.pop()
        if depth <= _DEEPEST and issubclass(type(value), (tuple, list, dict)):
            waiting.extend((item, depth + 1) for item in reversed(members(value)))
        else:
            yield value


def attributes(value: object) -> dict[str, object]:
    """Return the attributes that an object stores itself; its properties are not asked."""
    try:
        stored: object = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return stored if isinstance(stored, dict) else {}
