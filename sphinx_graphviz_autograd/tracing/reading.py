"""What one node says of itself, read so that no code of the author's runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol, cast

import torch
from torch.autograd.function import BackwardCFunction

from sphinx_graphviz_autograd.model import Attribute, Speciality, TensorMeta
from sphinx_graphviz_autograd.tracing.values import attribute_text, value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch.autograd.graph import Node

_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[0-9])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a word of an operation begins in PyTorch's name of its function: `LogSoftmax`, `NllLoss2D`."""

_SUFFIX = re.compile(r"Backward(s?|\d+)(_copy)?$")

_NOT_BY_RULE = {
    "Deg2Rad": "deg2rad",
    "Rad2Deg": "rad2deg",
    "Im2Col": "im2col",
    "Col2Im": "col2im",
    "GridSampler2D": "grid_sampler_2d",
    "GridSampler3D": "grid_sampler_3d",
    "SpecialXlog1Py": "special_xlog1py",
    "PReluKernel": "prelu_kernel",
}
"""Operations whose words cannot be told from PyTorch's name."""

_GENERATED = re.compile(r"GeneratedBackwardFor_\w+?__(\w+)_default$")
"""What PyTorch calls the function of an operation that is registered from Python."""

_NODES_OF_CUSTOM_FUNCTIONS: dict[str, Speciality] = {
    "CheckpointFunctionBackward": "checkpoint",
    "CompiledFunctionBackward": "compiled",
    "BackwardHookFunctionBackward": "hook",
}
"""PyTorch's own functions that are written as a custom function."""

_OWN_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "checkpoint": ("run_function", "preserve_rng_state"),
    "compiled": (),
    "hook": (),
}
"""What is told of these; the rest of what they keep is theirs alone."""


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
    bare = _SUFFIX.sub("", name)
    generated = _GENERATED.match(bare)
    if generated is not None:
        return generated[1]
    return _NOT_BY_RULE.get(bare) or _WORD.sub("_", bare).lower()


def is_of_leaves(kind: type) -> bool:
    """Whether nodes of a type accumulate gradients of leaves; by its name, as custom functions have any attribute."""
    return kind.__name__ == "AccumulateGrad"


def variable(node: Node) -> torch.Tensor:
    """Return the leaf whose gradient an AccumulateGrad node accumulates."""
    return cast("torch.Tensor", getattr(node, "variable"))  # noqa: B009 -- the type of nodes does not declare it


def read(node: Node, name: str) -> object:
    """Return an attribute of a node, which has more than its type declares."""
    return cast("object", getattr(node, name))


class _InputMetadata(Protocol):
    """What a node tells of a tensor that it made (`torch._C._autograd._InputMetadata`, which has no stub)."""

    shape: Iterable[int]
    dtype: torch.dtype
    device: torch.device
    is_nested_tensor: bool
    is_cpp_nested_tensor: bool


_INPUT_METADATA: Callable[[Node], list[_InputMetadata]] = attrgetter("_input_metadata")
"""Read what a node tells of the tensors that it made; nothing public tells it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What all nodes of one type have in common."""

    name: str
    """The name that PyTorch gives the function."""
    forward: str
    """The operation that makes it."""
    speciality: Speciality
    """What is special about it."""
    plain: tuple[str, ...]
    """Names of the plain values it keeps, as PyTorch spells them: `_saved_dim`."""
    value: Callable[[Node], object] | None
    """Reads the plain value, if it is a single one."""
    values: Callable[[Node], tuple[object, ...]] | None
    """Reads the plain values, if they are several."""
    tensors: tuple[str, ...]
    """Names of the tensors it keeps: `_saved_self`."""
    is_custom: bool
    """Whether it is a custom function, which keeps what it likes."""
    keeps_tensors: bool
    """Whether it can keep tensors at all."""


