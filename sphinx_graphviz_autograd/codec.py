"""Frozen dataclasses to JSON text and back, checked against their annotations.

The text is deterministic (keys sorted, defaults left out) and made to be read in a
diff: a field marked with `rows()` is written one item a line. Reading checks every value against the
annotation of its field, so that a corrupt or foreign file is a `CodecError` and never a half-right object.
Understood are `str`, `int`, `float`, `bool`, `None`, `Literal`, `tuple`, `dict[str, ...]`, dataclasses and unions
of these. In a union of dataclasses each object carries its class name under the key `type`.

Each annotation is turned once into a function that writes, and one that reads, what it describes.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Hashable
from functools import cache
from typing import Literal, TypeAlias, TypeVar, cast, get_args, get_origin

from sphinx_graphviz_autograd.encoder import UNIONS, default_of, fields_of, rows, writer

__all__ = ["CodecError", "from_json", "rows", "to_json", "to_line"]

T = TypeVar("T")

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
"""What `json` reads and writes."""

_Read: TypeAlias = Callable[[Json], object]
"""Returns the value that JSON data describes; raises `_Misfit`."""


class CodecError(ValueError):
    """Text that is not the JSON of the class asked for; says at which path and why."""

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"at `{path}`: {problem}")


class _Misfit(Exception):  # noqa: N818  # never leaves this module
    """Data that is not what its annotation describes; whoever catches it adds its part of the path in front."""

    def __init__(self, problem: str) -> None:
        self.path = ""
        self.problem = problem
        super().__init__(problem)


def to_json(value: object) -> str:
    """Return the JSON text of a dataclass instance, ending in a newline; rows stand on lines of their own."""
    return writer(cast("Hashable", type(value)), in_rows=True)(value) + "\n"


def to_line(value: object) -> str:
    """Return the JSON text of a dataclass instance on one line, ending in a newline."""
    return writer(cast("Hashable", type(value)))(value) + "\n"


def from_json(kind: type[T], text: str) -> T:
    """Return the instance of the dataclass `kind` that `text` describes.

    Raises:
        CodecError: the text is not JSON, or not the JSON of a `kind`.
    """
    try:
        data = cast("Json", json.loads(text))
        return cast("T", _reader(cast("Hashable", kind))(data))
    except _Misfit as misfit:
        raise CodecError(kind.__name__ + misfit.path, misfit.problem) from None
    except ValueError as error:
        raise CodecError("", str(error)) from error
    except RecursionError as error:
        raise CodecError("", "it is nested too deeply") from error


@cache
def _reader(hint: Hashable) -> _Read:
    """Return what reads a value of an annotation."""
    origin = get_origin(hint)
    if origin in UNIONS:
        return _union_reader(hint)
    if origin is Literal:
        return _literal_reader(get_args(hint))
    if origin is tuple:
        return _tuple_reader(hint)
    if origin is dict:
        return _dict_reader(hint)
    if not isinstance(hint, type):
        raise TypeError(f"{hint} is not understood")
    return _object_reader(hint) if dataclasses.is_dataclass(hint) else _plain_reader(hint)


def _plain_kinds(hint: Hashable) -> frozenset[type]:
    """Return the JSON types whose values are themselves what the annotation describes, with nothing to be checked."""
    members = get_args(hint) if get_origin(hint) in UNIONS else (hint,)
    return frozenset(member for member in members if member in {str, int, float, bool})


def _plain_reader(kind: type) -> _Read:
    def read(data: Json) -> object:
        if type(data) is kind:
            return data
        if kind is float and type(data) is int:
            return float(data)
        raise _unexpected(data, kind)

    return read


def _literal_reader(values: tuple[object, ...]) -> _Read:
    texts = frozenset(value for value in values if isinstance(value, str))

    def read(data: Json) -> object:
        if isinstance(data, str) and data in texts:
            return data
        if data in values and not isinstance(data, bool):
            return data
        raise _Misfit(f"{data!r} is none of {', '.join(map(repr, values))}")

    return read


def _tuple_reader(hint: Hashable) -> _Read:
    hints = get_args(hint)
    readers = [_reader(item) for item in hints if item is not Ellipsis]
    is_open = hints[-1:] == (Ellipsis,)
    plain = _plain_kinds(hints[0]) if is_open else frozenset()

    def read(data: Json) -> object:
        if not isinstance(data, list):
            raise _unexpected(data, hint)
        if plain and plain.issuperset(map(type, data)):
            return tuple(data)
        if not is_open and len(data) != len(readers):
            raise _Misfit(f"{len(readers)} items expected, found {len(data)}")
        items: list[object] = []
        add = items.append
        try:
            if is_open:
                read_item = readers[0]
                for item in data:
                    add(read_item(item))
            else:
                for read_item, item in zip(readers, data, strict=True):
                    add(read_item(item))
        except _Misfit as misfit:
            misfit.path = f"[{len(items)}]{misfit.path}"
            raise
        return tuple(items)

    return read


def _dict_reader(hint: Hashable) -> _Read:
    read_item = _reader(get_args(hint)[1])

    def read(data: Json) -> object:
        if not isinstance(data, dict):
            raise _unexpected(data, hint)
        items = {}
        for key, item in data.items():
            try:
                items[key] = read_item(item)
            except _Misfit as misfit:
                misfit.path = f".{key}{misfit.path}"
                raise
        return items

    return read


def _object_reader(kind: type) -> _Read:
    readers = {field.name: (next(iter(_plain_kinds(hint)), None), _reader(hint)) for field, hint in fields_of(kind)}
    required = [field.name for field, _ in fields_of(kind) if default_of(field) is dataclasses.MISSING]

    def read(data: Json) -> object:
        if not isinstance(data, dict):
            raise _unexpected(data, kind)
        data.pop("type", None)
        key = ""
        try:
            for key, item in data.items():
                plain, read_item = readers[key]
                if item.__class__ is not plain:
                    data[key] = cast("Json", read_item(item))  # what was parsed is not needed any more
            return kind(**data)
        except _Misfit as misfit:
            misfit.path = f".{key}{misfit.path}"
            raise
        except KeyError:
            raise _Misfit(f"`{kind.__name__}` has no field `{key}`") from None
        except TypeError:
            missing = next(name for name in required if name not in data)
            raise _Misfit(f"the field `{missing}` of `{kind.__name__}` is missing") from None

    return read


def _union_reader(hint: Hashable) -> _Read:
    """Return what reads a value by its JSON type, and objects by their tag if there can be several kinds."""
    members = [member for member in get_args(hint) if member is not type(None)]
    classes = {
        member.__name__: _reader(member)
        for member in members
        if isinstance(member, type) and dataclasses.is_dataclass(member)
    }
    others = {
        list if get_origin(member) is tuple else member: _reader(member)
        for member in members
        if not dataclasses.is_dataclass(member)
    }
    only = next(iter(classes.values())) if len(classes) == 1 else None
    or_none = len(members) < len(get_args(hint))

    def read(data: Json) -> object:
        if data is None and or_none:
            return None
        if classes and isinstance(data, dict):
            if only is not None:
                return only(data)
            name = data.pop("type", None)
            if isinstance(name, str) and name in classes:
                return classes[name](data)
            raise _Misfit(f"`type` is {name!r}, none of {', '.join(classes)}")
        read_other = others.get(type(data))
        if read_other is None:
            raise _unexpected(data, hint)
        return read_other(data)

    return read


def _unexpected(data: Json, hint: object) -> _Misfit:
    name = hint.__name__ if isinstance(hint, type) else str(hint)
    return _Misfit(f"{name} expected, found {data!r:.60}")
