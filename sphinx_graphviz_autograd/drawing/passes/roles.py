"""What must be equal for steps to be one box, beside what makes them alike: their names, and what they feed."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing.passes.structure import pattern
from sphinx_graphviz_autograd.model import GradFn

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from sphinx_graphviz_autograd.drawing.passes.structure import Sequence
    from sphinx_graphviz_autograd.model import Graph


def roles(ran: Sequence, stretches: Iterable[range], graph: Graph) -> list[int]:
    """Return a number for each function that stands for what is to be told of it beyond what it does.

    That are the names of what it makes, without numbers, and the nodes outside of its stretch that it or the tensors
    that it uses feed. Functions of which nothing is to be told, and those in no stretch, have 0.
    """
    stretches = list(stretches)
    stretch = [-1] * len(ran.functions)
    for number, one in enumerate(stretches):
        stretch[one.start : one.stop] = [number] * len(one)
    outside = _outside(ran, stretch, graph)
    shared = outside.keys() - ran.position.keys()
    patterns: dict[tuple[tuple[str, ...], ...], Hashable] = {(): ()}
    numbers: dict[Hashable, int] = {((), None, ()): 0}
    told = [0] * len(ran.functions)
    for at in chain.from_iterable(stretches):
        node = ran.functions[at]
        names = node.names if isinstance(node, GradFn) else ()
        if names not in patterns:
            patterns[names] = tuple(map(pattern, names)) if any(names) else ()
        tensors = tuple([outside[edge.source] for edge in ran.inputs[at] if edge.source in shared]) if shared else ()
        told[at] = numbers.setdefault((patterns[names], outside.get(node.id), tensors), len(numbers))
    return told


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
