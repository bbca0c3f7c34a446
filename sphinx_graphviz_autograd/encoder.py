"""The writing half of the codec: each annotation is turned once into a function that writes what it describes."""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Callable, Hashable
from functools import cache
from json.encoder import encode_basestring
from operator import attrgetter
from typing import Final, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

Write: TypeAlias = Callable[[object], str]
"""Returns the JSON text of a value."""

UNIONS: Final = (Union, types.UnionType)
"""The origins of unions."""

_ROWS: Final = "rows"

_UNLIKE_ALL: Final = (None, dataclasses.MISSING)
"""Defaults to which nothing else is equal, so that nothing need be compared with them."""


def rows() -> dict[str, bool]:
    """Return field metadata that has a tuple or mapping written one item a line."""
    return {_ROWS: True}


@cache
def writer(hint: Hashable, *, in_rows: bool = False, tagged: bool = False) -> Write:
    """Return what writes a value of an annotation; over several lines if it is an object with rows and `in_rows`."""
    origin = get_origin(hint)
    if origin in UNIONS:
        return _union_writer(hint, in_rows=in_rows)
    if origin is tuple:
        return _tuple_writer(get_args(hint))
    if origin is dict:
        return _dict_writer(writer(get_args(hint)[1]), ("{", ", ", "}"))
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        if in_rows and _has_rows(hint):
            return _rows_writer(hint, tagged=tagged)
        return _object_writer(hint, tagged=tagged)
    return _PLAIN_WRITERS.get(hint, _write_any)


def _write_any(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


_PLAIN_WRITERS = cast(
    "dict[object, Write]", {str: encode_basestring, int: int.__repr__, bool: {False: "false", True: "true"}.get}
)
"""The quickest that there is for each."""


def _union_writer(hint: Hashable, *, in_rows: bool) -> Write:
    """Return what writes a value by its class; the members are to differ in that."""
    members = get_args(hint)
    tagged = sum(map(dataclasses.is_dataclass, members)) > 1
    writers = {get_origin(member) or member: writer(member, in_rows=in_rows, tagged=tagged) for member in members}

    def write(value: object) -> str:
        return writers.get(type(value), _write_any)(value)

    return write


def _tuple_writer(
    hints: tuple[object, ...], marks: tuple[str, str, str] = ("[", ", ", "]"), *, in_rows: bool = False
) -> Write:
    """Return what writes a tuple, its items between these marks."""
    start, separator, end = marks
    writers = [writer(hint, in_rows=in_rows) for hint in hints if hint is not Ellipsis]
    repeated = writers[0] if hints[-1:] == (Ellipsis,) else None

    def write(value: object) -> str:
        items = cast("tuple[object, ...]", value)
        if repeated is not None:
            return start + separator.join(map(repeated, items)) + end
        return start + separator.join([writer(item) for writer, item in zip(writers, items, strict=True)]) + end

    return write


def _dict_writer(write_item: Write, marks: tuple[str, str, str]) -> Write:
    """Return what writes a mapping, its items between these marks."""
    start, separator, end = marks

    def write(value: object) -> str:
        items = sorted(cast("dict[str, object]", value).items())
        return start + separator.join([f"{encode_basestring(key)}: {write_item(item)}" for key, item in items]) + end

    return write


def _object_writer(kind: type, *, tagged: bool) -> Write:
    """Return what writes a dataclass on one line, the tag sorted among the fields."""
    fields = sorted(fields_of(kind), key=lambda pair: pair[0].name)
    get = _getter([field.name for field, _ in fields])
    plan = []
    for field, hint in fields:
        default = default_of(field)
        members = [member for member in get_args(hint) if member is not type(None)]
        if default is None and get_origin(hint) in UNIONS and len(members) == 1:
            hint = members[0]  # noqa: PLW2901  # None is never written, so it is not asked for
        plan.append((f'"{field.name}": ', default, default not in _UNLIKE_ALL, writer(hint)))
    tag = f'"type": "{kind.__name__}"'

    def write(value: object) -> str:
        parts = [
            key + write_item(item)
            for (key, default, may_equal, write_item), item in zip(plan, get(value), strict=True)
            if item is not default and not (may_equal and item == default)
        ]
        if tagged:
            parts.append(tag)
            parts.sort()
        return "{" + ", ".join(parts) + "}"

    return write


def _rows_writer(kind: type, *, tagged: bool) -> Write:
    """Return what writes a dataclass over several lines, the tag first."""
    plan = []
    for field, hint in sorted(fields_of(kind), key=lambda pair: pair[0].name):
        is_rows = bool(field.metadata.get(_ROWS))
        plan.append((field.name, default_of(field), _row_writer(hint) if is_rows else writer(hint, in_rows=True)))
    start = [f'"type": "{kind.__name__}"'] if tagged else []

    def write(value: object) -> str:
        lines = start.copy()
        for name, default, write_item in plan:
            item = getattr(value, name)
            if item != default:
                lines.append(f'"{name}": {write_item(item)}')
        return "{\n" + ",\n".join(lines) + "\n}"

    return write


def _row_writer(hint: Hashable) -> Write:
    """Return what writes a tuple or mapping one item a line."""
    arguments = get_args(hint)
    if get_origin(hint) is dict:
        return _dict_writer(writer(arguments[1], in_rows=True), ("{\n", ",\n", "\n}"))
    return _tuple_writer(arguments, ("[\n", ",\n", "\n]"), in_rows=True)


@cache
def fields_of(kind: type) -> tuple[tuple[dataclasses.Field[object], object], ...]:
    """Return the fields of a dataclass, each with its annotation."""
    hints = get_type_hints(kind)
    return tuple((field, hints[field.name]) for field in dataclasses.fields(kind))


@cache
def _has_rows(kind: type) -> bool:
    """Whether a class has rows, or a field whose class has."""
    for field, hint in fields_of(kind):
        members = get_args(hint) if get_origin(hint) in UNIONS else (hint,)
        if field.metadata.get(_ROWS):
            return True
        if any(isinstance(one, type) and dataclasses.is_dataclass(one) and _has_rows(one) for one in members):
            return True
    return False


def _getter(names: list[str]) -> Callable[[object], tuple[object, ...]]:
    """Return what gets these attributes; `attrgetter` gives no tuple for a single one."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def default_of(field: dataclasses.Field[object]) -> object:
    """Return the default of a field; `MISSING` if it has none."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default
