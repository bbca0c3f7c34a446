"""Take out of a graph what the view does not show, and never cut an arrow in doing so."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing.operations import PLUMBING
from sphinx_graphviz_autograd.model import Data, GradFn, SavedTensor

if TYPE_CHECKING:
    from collections.abc import Collection
    from collections.abc import Set as AbstractSet

    from sphinx_graphviz_autograd.model import Edge, Graph, Node


def hide(graph: Graph, show: AbstractSet[str]) -> Graph:
    """Return the graph with nothing in it but what `show` names, beside outputs, functions and leaves."""
    hidden = tuple(kind for word, kind in (("saved", SavedTensor), ("data", Data)) if word not in show)
    gone = {node.id for node in graph.nodes if isinstance(node, hidden)}
    if gone:
        graph = _without(graph, gone)
    if "plumbing" not in show:
        graph = hide_plumbing(graph)
    return graph


def hide_plumbing(graph: Graph) -> Graph:
    """Return the graph without functions that only rearrange a tensor; arrows bridge them and count them.

    A function stays if the author named its tensor, or if something other than one function or leaf feeds it.
    """
    fed_by = {edge.target: edge for edge in graph.edges if edge.kind == "gradient"}
    inputs = Counter(edge.target for edge in graph.edges if edge.kind == "gradient")
    gone = {node.id for node in graph.nodes if _is_plumbing(node) and inputs[node.id] == 1}
    bridged: dict[str, Edge] = {}
    edges = []
    for edge in graph.edges:
        if edge.target in gone:
            continue
        edges.append(_bridge(edge, fed_by, gone, bridged) if edge.source in gone else edge)
    return _without(replace(graph, edges=tuple(edges)), gone)


def _is_plumbing(node: Node) -> bool:
    return (
        isinstance(node, GradFn)
        and node.forward in PLUMBING
        and not node.speciality
        and len(node.outputs) <= 1
        and not any(node.names)
    )


def _bridge(edge: Edge, fed_by: dict[str, Edge], gone: Collection[str], bridged: dict[str, Edge]) -> Edge:
    """Return the edge led back over the nodes that are gone to the first that stays."""
    path = []
    at = edge.source
    while at in gone and at not in bridged:
        path.append(at)
        at = fed_by[at].source
    for node in reversed(path):
        before = fed_by[node]
        over = bridged.get(before.source)
        if over is None:
            bridged[node] = replace(before, hidden=before.hidden + 1)
        else:
            bridged[node] = replace(over, hidden=over.hidden + before.hidden + 1)
    over = bridged[edge.source]
    return replace(edge, source=over.source, output=over.output, hidden=edge.hidden + over.hidden)


def _without(graph: Graph, gone: Collection[str]) -> Graph:
    """Return the graph without these nodes, their edges, and what only they kept in it."""
    nodes = [node for node in graph.nodes if node.id not in gone]
    edges = [edge for edge in graph.edges if edge.source not in gone and edge.target not in gone]
    return replace(graph, nodes=tuple(nodes), edges=tuple(edges))
