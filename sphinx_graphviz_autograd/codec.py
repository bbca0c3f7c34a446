"""Frozen dataclasses to JSON text and back, checked against their annotations.

The text is deterministic (keys sorted, defaults left out) and made to be read in a
diff: a field marked with `rows()` is written one item a line. Reading checks every value against the
annotation of its field, so that a corrupt or foreign file is a `CodecError` and never a half-right object.
Understood are `str`, `int`, `float`, `bool`, `None`, `Literal`, `tuple`, `dict[str, ...]`, dataclasses and unions
of these. In a union of dataclasses each object carries its class name under the key `type`.
"""

from __future__ import annotations

import dataclasses
import json
import types
from functools import cache
from typing import Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
"""What `json` reads and writes."""

_ROWS = "rows"


class CodecError(ValueError):
    """Text that is not the JSON of the class asked for; says at which path and why."""

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"at `{path}`: {problem}")


def rows() -> dict[str, bool]:
    """Return field metadata that has a tuple or mapping written one item a line."""
    return {_ROWS: True}


def to_json(value: object) -> str:
    """Return the JSON text of a dataclass instance, ending in a newline."""
    return _text(value, type(value)) + "\n"


def to_line(value: object) -> str:
    """Return the JSON text of a dataclass instance on one line, ending in a newline."""
    return json.dumps(_encode(value, type(value)), ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n"


def from_json(kind: type[T], text: str) -> T:
    """Return the instance of the dataclass `kind` that `text` describes.

    Raises:
        CodecError: the text is not JSON, or not the JSON of a `kind`.
    """
    try:
        data = cast("Json", json.loads(text))
    except ValueError as error:
        raise CodecError("", str(error)) from error
    except RecursionError as error:
        raise CodecError("", "it is nested too deeply") from error
    return cast("T", _decode(data, kind, kind.__name__))


def _text(value: object, hint: object) -> str:
    """Write objects that have a field of rows over several lines, anything else on one."""
    kind: type = type(value)
    if not _has_rows(kind):
        return json.dumps(_encode(value, hint), ensure_ascii=False, sort_keys=True, allow_nan=False)
    lines = []
    if _is_tagged(hint):
        lines.append(f'"type": {json.dumps(kind.__name__)}')
    for field, field_hint in sorted(_fields(kind), key=lambda pair: pair[0].name):
        item = getattr(value, field.name)
        if item == _default(field):
            continue
        text = _rows_text(item, field_hint) if field.metadata.get(_ROWS) else _text(item, field_hint)
        lines.append(f"{json.dumps(field.name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}"


def _rows_text(value: object, hint: object) -> str:
    if isinstance(value, dict):
        item_hint = get_args(hint)[1]
        items = [f"{json.dumps(key, ensure_ascii=False)}: {_text(value[key], item_hint)}" for key in sorted(value)]
        return "{\n" + ",\n".join(items) + "\n}"
    item_hint = get_args(hint)[0]
    return "[\n" + ",\n".join(_text(item, item_hint) for item in cast("tuple[object, ...]", value)) + "\n]"


def _encode(value: object, hint: object) -> Json:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, tuple):
        return [_encode(item, item_hint) for item, item_hint in zip(value, _item_hints(hint, len(value)), strict=True)]
    if isinstance(value, dict):
        return {key: _encode(item, get_args(hint)[1]) for key, item in value.items()}
    kind: type = type(value)
    data: dict[str, Json] = {"type": kind.__name__} if _is_tagged(hint) else {}
    for field, field_hint in _fields(kind):
        item = getattr(value, field.name)
        if item != _default(field):
            data[field.name] = _encode(item, field_hint)
    return data


def _decode(data: Json, hint: object, path: str) -> object:
    origin = get_origin(hint)
    if origin in {Union, types.UnionType}:
        return _decode_union(data, hint, path)
    if origin is Literal:
        if data in get_args(hint) and not isinstance(data, bool):
            return data
        raise CodecError(path, f"{data!r} is none of {', '.join(map(repr, get_args(hint)))}")
    if origin is tuple and isinstance(data, list):
        hints = _item_hints(hint, len(data))
        if len(hints) != len(data):
            raise CodecError(path, f"{len(hints)} items expected, found {len(data)}")
        return tuple(_decode(item, hints[at], f"{path}[{at}]") for at, item in enumerate(data))
    if origin is dict and isinstance(data, dict):
        return {key: _decode(item, get_args(hint)[1], f"{path}.{key}") for key, item in data.items()}
    if isinstance(hint, type):
        return _decode_plain(data, hint, path)
    raise CodecError(path, f"{_name(hint)} expected, found {data!r:.60}")


def _decode_plain(data: Json, kind: type, path: str) -> object:
    if dataclasses.is_dataclass(kind) and isinstance(data, dict):
        return _decode_object(data, kind, path)
    if kind is float and type(data) is int:
        return float(data)
    if type(data) is kind:
        return data
    raise CodecError(path, f"{_name(kind)} expected, found {data!r:.60}")


def _decode_object(data: dict[str, Json], kind: type, path: str) -> object:
    values: dict[str, object] = {}
    known = {field.name for field, _ in _fields(kind)}
    for key in data:
        if key not in known and key != "type":
            raise CodecError(path, f"`{kind.__name__}` has no field `{key}`")
    for field, hint in _fields(kind):
        if field.name in data:
            values[field.name] = _decode(data[field.name], hint, f"{path}.{field.name}")
        elif _default(field) is dataclasses.MISSING:
            raise CodecError(path, f"the field `{field.name}` of `{kind.__name__}` is missing")
    return kind(**values)


def _decode_union(data: Json, hint: object, path: str) -> object:
    members = get_args(hint)
    if data is None and type(None) in members:
        return None
    classes = {_name(member): member for member in members if dataclasses.is_dataclass(member)}
    if isinstance(data, dict) and classes:
        if len(classes) == 1:
            return _decode(data, next(iter(classes.values())), path)
        name = data.get("type")
        if isinstance(name, str) and name in classes:
            return _decode(data, classes[name], path)
        raise CodecError(path, f"`type` is {name!r}, none of {', '.join(classes)}")
    for member in members:
        if type(data) is member or (isinstance(data, list) and get_origin(member) is tuple):
            return _decode(data, member, path)
    raise CodecError(path, f"{_name(hint)} expected, found {data!r:.60}")


@cache
def _fields(kind: type) -> tuple[tuple[dataclasses.Field[object], object], ...]:
    hints = get_type_hints(kind)
    return tuple((field, hints[field.name]) for field in dataclasses.fields(kind))


@cache
def _has_rows(kind: type) -> bool:
    return dataclasses.is_dataclass(kind) and any(field.metadata.get(_ROWS) for field, _ in _fields(kind))


def _is_tagged(hint: object) -> bool:
    """Whether objects here carry their class name: the annotation is a union of two dataclasses or more."""
    return sum(dataclasses.is_dataclass(member) for member in get_args(hint)) > 1


def _item_hints(hint: object, length: int) -> tuple[object, ...]:
    """Return one annotation an item of the tuple `hint` describes, also when it is inside `... | None`."""
    if get_origin(hint) in {Union, types.UnionType}:
        hint = next(member for member in get_args(hint) if get_origin(member) is tuple)
    arguments = get_args(hint)
    return arguments[:1] * length if arguments[-1:] == (Ellipsis,) else arguments


def _default(field: dataclasses.Field[object]) -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _name(hint: object) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)
