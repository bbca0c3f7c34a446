"""Draw the functions in which gradients arrive at leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.model import Edge, GradFn, Group, Leaf

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.model import Graph, Node


def accumulate(graph: Graph) -> Graph:
    """Return the graph with PyTorch's `AccumulateGrad` functions between leaves and what uses them."""
    leaves = {node.id for node in graph.nodes if isinstance(node, Leaf)}
    first: dict[str, int] = {}
    edges: list[Edge] = []
    for edge in graph.edges:
        if edge.kind != "gradient" or edge.source not in leaves:
            edges.append(edge)
            continue
        user = graph.by_id[edge.target]
        if isinstance(user, GradFn | Group) and user.sequence is not None:
            first[edge.source] = min(user.sequence, first.get(edge.source, user.sequence))
        edges.append(replace(edge, source=f"{edge.source}a"))
    nodes: list[Node] = []
    for node in graph.nodes:
        nodes.append(node)
        if isinstance(node, Leaf):
            nodes.append(GradFn(f"{node.id}a", "AccumulateGrad", "", (node.meta,), sequence=first.get(node.id)))
            edges.append(Edge(node.id, f"{node.id}a"))
    return replace(graph, nodes=tuple(nodes), edges=tuple(edges))
