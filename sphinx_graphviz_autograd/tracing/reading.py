"""What one node says of itself, read so that no code of the author's runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import torch

from sphinx_graphviz_autograd.model import TensorMeta

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch.autograd.graph import Node

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a word of an operation begins in PyTorch's name of its function: `LogSoftmax`, `NllLoss2D`."""

_SUFFIX = re.compile(r"Backward(s?|\d+)(_copy)?$")


@cache
def dtype_name(dtype: torch.dtype) -> str:
    """Return the name of a type without the prefix `torch.`."""
    return str(dtype).removeprefix("torch.")


@cache
def device_name(device: torch.device) -> str:
    """Return the name of a device, as `cpu` or `cuda:0`."""
    return str(device)


def sizes(shape: Iterable[object]) -> tuple[int | str, ...]:
    """Return a shape as plain data: symbolic sizes become their text."""
    return tuple(size if type(size) is int else str(size) for size in shape)


def tensor_meta(tensor: torch.Tensor) -> TensorMeta:
    """Return what a tensor is like, without looking at its values."""
    is_nested = tensor.is_nested
    shape = None if is_nested and tensor.layout == torch.strided else sizes(tensor.shape)
    layout = "nested" if is_nested else str(tensor.layout).removeprefix("torch.")
    kind = type(tensor)
    subclass = "" if kind in {torch.Tensor, torch.nn.Parameter} else kind.__name__
    return TensorMeta(shape, dtype_name(tensor.dtype), device_name(tensor.device), layout, subclass)


def operation(name: str) -> str:
    """Return the operation whose backward function has this name: `log_softmax` for `LogSoftmaxBackward0`."""
    return _WORD.sub("_", _SUFFIX.sub("", name)).lower()


@dataclass(frozen=True, slots=True)
class Kind:
    """What all nodes of one type have in common."""

    name: str
    """The name that PyTorch gives the function."""
    forward: str
    """The operation that makes it."""


class Reader:
    """Reads nodes; remembers what all nodes of one type have in common, and equal descriptions of tensors."""

    def __init__(self) -> None:
        self._kinds: dict[type, Kind] = {}
        self._metas: dict[tuple[tuple[int | str, ...] | None, torch.dtype, torch.device, bool], TensorMeta] = {}
        self._outputs: dict[tuple[TensorMeta, ...], tuple[TensorMeta, ...]] = {}

    def kind(self, node: Node) -> Kind:
        """Return what kind of function a node is."""
        kind = self._kinds.get(type(node))
        if kind is None:
            name = node.name().removeprefix("torch::autograd::")
            kind = self._kinds[type(node)] = Kind(name, operation(name))
        return kind

    def outputs(self, node: Node) -> tuple[TensorMeta, ...]:
        """Return what the tensors that an operation made are like."""
        metas = []
        for made in node._input_metadata:  # noqa: SLF001 -- nothing public tells it once the tensors are gone
            shape = None if made.is_cpp_nested_tensor else tuple(made.shape)
            key = (shape, made.dtype, made.device, made.is_nested_tensor)
            meta = self._metas.get(key)
            if meta is None:
                plain = None if shape is None else sizes(shape)
                layout = "nested" if made.is_nested_tensor or shape is None else "strided"
                meta = TensorMeta(plain, dtype_name(made.dtype), device_name(made.device), layout)
                self._metas[key] = meta
            metas.append(meta)
        outputs = tuple(metas)
        return self._outputs.setdefault(outputs, outputs)
