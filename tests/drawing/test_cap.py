"""Capping: what is too much is left out, and the figure says how much that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sphinx_graphviz_autograd.drawing import legend
from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.passes import View, apply
from sphinx_graphviz_autograd.drawing.passes.cap import cap
from sphinx_graphviz_autograd.drawing.passes.contract import counted
from sphinx_graphviz_autograd.model import Group
from tests.drawing.graphs import chain, place, recurrent

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("most", [2, 5, 30, 100])
def test_no_more_is_drawn_than_may_be(most: int) -> None:
    """The boxes are at most as many as the limit says, and every node is drawn or counted."""
    graph = recurrent(60)

    drawn = cap(graph, most)

    assert len(drawn.nodes) <= most
    assert counted(drawn.nodes) == len(graph.nodes)


def test_what_ran_last_is_drawn() -> None:
    """The end of a computation is what leads to the output."""
    drawn = cap(chain(*["exp", "sin"] * 20), 6)

    assert [node.id for node in drawn.nodes] == ["n0", "f39", "f38", "f37", "f36", "f35g"]
    (group,) = (node for node in drawn.nodes if isinstance(node, Group))
    assert (group.kind, group.nodes) == ("cap", 37)


def test_graph_within_the_limit_is_left_alone() -> None:
    """Nothing is left out of a graph that is small enough."""
    graph = recurrent(3)

    assert cap(graph, len(graph.nodes)) is graph


def test_count_stands_in_figure_and_legend(golden: Callable[[str, str], None]) -> None:
    """The box says how many nodes are not drawn, and so does the legend."""
    view = View(fold="off", max_nodes=30)
    graph = apply(recurrent(20), view)

    assert "<B>83 more nodes</B>" in to_dot(graph, view, place)
    (row,) = (row for row in legend.rows(graph, view) if row.kind == "cap")
    assert row.items == ("83 more nodes not drawn",)
    golden("cap.dot", to_dot(graph, view, place))
