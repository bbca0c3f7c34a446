"""What must be equal for steps to be one box, beside what makes them alike: their names, and what they feed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing.passes.structure import pattern
from sphinx_graphviz_autograd.model import GradFn

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from sphinx_graphviz_autograd.drawing.passes.structure import Sequence
    from sphinx_graphviz_autograd.model import Graph


def roles(ran: Sequence, stretches: Iterable[range], graph: Graph) -> dict[int, Hashable]:
    """Return what is to be told of the functions in stretches beyond what they do, by their positions.

    That are the names of what they make, without numbers, and the nodes outside of the stretch that they or the tensors
    that they use feed. Most functions have neither, and are not in the mapping.
    """
    stretch = [-1] * len(ran.functions)
    for number, one in enumerate(stretches):
        stretch[one.start : one.stop] = [number] * len(one)
    outside = _outside(ran, stretch, graph)
    shared = outside.keys() - ran.position.keys()
    found: dict[int, Hashable] = {}
    for at, node in enumerate(ran.functions):
        if stretch[at] < 0:
            continue
        named = isinstance(node, GradFn) and any(node.names)
        names = tuple(map(pattern, node.names)) if named and isinstance(node, GradFn) else ()
        feeds = outside.get(node.id)
        tensors = tuple(outside[edge.source] for edge in ran.inputs[at] if edge.source in shared) if shared else ()
        if names or feeds or tensors:
            found[at] = (names, feeds, tensors)
    return found


def _outside(ran: Sequence, stretch: list[int], graph: Graph) -> dict[str, frozenset[str]]:
    """Return the nodes that functions and tensors of a stretch feed outside of it, where there are any."""
    position = ran.position
    outside: dict[str, set[str]] = {}
    users: dict[str, int] = {}
    for edge in graph.edges:
        source, target = position.get(edge.source), position.get(edge.target)
        into = -1 if target is None else stretch[target]
        out_of = users.setdefault(edge.source, into) if source is None else stretch[source]
        if into != out_of:
            outside.setdefault(edge.source, set()).add(edge.target if into < 0 else f"stretch {into}")
        elif source is None and into < 0:
            outside.setdefault(edge.source, set()).add(edge.target)
    return {node: frozenset(targets) for node, targets in outside.items()}
