"""PyTorch's own database of operators: every one that has a gradient is captured, and agrees with a plain walk."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

import pytest
import torch

from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.passes import View, apply
from sphinx_graphviz_autograd.drawing.passes.view import SHOW
from sphinx_graphviz_autograd.drawing.text import tree
from sphinx_graphviz_autograd.model import GradFn, Graph, Leaf, SavedTensor
from sphinx_graphviz_autograd.tracing.capture import capture

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

EVERYTHING = View(show=frozenset(SHOW))
"""All that can be shown."""

SAMPLES = 3
"""Samples taken of each operator."""


class Sample(Protocol):
    """Arguments for an operator, as PyTorch's database has them."""

    input: object
    args: tuple[object, ...]
    kwargs: dict[str, object]


class Operator(Protocol):
    """An entry of PyTorch's database."""

    name: str
    supports_autograd: bool

    def supported_dtypes(self, device: str) -> Iterable[torch.dtype]:
        """Return the types that it works with."""

    def sample_inputs_func(
        self,
        operator: Operator,
        device: str,
        dtype: torch.dtype,
        requires_grad: bool,  # noqa: FBT001 -- PyTorch's signature
    ) -> Iterable[Sample]:
        """Yield samples; unlike `sample_inputs`, without a look at the stack for each, which takes minutes in all."""

    def __call__(self, input: object, *args: object, **kwargs: object) -> object:  # noqa: A002 -- PyTorch's name
        """Run it."""


@dataclass(frozen=True, slots=True)
class Described:
    """A node as a plain walk sees it."""

    name: str
    """PyTorch's name of its type."""
    slots: tuple[tuple[int, int] | None, ...]
    """For each slot the place of the node that feeds it, and which of its outputs; None for a slot without."""
    shapes: tuple[tuple[int, ...], ...]
    """Shapes of the tensors that it made, or of the leaf."""


def operators() -> list[Operator]:
    """Return the operators that have a gradient on the CPU."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        database = pytest.importorskip(
            "torch.testing._internal.common_methods_invocations", reason="needs expecttest, of the extra `test`"
        )
    found = cast("list[Operator]", database.op_db)
    return [item for item in found if item.supports_autograd and torch.float32 in item.supported_dtypes("cpu")]


def results() -> Iterator[tuple[str, object]]:
    """Yield what the operators give for their samples; a few samples are wrong on purpose or need other hardware."""
    for operator in operators():
        samples = operator.sample_inputs_func(operator, "cpu", torch.float32, True)  # noqa: FBT003 -- likewise
        for at, sample in enumerate(itertools.islice(samples, SAMPLES)):
            try:
                result = operator(sample.input, *sample.args, **sample.kwargs)
            except (RuntimeError, TypeError, ValueError, NotImplementedError):
                continue
            yield f"{operator.name} {at}", result


def plain_walk(roots: list[torch.Tensor]) -> list[Described]:
    """Return all nodes behind tensors, depth first in the order of slots, read with nothing of ours."""
    nodes: list[torch.autograd.graph.Node] = []
    waiting = [root.grad_fn for root in reversed(roots)]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in nodes:
            nodes.append(node)
            waiting.extend(source for source, _ in reversed(node.next_functions))
    return [
        Described(
            type(node).__name__,
            tuple(None if source is None else (nodes.index(source), at) for source, at in node.next_functions),
            tuple(tuple(made.shape) for made in node._input_metadata),
        )
        for node in nodes
    ]


def ours(graph: Graph) -> list[Described]:
    """Return the nodes of a captured graph in the same form."""
    nodes = [node for node in graph.nodes if isinstance(node, GradFn | Leaf)]
    places = {node.id: at for at, node in enumerate(nodes)}
    edges = {(edge.target, edge.slot): edge for edge in graph.edges if edge.kind == "gradient"}
    found = []
    for node in nodes:
        if isinstance(node, Leaf):
            found.append(Described("AccumulateGrad", (), (cast("tuple[int, ...]", node.meta.shape),)))
            continue
        slots = [edges.get((node.id, slot)) for slot in range(node.slots)]
        fed = tuple(None if edge is None else (places[edge.source], edge.output) for edge in slots)
        found.append(Described(node.name, fed, tuple(cast("tuple[int, ...]", made.shape) for made in node.outputs)))
    return found


def tensors(value: object) -> list[torch.Tensor]:
    """Return the tensors with a graph in nested tuples and lists, in order."""
    if isinstance(value, torch.Tensor):
        return [value] if value.grad_fn is not None else []
    if isinstance(value, Mapping):
        value = list(value.values())
    return [tensor for item in value for tensor in tensors(item)] if isinstance(value, tuple | list) else []


def test_every_operator_agrees_with_a_plain_walk() -> None:
    """Functions, slots, outputs and shapes of all operators are those of a plain walk, and all of them can be read."""
    ran, captured = 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for label, result in results():
            ran += 1
            roots = tensors(result)
            graph = capture({"y": result}).graph
            assert (graph is None) == (not roots), label
            if graph is not None:
                assert ours(graph) == plain_walk(roots), label
                assert_readable(graph, label)
                captured += 1

    assert ran >= 1500
    assert captured >= 1450


def assert_readable(graph: Graph, label: str) -> None:
    """Assert that all of a graph was read, that it can be put into words and DOT, and that it survives its JSON."""
    assert Graph.from_json(graph.to_json()) == graph, label
    drawn = apply(graph, EVERYTHING)
    assert tree(drawn, EVERYTHING, str), label
    assert to_dot(drawn, EVERYTHING, str), label
    for node in graph.nodes:
        if isinstance(node, SavedTensor):
            assert (node.state, node.meta is None) == ("alive", False), label
        if isinstance(node, GradFn):
            assert all(attribute.value and "object at 0x" not in attribute.value for attribute in node.attributes), (
                label
            )
            assert not any(attribute.value.startswith("18446744073709") for attribute in node.attributes), label
