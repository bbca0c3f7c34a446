"""In which order PyTorch's engine visits a graph when it computes gradients."""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING, assert_never

from sphinx_graphviz_autograd.model import Data, GradFn, Group, Leaf, Output, Reference, SavedTensor

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.model import Graph, Node


def backward_order(graph: Graph) -> tuple[str, ...]:
    """Return the ids of the outputs, then of all that gradients reach from them, as the engine visits them.

    A function is ready when all that it feeds have been visited. Of those that are ready, the engine takes the one that
    was made last; what accumulates into a leaf comes before any function (its number is the largest there is).
    """
    feeds: dict[str, list[str]] = {}
    waiting: dict[str, int] = {}
    for edge in graph.edges:
        if edge.kind in {"gradient", "output"}:
            feeds.setdefault(edge.target, []).append(edge.source)
            waiting[edge.source] = waiting.get(edge.source, 0) + 1
    place = {node.id: number for number, node in enumerate(graph.nodes)}
    ready = [(-inf, place[output.id]) for output in graph.outputs]
    order: list[str] = []
    while ready:
        _, at = heappop(ready)
        id_ = graph.nodes[at].id
        order.append(id_)
        for source in feeds.get(id_, ()):
            waiting[source] -= 1
            if not waiting[source]:
                heappush(ready, (-_created(graph.by_id[source]), place[source]))
    return tuple(order)


def _created(node: Node) -> float:
    """Return when the engine takes a node to have been made; larger is later, and visited first."""
    match node:
        case GradFn(name="AccumulateGrad") | Leaf() | Reference() | Output():
            return inf
        case GradFn() | Group():
            return -1 if node.sequence is None else node.sequence
        case Data() | SavedTensor():
            return -1
        case _:
            assert_never(node)
