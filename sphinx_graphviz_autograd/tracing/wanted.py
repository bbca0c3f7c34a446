"""The tensors that the author asked for, and why some of them have no graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.autograd.graph import Node, get_gradient_edge

from sphinx_graphviz_autograd.tracing.nests import is_a, is_nest, items
from sphinx_graphviz_autograd.tracing.reading import tensor_meta
from sphinx_graphviz_autograd.tracing.refusals import refusal_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sphinx_graphviz_autograd.model import TensorMeta
    from sphinx_graphviz_autograd.refusal import Refusal
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


def wanted_of(
    values: Mapping[str, object], namespace: Mapping[str, object], recorder: Recorder | None
) -> tuple[list[Wanted], list[Refusal]]:
    """Return the tensors with a graph in `values`, and a refusal for each value that has none at all."""
    wanted: list[Wanted] = []
    refusals: list[Refusal] = []
    for expression, value in values.items():
        found = list(_tensors(expression, value))
        graphs = [graph for name, tensor in found if isinstance(graph := _wanted(name, tensor), Wanted)]
        wanted.extend(graphs)
        if not graphs:
            refusals.append(refusal_of(expression, value, found, namespace, recorder))
    return wanted, refusals


def _tensors(expression: str, value: object) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors in a value with their names."""
    waiting: list[tuple[str, object]] = [(expression, value)]
    seen: set[int] = set()
    while waiting:
        name, held = waiting.pop()
        if is_a(held, torch.Tensor):
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
