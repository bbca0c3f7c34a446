"""Draw several nodes as one: what collapsing, folding and capping have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, assert_never

from sphinx_graphviz_autograd.model import Data, Edge, GradFn, Group, Leaf, Output, Reference, SavedTensor
from sphinx_graphviz_autograd.quick import quick

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from sphinx_graphviz_autograd.model import Graph, Node, TensorMeta

_edge = quick(Edge)

_TENSORS: Final = (Leaf, SavedTensor, Data, Reference)
"""What belongs to the functions that use it. A tuple, as a union would be made anew for each node."""


@dataclass(frozen=True, slots=True)
class Flow:
    """The tensors that enter and leave a group."""

    inputs: tuple[TensorMeta, ...]
    """What enters it; parameters are not counted."""
    outputs: tuple[TensorMeta, ...]
    """What leaves it."""


def contract(graph: Graph, groups: Mapping[str, Group], members: Mapping[str, str]) -> Graph:
    """Return the graph with groups in the place of their members.

    Args:
        graph: what is to be drawn more coarsely.
        groups: the groups by their ids.
        members: the id of its group for each node that goes into one.

    Arrows inside a group go with it. Of several arrows of one kind between a group and another node one stays, so that
    what was connected stays connected.
    """
    nodes: list[Node] = []
    placed: set[str] = set()
    for node in graph.nodes:
        group = members.get(node.id)
        if group is None:
            nodes.append(node)
        elif group not in placed:
            placed.add(group)
            nodes.append(groups[group])
    edges: list[Edge] = []
    drawn: set[tuple[str, str, str]] = set()
    for edge in graph.edges:
        source, target = members.get(edge.source), members.get(edge.target)
        if source is None and target is None:
            edges.append(edge)
            continue
        ends = (source or edge.source, target or edge.target, edge.kind)
        if source != target and ends not in drawn:
            drawn.add(ends)
            output, slot = (0 if source else edge.output), (0 if target else edge.slot)
            edges.append(_edge(ends[0], ends[1], edge.kind, output, slot, edge.hidden, edge.gradient))
    return replace(graph, nodes=tuple(nodes), edges=tuple(edges))


def with_what_only_they_use(graph: Graph, members: dict[str, str], stay: Collection[str] = ()) -> dict[str, str]:
    """Return the members and, in the same group, the tensors that nothing outside their group has to do with.

    These are leaves, saved tensors, inputs without gradient, and references, but for those that are to stay.
    """
    beside: dict[str, str | None] = {}
    tensors = {node.id for node in graph.nodes if isinstance(node, _TENSORS)}
    tensors.difference_update(stay)
    for edge in graph.edges:
        if edge.source in tensors:
            group = members.get(edge.target)
            beside[edge.source] = group if beside.get(edge.source, group) == group else None
        if edge.target in tensors:
            group = members.get(edge.source)
            beside[edge.target] = group if beside.get(edge.target, group) == group else None
    return members | {tensor: group for tensor, group in beside.items() if group is not None}


def flows(graph: Graph, members: Mapping[str, str], *, leaves: bool) -> dict[str, Flow]:
    """Return for each group the tensors that enter and leave it.

    Parameters do not enter it, they are in it or of it; other leaves do if `leaves` says so.
    """
    entering: dict[str, dict[tuple[str, int], TensorMeta]] = {}
    leaving: dict[str, dict[tuple[str, int], TensorMeta]] = {}
    for edge in graph.edges:
        source, target = members.get(edge.source), members.get(edge.target)
        if source == target or edge.kind == "saved":
            continue
        meta = _tensor(graph.by_id[edge.source], edge.output)
        if meta is None:
            continue
        fed = graph.by_id[edge.source]
        if target is not None and (not isinstance(fed, Leaf) or (leaves and not fed.parameter)):
            entering.setdefault(target, {})[edge.source, edge.output] = meta
        if source is not None:
            leaving.setdefault(source, {})[edge.source, edge.output] = meta
    return {
        group: Flow(tuple(entering.get(group, {}).values()), tuple(leaving.get(group, {}).values()))
        for group in dict.fromkeys(members.values())
    }


def counted(nodes: Iterable[Node]) -> int:
    """Return how many captured nodes these are, those inside groups included."""
    return sum(node.nodes if isinstance(node, Group) else not isinstance(node, Reference) for node in nodes)


def elements(nodes: Iterable[Node]) -> int:
    """Return how many numbers the parameters among these nodes hold."""
    total = 0
    for node in nodes:
        if isinstance(node, Group):
            total += node.parameters
        elif isinstance(node, Leaf) and node.parameter and node.meta.shape is not None:
            total += math.prod(size for size in node.meta.shape if isinstance(size, int))
    return total


def _tensor(node: Node, output: int) -> TensorMeta | None:
    match node:
        case GradFn() | Group():
            return node.outputs[output] if output < len(node.outputs) else None
        case Leaf() | Data() | Output() | SavedTensor():
            return node.meta
        case Reference():
            return None
        case _:
            assert_never(node)
