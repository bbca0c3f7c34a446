"""Draw a leaf with many uses once per use, as small references to one described box.

Whether a figure of a recurrent network exists at all hangs on this: with one shared box `dot` needs minutes for what
takes it a tenth of a second when the uses are apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from sphinx_graphviz_autograd.model import GradFn, Group, Leaf, Reference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx_graphviz_autograd.model import Edge, Graph, Node

_USES: Final = {"auto": 5, "split": 2}
"""From how many uses on a box is split."""


def split(graph: Graph, mode: Literal["auto", "merge", "split"], uses: Mapping[str, int] | None = None) -> Graph:
    """Return the graph with each much used leaf drawn once per use: in full at its first use, else as a reference.

    A function with as many uses is treated alike where nothing but a chain from one leaf leads to it, as to the cached
    cast of a weight: it is as much a hub as the leaf would be. Its references name the leaf.

    Args:
        graph: what is drawn.
        mode: `merge` splits nothing, `split` whatever is used twice, `auto` what is used five times or more.
        uses: how many uses there were before others were folded, if not as many as now.
    """
    if mode == "merge":
        return graph
    targets: dict[str, list[str]] = {}
    for edge in graph.edges:
        if edge.kind == "gradient" and edge.target not in (seen := targets.setdefault(edge.source, [])):
            seen.append(edge.target)
    before = uses or {}
    hubs = [hub for hub, users in targets.items() if len(users) > 1 and before.get(hub, len(users)) >= _USES[mode]]
    leaves = _leaves(graph) if hubs else {}
    references = {hub: _references(graph, hub, targets[hub], leaves[hub]) for hub in hubs if hub in leaves}
    if not references:
        return graph
    nodes: list[Node] = []
    for node in graph.nodes:
        nodes.append(node)
        nodes.extend(references.get(node.id, {}).values())
    edges = [_through_reference(edge, references) for edge in graph.edges]
    return replace(graph, nodes=tuple(nodes), edges=tuple(edges))


def _leaves(graph: Graph) -> dict[str, str]:
    """Return the leaf of each leaf, itself, and of each function to which only a chain from one leaf leads."""
    found: dict[str, str] = {node.id: node.id for node in graph.nodes if isinstance(node, Leaf)}
    fed_by: dict[str, list[str]] = {}
    for edge in graph.edges:
        if edge.kind in {"gradient", "data"}:
            fed_by.setdefault(edge.target, []).append(edge.source)
    functions = {node.id for node in graph.nodes if isinstance(node, GradFn)}
    chains = {target: sources[0] for target, sources in fed_by.items() if len(sources) == 1 and target in functions}
    elsewhere: set[str] = set()
    for start in chains:
        path = []
        at: str | None = start
        while at is not None and at not in found and at not in elsewhere:
            path.append(at)
            at = chains.get(at)
        if at in found:
            found.update(dict.fromkeys(path, found[at]))
        else:
            elsewhere.update(path)
    return found


def _references(graph: Graph, hub: str, targets: list[str], leaf: str) -> dict[str, Reference]:
    """Return a reference for each target but the one that was computed first."""
    first = min(range(len(targets)), key=lambda at: (_sequence(graph.by_id[targets[at]]), -at))
    return {target: Reference(f"{hub}r{at}", hub, leaf) for at, target in enumerate(targets) if at != first}


def _sequence(node: Node) -> float:
    if isinstance(node, GradFn | Group) and node.sequence is not None:
        return node.sequence
    return float("inf")


def _through_reference(edge: Edge, references: dict[str, dict[str, Reference]]) -> Edge:
    reference = references.get(edge.source, {}).get(edge.target)
    return replace(edge, source=reference.id) if reference and edge.kind == "gradient" else edge
