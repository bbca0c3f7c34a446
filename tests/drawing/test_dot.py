"""DOT text: what is written for each node and edge, and that no label can break it."""

from __future__ import annotations

import pytest

from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.passes import View, apply
from sphinx_graphviz_autograd.model import Edge, Graph
from tests.drawing.graphs import function, loss, place, prediction


def test_prediction_has_a_statement_for_each_node_and_edge() -> None:
    """Ids in the picture are those of the graph, edges are named after their ends, classes after their kinds."""
    view = View()

    text = to_dot(apply(prediction(), view), view, place)

    assert '\nn4 [id="n4" class="autograd-graph-leaf" label=<<B>w</B><BR/>' in text
    assert '\nn3 -> n1 [id="n3-n1" class="autograd-graph-edge autograd-graph-gradient" weight=4]' in text
    assert "<B>yhat</B>&nbsp; AddBackward0" in text


def test_view_says_what_stands_in_the_boxes() -> None:
    """Shapes, lines and names are only there if they are to be shown."""
    bare = View(show=frozenset())

    text = to_dot(apply(loss(), bare), bare, place)

    assert "(80, 1)" not in text
    assert "line" not in text
    assert "yhat" not in text
    assert "x_train" not in text


def test_parallel_edges_have_ids_of_their_own() -> None:
    """`h + h` has two arrows from `h`, and no id occurs twice."""
    graph = Graph((function("n1", "add"), function("n3", "exp")), (Edge("n3", "n1"), Edge("n3", "n1", slot=1)))

    text = to_dot(graph, View(), place)

    assert 'id="n3-n1"' in text
    assert 'id="n3-n1-2"' in text


@pytest.mark.parametrize("direction", ["TB", "BT", "LR", "RL"])
def test_direction_is_that_of_the_view(direction: str) -> None:
    """The view's direction is Graphviz's `rankdir`."""
    view = View(direction=direction)  # type: ignore[arg-type]  # a parameter of pytest is a str
    assert f"rankdir={direction} " in to_dot(prediction(), view, place)
