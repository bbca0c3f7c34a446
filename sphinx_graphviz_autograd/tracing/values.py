"""Values as text: what a function keeps beside its tensors, the same in every run and without code of the author's."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, cast

import torch

from sphinx_graphviz_autograd.tracing.nests import is_a, members

if TYPE_CHECKING:
    from collections.abc import Iterable

_DEEPEST = 4
"""Nests within nests that are written out."""

_MOST_ITEMS = 100
"""Items of a nest that are written out."""

_NAMED = (type, FunctionType, BuiltinFunctionType, MethodType)
"""What is written as its name."""

_MEANINGS: dict[str, tuple[str, ...]] = {
    "reduction": ("'none'", "'mean'", "'sum'"),
    "interpolation_mode": ("'bilinear'", "'nearest'", "'bicubic'"),
    "padding_mode": ("'zeros'", "'border'", "'reflection'"),
    "memory_format": (
        "torch.contiguous_format",
        "torch.preserve_format",
        "torch.channels_last",
        "torch.channels_last_3d",
    ),
}
"""What PyTorch's numbers for these attributes mean (`enum` in `aten/src/ATen/core/Reduction.h` and the like)."""


def signed(value: int) -> int:
    """Return a whole number as it was before PyTorch read it as unsigned: `dim=-1` comes back as 2**64 - 1."""
    return value - 2**64 if value >= 2**63 else value


def attribute_text(name: str, value: object) -> str:
    """Return the text of an attribute of one of PyTorch's own functions."""
    if type(value) is int:
        number = signed(value)
        meanings = _MEANINGS.get(name, ())
        return meanings[number] if 0 <= number < len(meanings) else str(number)
    if type(value) is tuple and all(type(item) is int for item in value):
        return str(tuple(signed(item) for item in value))
    return value_text(value)


def value_text(value: object, depth: int = 0) -> str:
    """Return the text of any value.

    Numbers, text and nests of them are written as Python would; a tensor as its shape; of anything else the class or
    the qualified name, since its own `repr` may hold an address or run code.
    """
    if value is None or type(value) in {bool, int, float, complex, str, bytes}:
        return repr(value)
    if isinstance(value, torch.dtype | torch.layout | torch.memory_format | torch.device):
        return repr(str(value)) if isinstance(value, torch.device) else str(value)
    if is_a(value, torch.Tensor):
        return f"tensor of shape {tuple(value.shape)}" if not value.is_nested else "nested tensor"
    if issubclass(type(value), (list, tuple, dict, set, frozenset)):
        return _nest_text(value, depth)
    if issubclass(type(value), _NAMED):
        return str(cast("type", value).__qualname__)
    return f"{type(value).__name__} object"


def _nest_text(value: object, depth: int) -> str:
    kind = type(value)
    if depth == _DEEPEST:
        return f"{kind.__name__} of {len(cast('list[object]', value))}"
    if is_a(value, dict):
        inner = _items(
            f"{value_text(key, depth + 1)}: {value_text(item, depth + 1)}" for key, item in dict.items(value)
        )
        return f"{{{inner}}}"
    if issubclass(kind, (set, frozenset)):
        texts = sorted(value_text(item, depth + 1) for item in cast("set[object]", value))
        return f"{{{_items(texts)}}}" if texts else f"{kind.__name__}()"
    texts = [value_text(item, depth + 1) for item in members(value)]
    if issubclass(kind, list):
        return f"[{_items(texts)}]"
    return f"({_items(texts)},)" if len(texts) == 1 else f"({_items(texts)})"


def _items(texts: Iterable[str]) -> str:
    whole = list(texts)
    rest = [f"... {len(whole) - _MOST_ITEMS} more"] if len(whole) > _MOST_ITEMS else []
    return ", ".join([*whole[:_MOST_ITEMS], *rest])
