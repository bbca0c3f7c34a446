"""The tensors that the author asked for, and why some of them have no graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.autograd.graph import Node, get_gradient_edge

from sphinx_graphviz_autograd.refusal import Refusal
from sphinx_graphviz_autograd.tracing.nests import is_nest, items
from sphinx_graphviz_autograd.tracing.reading import dtype_name, tensor_meta

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sphinx_graphviz_autograd.model import TensorMeta
    from sphinx_graphviz_autograd.tracing.record import Recorder


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """A tensor that the author asked for and that has a graph."""

    name: str
    """The expression that gave it."""
    tensor: torch.Tensor
    """The tensor."""
    node: Node
    """The node that made it."""
    output: int
    """Which output of the node it is."""
    meta: TensorMeta
    """What it is like."""


def wanted_of(values: Mapping[str, object], recorder: Recorder | None) -> tuple[list[Wanted], list[Refusal]]:
    """Return the tensors with a graph in `values`, and a refusal for each value that has none at all."""
    wanted: list[Wanted] = []
    refusals: list[Refusal] = []
    for expression, value in values.items():
        found = list(_tensors(expression, value))
        graphs = [graph for name, tensor in found if isinstance(graph := _wanted(name, tensor), Wanted)]
        wanted.extend(graphs)
        if not graphs:
            refusals.append(_refusal(expression, value, found, recorder))
    return wanted, refusals


def _tensors(expression: str, value: object) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors in a value with their names."""
    waiting: list[tuple[str, object]] = [(expression, value)]
    seen: set[int] = set()
    while waiting:
        name, held = waiting.pop()
        if isinstance(held, torch.Tensor):
            yield name, held
        elif is_nest(held) and id(held) not in seen:
            seen.add(id(held))
            waiting.extend(reversed(list(items(held, name))))


def _wanted(name: str, tensor: torch.Tensor) -> Wanted | None:
    try:
        if tensor.grad_fn is None:
            return None
    except RuntimeError:  # a stale view
        return None
    edge = get_gradient_edge(tensor)
    return Wanted(name, tensor, edge.node, edge.output_nr, tensor_meta(tensor))


def _refusal(
    expression: str, value: object, found: list[tuple[str, torch.Tensor]], recorder: Recorder | None
) -> Refusal:
    """Return why a value has no graph; for a nest, why its first tensor has none."""
    if found:
        return _tensor_refusal(*found[0], recorder)
    if value is None:
        return Refusal(expression, "none")
    if isinstance(value, torch.nn.Module):
        return Refusal(expression, "module", type(value).__name__)
    if is_nest(value):
        return Refusal(expression, "empty")
    if callable(value):
        return Refusal(expression, "function")
    return Refusal(expression, "other", type(value).__name__)


def _tensor_refusal(name: str, tensor: torch.Tensor, recorder: Recorder | None) -> Refusal:
    try:
        if tensor.requires_grad and tensor.grad_fn is None:
            return Refusal(name, "leaf")
    except RuntimeError:
        return Refusal(name, "stale_view")
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return Refusal(name, "integer", dtype_name(tensor.dtype))
    if tensor.is_inference():
        return Refusal(name, "inference_mode")
    return Refusal(name, "no_grad_input")
