"""Reducing to names: only what the author named is drawn, and what leads from one to the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.passes import View, apply
from sphinx_graphviz_autograd.drawing.passes.named import named
from tests.drawing.graphs import chain, loss, place

if TYPE_CHECKING:
    from collections.abc import Callable


def test_functions_without_names_are_led_over() -> None:
    """From `w` an arrow leads to `yhat` over the product, of which it says that it is there."""
    graph = named(loss())

    assert [node.id for node in graph.nodes] == [
        "n0",
        "n1",
        "n2",
        "n4",
        "n5",
        "n6",
        "n8",
        "n9",
        "n11",
        "n12",
        "n13",
    ]
    assert ("n8", "n5", "gradient", 1) in {(edge.source, edge.target, edge.kind, edge.hidden) for edge in graph.edges}
    assert ("n9", "n5", "data", 1) in {(edge.source, edge.target, edge.kind, edge.hidden) for edge in graph.edges}


def test_leaf_leads_to_output_if_nothing_is_named() -> None:
    """Without names, an arrow leads from the leaf to the output, over everything."""
    (edge,) = named(chain("exp", "sin", "cos")).edges

    assert (edge.source, edge.target, edge.kind, edge.hidden) == ("x", "n0", "output", 3)


def test_named_graph_as_dot(golden: Callable[[str, str], None]) -> None:
    """The textbook view of a loss."""
    view = View(view="names")
    golden("named.dot", to_dot(apply(loss(), view), view, place))
