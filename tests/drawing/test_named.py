"""Reducing to names: only what the author named is drawn, and what leads from one to the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.passes import View, apply
from sphinx_graphviz_autograd.drawing.passes.named import named
from sphinx_graphviz_autograd.model import Edge, GradFn, Graph, Group, Leaf, ModuleCall, Output
from tests.drawing.graphs import BATCH, blocks, chain, function, loss, place

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx_graphviz_autograd.model import Node


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


def test_modules_are_what_is_named_in_a_large_network() -> None:
    """A hundred parameters around one loss tell nothing; the modules that hold them do, and have names as well."""
    graph = blocks(40)

    drawn = apply(graph, View(view="names"))

    assert len(drawn.nodes) <= 40
    assert {node.title for node in drawn.nodes if isinstance(node, Group)} >= {"net.layers.0", "net.layers.39"}
    assert not [node for node in drawn.nodes if isinstance(node, GradFn) and not any(node.names)]


def test_depth_draws_modules_among_names() -> None:
    """If the author asks for modules as boxes, they are drawn beside what has a name."""
    drawn = apply(blocks(3), View(view="names", depth=0))

    assert [node.title for node in drawn.nodes if isinstance(node, Group)] == ["net"]


def test_tangle_is_collapsed_into_modules() -> None:
    """In a residual network each block leads on to all that follow, if the sums between them are not drawn."""
    modules = [ModuleCall("net", "Sequential")]
    nodes: list[Node] = [Leaf("x", BATCH, ("x",))]
    edges = []
    for at in range(8):
        modules.append(ModuleCall(f"net.{at}", "Residual", parent=0))
        modules.append(ModuleCall(f"net.{at}.inner", "Inner", parent=2 * at + 1))
        before, leaves = nodes[-1].id, [f"w{at}{letter}" for letter in "abc"]
        nodes += [Leaf(leaf, BATCH, (leaf,), parameter=True) for leaf in leaves]
        nodes.append(function(f"t{at}", "addcmul", sequence=2 * at, module=2 * at + 2))
        nodes.append(function(f"s{at}", "add", sequence=2 * at + 1, module=2 * at + 1))
        edges += [Edge(leaf, f"t{at}", slot=slot) for slot, leaf in enumerate(leaves)]
        edges += [Edge(before, f"t{at}", slot=3), Edge(before, f"s{at}"), Edge(f"t{at}", f"s{at}", slot=1)]
    nodes.append(Output("n0", "y", BATCH))
    edges.append(Edge("s7", "n0", "output"))

    drawn = apply(Graph(tuple(reversed(nodes)), tuple(reversed(edges)), tuple(modules)), View(view="names"))

    assert [node.title for node in drawn.nodes if isinstance(node, Group)] == [f"net.{at}" for at in reversed(range(8))]
    assert len(drawn.edges) == 9