class Reader:
    """Reads nodes; remembers what all nodes of one type have in common, and equal descriptions."""

    def __init__(self) -> None:
        self._kinds: dict[type, Kind] = {}
        self._metas: dict[tuple[tuple[int, ...], torch.dtype, torch.device], tuple[TensorMeta]] = {}
        self._tensors: dict[tuple[object, ...], TensorMeta] = {}
        self._several: dict[tuple[int, ...], tuple[TensorMeta, ...]] = {}
        self._attributes: dict[tuple[object, ...], tuple[Attribute, ...]] = {}

    def kind(self, node: Node) -> Kind:
        """Return what kind of function a node is."""
        kind = self._kinds.get(type(node))
        if kind is None:
            kind = _kind(node)
            if kind.speciality != "unknown":  # functions that PyTorch does not show to Python share one type
                self._kinds[type(node)] = kind
        return kind

    def outputs(self, nodes: Iterable[Node]) -> list[tuple[TensorMeta, ...]]:
        """Return for each operation what the tensors that it made are like."""
        known = self._metas.get
        found: list[tuple[TensorMeta, ...]] = []
        for made in map(_INPUT_METADATA, nodes):
            if len(made) != 1:
                found.append(self._several_outputs(made))
                continue
            one = made[0]
            try:
                metas = known((tuple(one.shape), one.dtype, one.device))
            except (TypeError, RuntimeError):  # symbolic sizes, or no shape at all
                metas = None
            found.append(metas or self._output(one))
        return found

    def _several_outputs(self, made: Iterable[_InputMetadata]) -> tuple[TensorMeta, ...]:
        metas = tuple([self._output(one)[0] for one in made])
        return self._several.setdefault(tuple(map(id, metas)), metas)  # each description is there once

    def _output(self, made: _InputMetadata) -> tuple[TensorMeta]:
        """Return what a tensor is like, as the tuple that stands for an operation which made it alone."""
        try:
            key = (tuple(made.shape), made.dtype, made.device)
            known = self._metas.get(key)
        except (TypeError, RuntimeError):  # as in `outputs`, which does the same without a call
            return (_output_meta(made),)
        if known is None:
            known = self._metas[key] = (_output_meta(made),)
        return known

    def meta(self, tensor: torch.Tensor) -> TensorMeta:
        """Return what a tensor is like; equal descriptions are one object."""
        try:
            key = (tensor.shape, tensor.dtype, tensor.device, tensor.layout, type(tensor))
            known = self._tensors.get(key)
        except (TypeError, RuntimeError):  # symbolic sizes, or no shape at all
            return tensor_meta(tensor)
        if known is None:
            known = self._tensors[key] = tensor_meta(tensor)
        return known

    def attributes(self, node: Node, kind: Kind) -> tuple[Attribute, ...]:
        """Return what a function keeps that is no tensor."""
        if kind.is_custom:
            return _custom_attributes(node, kind)
        key: tuple[object, ...]
        if kind.value is not None:
            value = kind.value(node)
            key = (kind.name, value, type(value))  # 1, 1.0 and True are equal, but not the same text
        elif kind.values is not None:
            values = kind.values(node)
            key = (kind.name, values, *map(type, values))
        else:
            return ()
        known = self._attributes.get(key)
        if known is None:
            known = self._attributes[key] = _attributes(node, kind)
        return known


def _output_meta(made: _InputMetadata) -> TensorMeta:
    shape = None if made.is_cpp_nested_tensor else sizes(made.shape)
    layout = "nested" if made.is_nested_tensor or shape is None else "strided"
    return TensorMeta(shape, dtype_name(made.dtype), device_name(made.device), layout)


def _attributes(node: Node, kind: Kind) -> tuple[Attribute, ...]:
    values = [(name.removeprefix("_saved_"), read(node, name)) for name in kind.plain]
    return tuple(
        Attribute(name, attribute_text(name, value))
        for name, value in values
        if not (name.endswith("_sym_strides") and value == ())  # not needed for this gradient, so not kept
    )


def _kind(node: Node) -> Kind:
    name = node.name().removeprefix("torch::autograd::")
    is_custom = isinstance(node, BackwardCFunction)
    saved = [] if is_custom else [key for key in dir(type(node)) if key.startswith("_saved_")]
    tensors = tuple(key for key in saved if hasattr(type(node), f"_raw{key}"))
    plain = tuple(key for key in saved if key not in tensors)
    return Kind(
        name,
        _SUFFIX.sub("", name) if is_custom else operation(name),
        _speciality(node, name, is_custom=is_custom),
        plain,
        attrgetter(*plain) if len(plain) == 1 else None,
        attrgetter(*plain) if len(plain) > 1 else None,
        tensors,
        is_custom,
        is_custom or bool(tensors),
    )


def _speciality(node: Node, name: str, *, is_custom: bool) -> Speciality:
    if is_custom:
        module = str(getattr(read(node, "_forward_cls"), "__module__", ""))
        return _NODES_OF_CUSTOM_FUNCTIONS.get(name, "custom") if module.startswith("torch.") else "custom"
    if name == "CopySlices":
        return "in-place"
    return "unknown" if type(node).__name__ == "CppFunction" else ""


def _custom_attributes(node: Node, kind: Kind) -> tuple[Attribute, ...]:
    """Return what the author's `forward` put on its `ctx`."""
    kept = cast("dict[str, object]", object.__getattribute__(node, "__dict__"))
    wanted = _OWN_ATTRIBUTES.get(kind.speciality, tuple(kept))
    return tuple(Attribute(name, value_text(kept[name])) for name in wanted if name in kept)
