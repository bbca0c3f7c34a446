"""Draw only what the author gave a name to, and what leads from one to the other: the view of a textbook."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.model import Edge, GradFn

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from sphinx_graphviz_autograd.model import Graph


def named(graph: Graph) -> Graph:
    """Return the graph without functions whose tensors have no name; arrows lead over them and count them.

    An arrow runs from one node to another if a path over functions without names did. Tensors that only such functions
    keep or use are led on to the next named one.
    """
    gone = {node.id for node in graph.nodes if isinstance(node, GradFn) and not any(node.names)}
    if not gone:
        return graph
    feeds: dict[str, list[Edge]] = {}
    for edge in graph.edges:
        feeds.setdefault(edge.target, []).append(edge)
    edges: list[Edge] = []
    for node in graph.nodes:
        if node.id not in gone:
            edges.extend(_leading_to(feeds.get(node.id, []), feeds, gone))
    return replace(graph, nodes=tuple(node for node in graph.nodes if node.id not in gone), edges=tuple(edges))


def _leading_to(into: list[Edge], feeds: Mapping[str, list[Edge]], gone: Collection[str]) -> list[Edge]:
    """Return the arrows into a node, each led back over nodes that are gone to the nearest that stay."""
    found: dict[tuple[str, str, int], Edge] = {}
    for last in into:
        if last.source not in gone:
            found.setdefault((last.source, last.kind, last.slot), last)
            continue
        over: dict[str, None] = {last.source: None}
        waiting = [last.source]
        ends: list[Edge] = []
        while waiting:
            for edge in feeds.get(waiting.pop(), ()):
                if edge.source not in gone:
                    ends.append(edge)
                elif edge.source not in over:
                    over[edge.source] = None
                    waiting.append(edge.source)
        for edge in ends:
            kind = last.kind if edge.kind == "gradient" else edge.kind
            led = replace(edge, target=last.target, kind=kind, slot=last.slot, hidden=edge.hidden + len(over))
            found.setdefault((led.source, led.kind, led.slot), led)
    return list(found.values())
