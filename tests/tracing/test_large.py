"""Graphs far deeper than Python's stack."""

from __future__ import annotations

import torch

from sphinx_graphviz_autograd.model import GradFn, Leaf
from sphinx_graphviz_autograd.tracing.capture import capture


def test_chain_of_a_million_operations() -> None:
    """A chain of 1,000,000 operations is captured whole."""
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(1_000_000):
        y = y + 1

    graph = capture({"y": y}, namespace={"x": x}).graph

    assert graph is not None
    assert len(graph.nodes) == 1_000_002
    assert len(graph.edges) == 1_000_001
    first, last, leaf = graph.nodes[1], graph.nodes[-2], graph.nodes[-1]
    assert isinstance(first, GradFn)
    assert isinstance(last, GradFn)
    assert (first.sequence, last.sequence) == (999_999, 0)
    assert isinstance(leaf, Leaf)
    assert leaf.names == ("x",)


def test_nest_of_views() -> None:
    """20,000 views of views are captured, with the base of the last."""
    base = torch.ones(4, requires_grad=True) * 1
    y = base
    for _ in range(10_000):
        y = y.view(2, 2).view(4)

    graph = capture({"y": y}, namespace={"base": base}).graph

    assert graph is not None
    assert len(graph.nodes) == 20_004
    (view,) = [edge for edge in graph.edges if edge.kind == "view"]
    assert graph.by_id[view.source].names == (("base",),)  # type: ignore[union-attr]  # a function


def test_function_with_many_inputs() -> None:
    """One function fed by 20,000 others has each of them in its slot."""
    x = torch.ones(1, requires_grad=True)

    graph = capture({"y": torch.cat([x * at for at in range(20_000)])}).graph

    assert graph is not None
    assert [edge.slot for edge in graph.edges if edge.target == "n1" and edge.kind == "gradient"] == list(range(20_000))
