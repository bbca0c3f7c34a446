"""Which module calls a function ran in: the chain from the outermost call to the innermost."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sphinx_graphviz_autograd.model import Graph


def chain(call: int | None, graph: Graph) -> tuple[int, ...]:
    """Return the calls around and including a call, the outermost first; empty for no call."""
    found: list[int] = []
    while call is not None:
        found.append(call)
        call = graph.modules[call].parent
    return tuple(reversed(found))


def shared_calls(one: int | None, other: int | None, graph: Graph) -> int:
    """Return how many calls are around both of two calls."""
    if one == other:
        return len(chain(one, graph))
    both = zip(chain(one, graph), chain(other, graph), strict=False)
    shared = 0
    for mine, yours in both:
        if mine != yours:
            break
        shared += 1
    return shared


def common_call(calls: Iterable[int | None], graph: Graph) -> int | None:
    """Return the innermost call that is around all of these; None if there is none."""
    chains = [chain(call, graph) for call in dict.fromkeys(calls)]
    if not chains or not all(chains):
        return None
    common = None
    for level in zip(*chains, strict=False):
        if len(set(level)) > 1:
            break
        common = level[0]
    return common
