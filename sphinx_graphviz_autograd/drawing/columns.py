"""Wrap a long thin graph into columns, as a newspaper does a long text, so that it can be read on a page."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeAlias

from sphinx_graphviz_autograd.model import GradFn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx_graphviz_autograd.model import Graph

Columns: TypeAlias = tuple[frozenset[str], ...]
"""The nodes of each column, left to right."""

_PAGE: Final = (860.0, 1000.0)
"""Width and height up to which a figure is read at once, in points."""

_GAP: Final = (22.0, 26.0)
"""What Graphviz leaves free between boxes beside and below each other, in points."""

_NAMED: Final = 2
"""What an arrow costs that runs from one column to the next, if it carries a tensor with a name."""

_UNNAMED: Final = 3
"""What it costs if not: a column is best ended where the author's statement ends."""

_DEAREST: Final = 3 * _UNNAMED
"""What may be paid for a break; more would be a tangle."""


def columns(graph: Graph, sizes: Mapping[str, tuple[float, float]]) -> Columns:
    """Return the nodes of each column, left to right; empty if the graph is best drawn in one.

    Args:
        graph: what is drawn.
        sizes: width and height of each box in points.
    """
    rank = _ranks(graph)
    rows: list[list[str]] = [[] for _ in range(max(rank.values(), default=-1) + 1)]
    for node, at in rank.items():
        rows[at].append(node)
    heights = [max(sizes[node][1] for node in row) + _GAP[1] for row in rows]
    width = max((sum(sizes[node][0] + _GAP[0] for node in row) for row in rows), default=0.0)
    number = min(math.ceil(sum(heights) / _PAGE[1]), int(_PAGE[0] // width)) if width else 1
    if number < 2:  # noqa: PLR2004 - one column is no wrapping
        return ()
    rank = _beside_users(graph, rank)
    across = _across(graph, rank, len(rows))
    starts = [0]
    for column in range(1, number):
        start = _break(heights, across, sum(heights) * column / number, sum(heights) / number / 5)
        if start is None or start <= starts[-1]:
            return ()
        starts.append(start)
    stops = [*starts[1:], len(rows)]
    return tuple(
        frozenset(node for node, at in rank.items() if start <= at < stop)
        for start, stop in zip(starts, stops, strict=True)
    )


def _ranks(graph: Graph) -> dict[str, int]:
    """Return how far from the top each node is, if it is drawn just above the uppermost that it feeds."""
    feeds: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    waiting_for = dict.fromkeys(feeds, 0)
    for edge in graph.edges:
        feeds[edge.target].append(edge.source)
        waiting_for[edge.source] += 1
    height = dict.fromkeys(feeds, 0)
    ready = [node for node, users in waiting_for.items() if not users]
    while ready:
        node = ready.pop()
        for source in feeds[node]:
            height[source] = max(height[source], height[node] + 1)
            waiting_for[source] -= 1
            if not waiting_for[source]:
                ready.append(source)
    top = max(height.values(), default=0)
    return {node: top - at for node, at in height.items()}


def _beside_users(graph: Graph, rank: Mapping[str, int]) -> dict[str, int]:
    """Return the ranks with what nothing feeds at the rank of the uppermost that it feeds: it goes into its column."""
    fed = {edge.target for edge in graph.edges}
    beside = dict(rank)
    for edge in graph.edges:
        if edge.source not in fed:
            beside[edge.source] = rank[edge.source] + 1
    return beside


def _across(graph: Graph, rank: Mapping[str, int], number: int) -> list[int]:
    """Return for each rank what the arrows cost that come into it or past it from above."""
    change = [0] * (number + 1)
    for edge in graph.edges:
        source = graph.by_id[edge.source]
        cost = _UNNAMED if isinstance(source, GradFn) and not any(source.names) else _NAMED
        ends = sorted((rank[edge.source], rank[edge.target]))
        change[ends[0] + 1] += cost
        change[ends[1] + 1] -= cost
    return list(accumulate(change))


def _break(heights: list[float], across: list[int], where: float, tolerance: float) -> int | None:
    """Return the rank near a height where a column is best started: the cheapest."""
    top, found = 0.0, []
    for rank, height in enumerate(heights):
        if rank and abs(top - where) <= tolerance and across[rank] <= _DEAREST:
            found.append((across[rank], abs(top - where), rank))
        top += height
    return min(found)[2] if found else None
