"""Splitting: a leaf with many uses is one described box and small references to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.passes import View, apply
from sphinx_graphviz_autograd.drawing.passes.split import split
from sphinx_graphviz_autograd.model import Edge, Graph, Leaf, Output, Reference
from tests.drawing.graphs import BATCH, ONE, function, loss, place, recurrent

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx_graphviz_autograd.model import Node


def references(graph: Graph) -> list[Reference]:
    """Return the references of a graph."""
    return [node for node in graph.nodes if isinstance(node, Reference)]


def test_leaf_that_is_used_twice_stays_one_box() -> None:
    """`w` in two products is one box with two arrows: it teaches sharing."""
    graph = split(loss(), "auto")

    assert references(graph) == []
    assert [edge.target for edge in graph.edges if edge.source == "n8"] == ["n7", "n12"]


def test_five_uses_are_drawn_apart() -> None:
    """From five uses on each has a box of its own, in full at the first in time, and small at the others."""
    graph = split(recurrent(5), "auto")

    assert len(references(graph)) == 3 * 4
    assert [edge.target for edge in graph.edges if edge.source == "w1"] == ["m0"]
    assert {node.leaf for node in references(graph)} == {"w0", "w1", "w2"}


def test_author_can_ask_for_either() -> None:
    """`split` takes two uses apart, `merge` leaves any number together."""
    assert len(references(split(loss(), "split"))) == 1
    assert split(recurrent(50), "merge") == recurrent(50)


def test_two_arrows_into_one_function_are_one_use() -> None:
    """In `w * w` both arrows come from the same box."""
    nodes = (Output("n0", "y", BATCH), function("n1", "mul"), Leaf("n2", ONE, ("w",)))
    graph = Graph(nodes, (Edge("n1", "n0", "output"), Edge("n2", "n1"), Edge("n2", "n1", slot=1)))

    assert split(graph, "split") == graph


def test_function_that_only_a_leaf_leads_to_is_split_with_it() -> None:
    """A cast of a weight that is made once and used in every step is as much a hub as the weight."""
    steps = [function(f"m{at}", "mm", sequence=at + 2) for at in range(6)]
    nodes: tuple[Node, ...] = (
        Output("n0", "y", BATCH),
        *reversed(steps),
        function("c", "to_copy", sequence=1),
        function("t", "t", sequence=0),
        Leaf("w", ONE, ("w",)),
    )
    edges = [Edge("m5", "n0", "output"), Edge("t", "c"), Edge("w", "t")]
    for at in range(6):
        edges += [Edge("c", f"m{at}", slot=1), *([Edge(f"m{at - 1}", f"m{at}")] if at else [])]

    graph = split(Graph(nodes, tuple(edges)), "auto")

    assert [(node.target, node.leaf) for node in references(graph)] == [("c", "w")] * 5
    assert [edge.target for edge in graph.edges if edge.source == "c"] == ["m0"]
    assert "ToCopyBackward0 of w" in to_dot(graph, View(), place)


def test_uses_that_were_folded_count() -> None:
    """A weight of fifty steps is split also where most of the steps are one box."""
    graph = apply(recurrent(50), View())

    assert len(references(graph)) == 3 * 2


def test_split_graph_as_dot(golden: Callable[[str, str], None]) -> None:
    """The drawing of six steps with shared weights."""
    golden("split.dot", to_dot(apply(recurrent(6), View()), View(), place))
