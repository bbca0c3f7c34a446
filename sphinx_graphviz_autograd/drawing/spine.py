"""The longest chain of a graph, drawn as straight as may be: the eye follows it, and all else finds room beside."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.model import Graph


def spine(graph: Graph) -> frozenset[tuple[str, str]]:
    """Return the arrows of the longest chain that gradients run along from an output, each as source and target."""
    users: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    waiting_for = dict.fromkeys(users, 0)
    for edge in graph.edges:
        if edge.kind in {"gradient", "output"}:
            users[edge.source].append(edge.target)
            waiting_for[edge.target] += 1
    length = dict.fromkeys(users, 0)
    before: dict[str, str] = {}
    ready = [node for node, number in waiting_for.items() if not number]
    while ready:
        node = ready.pop()
        for user in users[node]:
            if length[user] <= length[node]:
                length[user], before[user] = length[node] + 1, node
            waiting_for[user] -= 1
            if not waiting_for[user]:
                ready.append(user)
    at = max((output.id for output in graph.outputs), key=length.__getitem__, default="")
    chain = []
    while at in before:
        chain.append((before[at], at))
        at = before[at]
    return frozenset(chain)
