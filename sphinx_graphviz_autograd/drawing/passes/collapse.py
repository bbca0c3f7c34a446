"""Draw a call of a module as one box."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing.passes.contract import (
    contract,
    counted,
    flows,
    with_what_only_they_use,
)
from sphinx_graphviz_autograd.drawing.passes.modules import chain
from sphinx_graphviz_autograd.drawing.passes.structure import digest, sequence
from sphinx_graphviz_autograd.model import Data, GradFn, Group, Leaf

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

    from sphinx_graphviz_autograd.drawing.passes.contract import Flow
    from sphinx_graphviz_autograd.drawing.passes.structure import Sequence
    from sphinx_graphviz_autograd.model import Graph, Node


def collapse(graph: Graph, depth: int, expand: Collection[str] = (), ran: Sequence | None = None) -> Graph:
    """Return the graph with each module call below a depth drawn as one box.

    Args:
        graph: what was captured.
        depth: how many levels of modules are opened; with 0 the outermost call is one box.
        expand: paths of modules that are drawn in full; so are the modules around them as far as they must be.
        ran: the graph's `sequence`, if that is known already.
    """
    box = [_box(call, depth, expand, graph) for call in range(len(graph.modules))]
    calls: dict[str, str] = {}
    for node in graph.nodes:
        if isinstance(node, GradFn) and node.module is not None and (call := box[node.module]) is not None:
            calls[node.id] = str(call)
    if not calls:
        return graph
    calls = with_what_only_they_use(graph, calls, _inputs(graph))
    inside: dict[str, list[Node]] = {}
    for node in graph.nodes:
        if node.id in calls:
            inside.setdefault(calls[node.id], []).append(node)
    flow = flows(graph, calls, leaves=True)
    structures = _structures(ran or sequence(graph), calls)
    groups = {call: _group(int(call), nodes, graph, flow[call], structures[call]) for call, nodes in inside.items()}
    members = {node: groups[call].id for node, call in calls.items()}
    return contract(graph, {group.id: group for group in groups.values()}, members)


def levels(graph: Graph) -> int:
    """Return how deep the modules of a graph are nested; 0 without modules."""
    return max((len(chain(call, graph)) for call in range(len(graph.modules))), default=0)


def _box(call: int, depth: int, expand: Collection[str], graph: Graph) -> int | None:
    """Return the call that is drawn in the place of this one; None if its operations are drawn."""
    around = chain(call, graph)
    for at in around[depth:]:
        path = graph.modules[at].path
        if path in expand and path:
            return None
        if not any(opened.startswith(f"{path}.") for opened in expand if path):
            return at
    return None


def _inputs(graph: Graph) -> set[str]:
    """Return the ids of the tensors that are fed to modules: leaves and data with a name that is not in a module."""
    paths = {module.path for module in graph.modules if module.path}
    return {
        node.id
        for node in graph.nodes
        if (isinstance(node, Leaf) and not node.parameter) or (isinstance(node, Data) and node.names)
        if not any(name.rpartition(".")[0] in paths for name in node.names)
    }


def _group(call: int, nodes: list[Node], graph: Graph, flow: Flow, structure: str) -> Group:
    module = graph.modules[call]
    numbers = [node.sequence for node in nodes if isinstance(node, GradFn) and node.sequence is not None]
    return Group(
        id=f"{nodes[0].id}g",
        kind="module",
        title=module.path,
        nodes=counted(nodes),
        module=call,
        inputs=flow.inputs,
        outputs=flow.outputs,
        parameters=module.parameters,
        place=next((node.place for node in reversed(nodes) if isinstance(node, GradFn)), None),
        sequence=min(numbers, default=None),
        structure=structure,
    )


def _structures(ran: Sequence, calls: dict[str, str]) -> dict[str, str]:
    """Return for each group a digest of what is in it, in the order in which it ran; what feeds it does not count."""
    parts: dict[str, list[int]] = {}
    places: dict[str, int] = {}
    numbers: dict[tuple[int, tuple[int, ...]], int] = {}
    for at, node in enumerate(ran.functions):
        call = calls.get(node.id)
        if call is None:
            continue
        inside = parts.setdefault(call, [])
        places[node.id] = len(inside)
        backs = tuple(
            [
                len(inside) - places.get(edge.source, 0) if calls.get(edge.source) == call else -1
                for edge in ran.inputs[at]
            ]
        )
        inside.append(numbers.setdefault((ran.tokens[at], backs), len(numbers)))
    texts = [repr(_step(ran, *one)) for one in numbers]
    contents = {call: tuple(inside) for call, inside in parts.items()}
    digests = {content: digest(tuple([texts[number] for number in content])) for content in set(contents.values())}
    return {call: digests[content] for call, content in contents.items()}


def _step(ran: Sequence, token: int, backs: tuple[int, ...]) -> Hashable:
    """Return what a function is that is fed from so far back; of what comes from outside, only how it is fed."""
    work, roles = ran.roles[token]
    return work, tuple((role if back >= 0 else role[:2], back) for role, back in zip(roles, backs, strict=True))
