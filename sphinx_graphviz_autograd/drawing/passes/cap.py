"""Leave out what is too much for a figure, and say how much that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing.passes.contract import contract, counted, with_what_only_they_use
from sphinx_graphviz_autograd.drawing.passes.structure import sequence
from sphinx_graphviz_autograd.model import GradFn, Group

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.model import Graph


def cap(graph: Graph, most: int) -> Graph:
    """Return the graph with at most so many boxes: what ran last is drawn, one box stands for the rest.

    The box says how many nodes are not drawn, and every arrow that left them starts from it. Outputs are always drawn.
    """
    if len(graph.nodes) <= most:
        return graph
    ran = sequence(graph)
    left = len(ran.functions)
    low, high = 0, left
    while low < high:  # as few functions as must go, found by halving
        middle = (low + high) // 2
        if _drawn(graph, _first(ran.functions, middle)) <= most:
            high = middle
        else:
            low = middle + 1
    gone = _first(ran.functions, low)
    members = with_what_only_they_use(graph, gone)
    nodes = [node for node in graph.nodes if node.id in members]
    if not nodes:
        return graph
    id_ = f"{nodes[0].id}g"
    group = Group(id_, "cap", "", counted(nodes), sequence=ran.functions[0].sequence)
    return contract(graph, {id_: group}, dict.fromkeys(members, id_))


def _first(functions: list[GradFn | Group], number: int) -> dict[str, str]:
    return {node.id: "cap" for node in functions[:number]}


def _drawn(graph: Graph, gone: dict[str, str]) -> int:
    """Return how many boxes are drawn if these functions are not."""
    return len(graph.nodes) - len(with_what_only_they_use(graph, gone)) + bool(gone)
