"""All passes together, on graphs made at random: whatever a view leaves out, nothing is lost without a word."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from sphinx_graphviz_autograd.drawing.passes import DEFAULT_SHOW, View, apply
from sphinx_graphviz_autograd.drawing.passes.contract import counted
from sphinx_graphviz_autograd.drawing.passes.hide import hide
from sphinx_graphviz_autograd.model import Graph, Group, Reference
from tests.drawing.graphs import blocks, loss, recurrent, scattered

EVERYTHING = DEFAULT_SHOW | {"saved", "data"}
VIEWS = [
    replace(view, show=show, max_nodes=most, depth=depth)
    for view, show, most, depth in product((View(), View(fold="off")), (DEFAULT_SHOW, EVERYTHING), (200, 30), (None, 1))
]
NAMES = [replace(view, view="names") for view in VIEWS]
GRAPHS = [*(scattered(seed) for seed in range(24)), recurrent(12), blocks(8), loss()]


def reached(graph: Graph) -> dict[str, set[str]]:
    """Return for each node those that it leads to; a reference counts as the node that it stands for."""
    alias = {node.id: node.target for node in graph.nodes if isinstance(node, Reference)}
    feeds: dict[str, set[str]] = {}
    for edge in graph.edges:
        feeds.setdefault(alias.get(edge.source, edge.source), set()).add(alias.get(edge.target, edge.target))
    found: dict[str, set[str]] = {}
    for node in graph.nodes:
        seen: set[str] = set()
        waiting = [node.id]
        while waiting:
            for target in feeds.get(waiting.pop(), set()) - seen:
                seen.add(target)
                waiting.append(target)
        found[node.id] = seen
    return found


@pytest.mark.parametrize("number", range(len(GRAPHS)))
def test_every_node_is_drawn_or_counted_in_a_box(number: int) -> None:
    """Boxes for single nodes, and the counts in the boxes for several, add up to what is shown of the graph."""
    graph = GRAPHS[number]
    for view in VIEWS:
        shown = hide(graph, view.show)

        drawn = apply(graph, view)

        assert counted(drawn.nodes) == len(shown.nodes)


@pytest.mark.parametrize("number", range(len(GRAPHS)))
def test_what_was_connected_stays_connected(number: int) -> None:
    """If one node led to another in the graph, it does in the drawing, if both are drawn."""
    graph = GRAPHS[number]
    for view in VIEWS + NAMES:
        before = reached(hide(graph, view.show))

        after = reached(apply(graph, view))

        for node in after.keys() & before.keys():
            assert before[node] & after.keys() <= after[node]


@pytest.mark.parametrize("number", range(len(GRAPHS)))
def test_drawing_is_sound(number: int) -> None:
    """No id occurs twice, every arrow has two ends, no box stands alone that did not before, and no limit is passed."""
    graph = GRAPHS[number]
    for view in VIEWS + NAMES:
        drawn = apply(graph, view)

        ids = [node.id for node in drawn.nodes]
        assert len(ids) == len(set(ids))
        ends = {end for edge in drawn.edges for end in (edge.source, edge.target)}
        assert ends <= set(ids)
        # some functions of these graphs lead nowhere, and nothing leads over them
        assert ends == set(ids) or view.view == "names"
        assert len(ids) <= view.max_nodes
        assert all(node.target in ids for node in drawn.nodes if isinstance(node, Reference))


def test_passes_give_the_same_every_time() -> None:
    """Applied again, the same view gives an equal graph."""
    for graph, view in product(GRAPHS[:10], VIEWS):
        assert apply(graph, view) == apply(graph, view)


def test_small_graph_is_drawn_step_by_step() -> None:
    """Up to a page's worth of boxes, a repetition is not folded: it is what a beginner wants to see."""
    drawn = apply(recurrent(5), View())

    assert not any(isinstance(node, Group) for node in drawn.nodes)


def test_large_model_is_drawn_with_its_modules_collapsed_unasked() -> None:
    """A model with more boxes than can be taken in is drawn coarsely enough: here its blocks, and those folded."""
    drawn = apply(blocks(60), View(fold="off", max_nodes=200))

    assert len(drawn.nodes) <= 100
    assert {node.kind for node in drawn.nodes if isinstance(node, Group)} == {"module"}
