"""Hiding: what is not shown goes, and plumbing is bridged."""

from __future__ import annotations

from dataclasses import replace

from sphinx_graphviz_autograd.drawing.passes.hide import hide, hide_plumbing
from sphinx_graphviz_autograd.drawing.passes.view import DEFAULT_SHOW
from sphinx_graphviz_autograd.model import Data, GradFn, SavedTensor
from tests.drawing.graphs import chain, loss


def kinds(*graphs: object) -> set[type]:
    """Return the classes of the nodes of graphs."""
    return {type(node) for graph in graphs for node in graph.nodes}  # type: ignore[attr-defined]  # graphs


def test_saved_tensors_and_data_are_shown_on_request_only() -> None:
    """Without the word, the nodes of a kind are gone, and their arrows with them."""
    bare = hide(loss(), DEFAULT_SHOW)

    assert not kinds(bare) & {SavedTensor, Data}
    assert {edge.kind for edge in bare.edges} == {"gradient", "output"}
    assert hide(loss(), DEFAULT_SHOW | {"saved", "data"}) == loss()


def test_plumbing_is_bridged_and_counted() -> None:
    """An arrow leads over functions that only rearrange a tensor, and tells how many."""
    graph = hide_plumbing(chain("exp", "t", "view", "sum"))

    assert [node.id for node in graph.nodes] == ["n0", "f3", "f0", "x"]
    assert [(edge.source, edge.target, edge.hidden) for edge in graph.edges] == [
        ("f3", "n0", 0),
        ("f0", "f3", 2),
        ("x", "f0", 0),
    ]


def test_plumbing_between_leaf_and_output_leaves_an_arrow() -> None:
    """If everything is plumbing, the leaf leads to the output."""
    graph = hide_plumbing(chain("t", "view"))

    assert [(edge.source, edge.target, edge.kind, edge.hidden) for edge in graph.edges] == [("x", "n0", "output", 2)]


def test_plumbing_with_a_name_stays() -> None:
    """What the author gave a name to is not hidden."""
    graph = chain("exp", "t", "sum")
    named = replace(
        graph,
        nodes=tuple(
            replace(node, names=(("flat",),)) if isinstance(node, GradFn) and node.forward == "t" else node
            for node in graph.nodes
        ),
    )

    assert hide_plumbing(named) == named


def test_a_very_long_line_of_plumbing_is_bridged() -> None:
    """The depth of the graph does not matter, and neither does how often it is entered."""
    graph = hide_plumbing(chain(*["view"] * 20_000))

    assert len(graph.nodes) == 2
    assert graph.edges[0].hidden == 20_000
