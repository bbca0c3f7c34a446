"""Draw a leaf with many uses once per use, as small references to one described box.

Whether a figure of a recurrent network exists at all hangs on this: with one shared box `dot` needs minutes for what
takes it a tenth of a second when the uses are apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from sphinx_graphviz_autograd.model import GradFn, Leaf, Reference

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.model import Edge, Graph, Node

_USES: Final = {"auto": 5, "split": 2}
"""From how many uses on a box is split."""


def split(graph: Graph, mode: Literal["auto", "merge", "split"]) -> Graph:
    """Return the graph with each much used leaf drawn once per use: in full at its first use, else as a reference.

    A function with as many uses is treated alike where a single chain leads to it from a leaf, as to the cached cast
    of a weight: it is as much a hub as the leaf would be.
    """
    if mode == "merge":
        return graph
    uses: dict[str, list[str]] = {}
    for edge in graph.edges:
        if edge.kind == "gradient" and edge.target not in (targets := uses.setdefault(edge.source, [])):
            targets.append(edge.target)
    hubs = {source for source, targets in uses.items() if len(targets) >= _USES[mode]}
    hubs &= _from_one_leaf(graph)
    if not hubs:
        return graph
    references = {hub: _references(graph, hub, uses[hub]) for hub in sorted(hubs)}
    nodes: list[Node] = []
    for node in graph.nodes:
        nodes.append(node)
        nodes.extend(Reference(id_, node.id) for id_ in references.get(node.id, {}).values())
    edges = [_through_reference(edge, references) for edge in graph.edges]
    return replace(graph, nodes=tuple(nodes), edges=tuple(edges))


def _from_one_leaf(graph: Graph) -> set[str]:
    """Return the ids of the leaves, and of the functions to which nothing but one chain from a leaf leads."""
    found = {node.id for node in graph.nodes if isinstance(node, Leaf)}
    fed_by: dict[str, list[str]] = {}
    for edge in graph.edges:
        if edge.kind in {"gradient", "data"}:
            fed_by.setdefault(edge.target, []).append(edge.source)
    chains = {target: sources[0] for target, sources in fed_by.items() if len(sources) == 1}
    elsewhere: set[str] = set()
    for start in chains:
        path = []
        at: str | None = start
        while at is not None and at not in found and at not in elsewhere:
            path.append(at)
            at = chains.get(at)
        (found if at in found else elsewhere).update(path)
    return found


def _references(graph: Graph, hub: str, targets: list[str]) -> dict[str, str]:
    """Return the id of a reference for each target but the one that was computed first."""
    first = min(range(len(targets)), key=lambda at: (_sequence(graph.by_id[targets[at]]), -at))
    return {target: f"{hub}r{at}" for at, target in enumerate(targets) if at != first}


def _sequence(node: Node) -> float:
    return node.sequence if isinstance(node, GradFn) and node.sequence is not None else float("inf")


def _through_reference(edge: Edge, references: dict[str, dict[str, str]]) -> Edge:
    reference = references.get(edge.source, {}).get(edge.target)
    return replace(edge, source=reference) if reference and edge.kind == "gradient" else edge
