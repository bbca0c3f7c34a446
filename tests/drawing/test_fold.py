"""Folding: equal steps are drawn as the first, one box for the others, and the last; and only equal steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.passes import View, apply
from sphinx_graphviz_autograd.drawing.passes.fold import fold
from sphinx_graphviz_autograd.model import Attribute, Edge, GradFn, Graph, Group, Output, Place, TensorMeta
from tests.drawing.graphs import BATCH, blocks, chain, function, place, recurrent

if TYPE_CHECKING:
    from collections.abc import Callable


def groups(graph: Graph) -> list[Group]:
    """Return the groups of a graph."""
    return [node for node in graph.nodes if isinstance(node, Group)]


def changed(graph: Graph, id_: str, **fields: object) -> Graph:
    """Return the graph with fields of one function changed."""
    nodes = (
        replace(node, **fields) if isinstance(node, GradFn) and node.id == id_ else node  # type: ignore[arg-type]  # GradFn's
        for node in graph.nodes
    )
    return replace(graph, nodes=tuple(nodes))


def test_iterations_of_a_loop_are_folded() -> None:
    """Fifty steps are drawn as the first, a box that says how many follow, and the last."""
    (group,) = groups(fold(recurrent(50), View()))

    assert group.times == 48
    assert group.nodes == 48 * 5
    assert group.varies == ("iterations 2 … 49",)
    assert group.title == "MmBackward0 … TanhBackward0, 5 functions"
    assert group.inputs == group.outputs == (TensorMeta((32, 16)),)


def test_calls_of_a_function_are_folded() -> None:
    """Where a loop calls a function, its lines tell the call, and so does the box."""
    graph = recurrent(50)
    nodes = tuple(
        replace(node, place=replace(node.place, iteration=1, call=node.place.iteration))
        if isinstance(node, GradFn) and node.place
        else node
        for node in graph.nodes
    )
    (group,) = groups(fold(replace(graph, nodes=nodes), View()))

    assert (group.times, group.varies) == (48, ("calls 2 … 49",))
    assert group.place is not None
    assert group.place.call == 1


def test_first_and_last_step_are_drawn_and_lead_to_the_group() -> None:
    """The group stands between them, and shared weights feed it as they feed the steps."""
    graph = fold(recurrent(20), View())

    (group,) = groups(graph)
    assert {edge.source for edge in graph.edges if edge.target == group.id} == {"t0", "w0", "w1", "w2"}
    assert {edge.target for edge in graph.edges if edge.source == group.id} == {"m19"}


def test_blocks_of_a_network_are_folded_with_their_parameters() -> None:
    """Parameters of equal role go into the group, which says which modules it stands for."""
    (group,) = groups(fold(blocks(12), View()))

    assert (group.title, group.times) == ("Block", 10)
    assert group.varies == ("iterations 2 … 11", "net.layers.1 … net.layers.10")
    assert group.parameters == 10 * 72
    assert group.nodes == 10 * 6


def test_chain_of_equal_operations_is_folded() -> None:
    """It takes no loop and no module: equal operations in a row are a repetition."""
    graph = fold(chain(*["exp"] * 10), View(labels="forward"))

    (group,) = groups(graph)
    assert (group.title, group.times) == ("eˣ exp", 8)
    assert [node.id for node in graph.nodes if isinstance(node, GradFn)] == ["f9", "f0"]


def test_three_steps_are_not_folded() -> None:
    """A group of one would hide something and shorten nothing."""
    assert fold(chain("exp", "exp", "exp"), View()) == chain("exp", "exp", "exp")


@pytest.mark.parametrize(
    "difference",
    [
        {"name": "SinBackward0"},
        {"outputs": (TensorMeta((80, 2)),)},
        {"outputs": (TensorMeta((80, 1), "float64"),)},
        {"speciality": "in-place"},
        {"order": 2},
        {"slots": 3},
        {"names": (("half",),)},
    ],
)
def test_step_that_differs_is_drawn(difference: dict[str, object]) -> None:
    """Another operation, shape, type or name in the middle is not folded, but what is before and after is."""
    graph = fold(changed(chain(*["exp"] * 20), "f10", **difference), View())

    assert sorted(group.times for group in groups(graph)) == ([8, 9] if "names" in difference else [7, 8])
    assert "f10" in graph.by_id


def test_step_whose_tensor_was_asked_for_is_drawn() -> None:
    """An output in the middle of a repetition keeps its step."""
    graph = chain(*["exp"] * 20)
    outputs = (*graph.nodes, Output("n1", "half", BATCH))
    graph = fold(replace(graph, nodes=outputs, edges=(*graph.edges, Edge("f10", "n1", "output"))), View())

    assert {"f10", "n1"} <= graph.by_id.keys()
    assert len(groups(graph)) == 2


def test_step_that_is_fed_otherwise_is_drawn() -> None:
    """Equal operations are no equal steps if one of them takes its input from elsewhere."""
    graph = chain(*["add"] * 20)
    graph = fold(replace(graph, edges=(*graph.edges, Edge("f3", "f10", slot=1))), View())

    assert "f10" in graph.by_id
    assert "f3" in graph.by_id


def test_steps_that_all_feed_one_node_are_folded() -> None:
    """States that are stacked after a loop leave the group by one arrow."""
    graph = chain(*["exp"] * 20)
    stack = function("s", "stack", sequence=99)
    edges = [*graph.edges[1:], Edge("s", "n0", "output")] + [Edge(f"f{at}", "s", slot=at) for at in range(20)]
    graph = fold(replace(graph, nodes=(graph.nodes[0], stack, *graph.nodes[1:]), edges=tuple(edges)), View())

    (group,) = groups(graph)
    assert group.times == 18
    assert [edge.source for edge in graph.edges if edge.target == "s"] == ["f0", group.id, "f19"]


def test_repetition_inside_a_repetition_is_folded_first() -> None:
    """Six times five products and a sine: the products are folded in each step, then the steps."""
    graph = fold(chain(*(["mul"] * 5 + ["sin"]) * 6), View())

    outer = max(groups(graph), key=lambda group: group.nodes)
    assert outer.times == 4
    assert outer.nodes == 4 * 6
    assert sorted(group.times for group in groups(graph)) == [3, 3, 4]


def test_inner_repetitions_of_other_lengths_are_no_equal_steps() -> None:
    """A step with five products is not one with six."""
    graph = fold(chain(*(["mul"] * 5 + ["sin"]) * 3, *["mul"] * 6, "sin", *(["mul"] * 5 + ["sin"]) * 3), View())

    assert sorted(group.times for group in groups(graph)) == [3, 3, 3, 3, 3, 3, 4]


def test_what_varies_is_said() -> None:
    """Attributes and lines may differ among equal steps, and the group says which do."""
    graph = chain(*["select"] * 8)
    nodes = tuple(
        replace(
            node,
            place=Place(0, 2 + int(node.id[1:])),
            attributes=(Attribute("dim", "0"), Attribute("index", node.id[1:])),
        )
        if isinstance(node, GradFn)
        else node
        for node in graph.nodes
    )

    (group,) = groups(fold(replace(graph, nodes=nodes), View()))

    assert group.varies == ("lines", "index 1 … 6")


def test_folded_graph_as_dot(golden: Callable[[str, str], None]) -> None:
    """The drawing of a recurrent network of a thousand steps."""
    graph = apply(recurrent(1000), View())

    assert len(graph.nodes) <= 60
    golden("fold.dot", to_dot(graph, View(), place))
