"""Columns and frames: how boxes are put together on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing.columns import columns
from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.frames import Frame, frames
from sphinx_graphviz_autograd.drawing.passes import View
from tests.drawing.graphs import blocks, chain, loss, place

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.model import Graph


def sizes(graph: Graph, width: float = 150, height: float = 40) -> dict[str, tuple[float, float]]:
    """Return the same size for each box."""
    return {node.id: (width, height) for node in graph.nodes}


def test_long_graph_is_wrapped() -> None:
    """Thirty-odd boxes below each other become columns that follow each other and hold every box once."""
    graph = chain(*["exp", "sin", "cos"] * 12)

    wrapped = columns(graph, sizes(graph))

    assert len(wrapped) == 3
    assert sorted(node for column in wrapped for node in column) == sorted(sizes(graph))
    assert "x" in wrapped[0]
    assert "n0" in wrapped[-1]
    assert min(map(len, wrapped)) >= 10
    for edge in graph.edges:
        source, target = (
            next(at for at, column in enumerate(wrapped) if end in column) for end in (edge.source, edge.target)
        )
        assert target - source in {0, 1}


def test_figure_that_fits_on_a_page_is_not_wrapped() -> None:
    """Neither is one that is too wide for two columns."""
    assert columns(loss(), sizes(loss())) == ()
    graph = chain(*["exp"] * 40)
    assert columns(graph, sizes(graph, width=500)) == ()


def test_author_who_gives_a_direction_gets_it() -> None:
    """With a direction nothing is wrapped; without, the last column ends below."""
    graph = chain(*["exp", "sin"] * 20)

    assert "cluster_column_1" in to_dot(graph, View(), place)
    assert "cluster" not in to_dot(graph, View(direction="TB"), place)


def test_frames_are_nested_as_the_modules_are() -> None:
    """The network holds its blocks, a block its parts, and each its own operations and parameters."""
    free, (net,) = frames(blocks(2))

    assert free == ["n0", "n1", "x"]
    assert (net.title, net.nodes) == ("net Net", [])
    second, first = net.frames
    assert (first.title, first.nodes) == ("net.layers.0 Block", ["a0", "r0"])
    assert second.frames == [Frame(4, "net.layers.1.linear Linear", ["l1", "b1", "t1", "w1"])]


def test_no_box_is_in_two_frames() -> None:
    """Graphviz could not lay them out."""
    text = to_dot(blocks(3), View(show=frozenset({"modules"})), place)

    assert text.count("subgraph cluster_") == 7
    assert all(text.count(f"\n{node.id} [") == 1 for node in blocks(3).nodes)
