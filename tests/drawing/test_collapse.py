"""Collapsing: a call of a module is one box, which says what the module is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.passes import View, apply
from sphinx_graphviz_autograd.drawing.passes.collapse import collapse
from sphinx_graphviz_autograd.model import GradFn, Graph, Group, Leaf, TensorMeta
from tests.drawing.graphs import blocks, place

if TYPE_CHECKING:
    from collections.abc import Callable


def titles(graph: Graph) -> list[str]:
    """Return the paths of the modules that are one box, in the order in which they ran."""
    return [node.title for node in reversed(graph.nodes) if isinstance(node, Group)]


def test_modules_below_the_depth_are_boxes() -> None:
    """With depth 1 the network is opened and its blocks are boxes; with 0 it is a box; with 2 their parts are."""
    assert titles(collapse(blocks(2), 0)) == ["net"]
    assert titles(collapse(blocks(2), 1)) == ["net.layers.0", "net.layers.1"]
    assert titles(collapse(blocks(2), 2)) == ["net.layers.0.linear", "net.layers.1.linear"]
    assert collapse(blocks(2), 3) == blocks(2)


def test_box_tells_shapes_and_parameters() -> None:
    """A box knows what enters and leaves the module, and how many numbers its parameters hold."""
    graph = collapse(blocks(2), 1)

    first = next(node for node in graph.nodes if isinstance(node, Group) and node.title == "net.layers.0")
    assert first.inputs == first.outputs == (TensorMeta((4, 8)),)
    assert (first.parameters, first.nodes) == (72, 6)
    assert [node.names for node in graph.nodes if isinstance(node, Leaf)] == [("x",)]


def test_single_modules_can_be_opened() -> None:
    """`expand` draws what is in a module, and opens those around it as far as it must."""
    graph = collapse(blocks(3), 0, ("net.layers.1",))

    assert titles(graph) == ["net.layers.0", "net.layers.2"]
    assert {node.id for node in graph.nodes if isinstance(node, GradFn)} == {"n1", "a1", "r1", "l1", "t1"}


def test_tensor_that_others_use_too_stays() -> None:
    """A weight shared by two modules is in neither."""
    graph = blocks(2)
    edges = tuple(edge for edge in graph.edges if edge.source != "w1")
    shared = Graph(
        tuple(node for node in graph.nodes if node.id != "w1"),
        (*edges, next(edge for edge in graph.edges if edge.source == "w1").__class__("w0", "t1")),
        graph.modules,
    )

    drawn = collapse(shared, 1)

    assert {edge.target for edge in drawn.edges if edge.source == "w0"} == {"a0g", "a1g"}


def test_equal_modules_have_equal_structure() -> None:
    """Boxes of modules can be folded if the modules are equal inside."""
    graph = collapse(blocks(3), 1)

    assert len({node.structure for node in graph.nodes if isinstance(node, Group)}) == 1


def test_collapsed_graph_as_dot(golden: Callable[[str, str], None]) -> None:
    """The drawing of a network with its blocks as boxes."""
    view = View(depth=1)
    golden("collapse.dot", to_dot(apply(blocks(3), view), view, place))
