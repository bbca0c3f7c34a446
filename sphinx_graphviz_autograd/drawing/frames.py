"""Frames around the operations of a module: which boxes stand in which, and in which frame a frame stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.model import Data, GradFn, Group, Leaf, Reference, SavedTensor

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.model import Graph, ModuleCall


@dataclass(slots=True)
class Frame:
    """The frame of one call of a module."""

    call: int
    """Index in `Graph.modules`."""
    title: str
    """Path and class of the module, and which call it was if not the first."""
    nodes: list[str] = field(default_factory=list)
    """The boxes in it that stand in no inner frame."""
    frames: list[Frame] = field(default_factory=list)
    """The frames in it."""


def frames(graph: Graph) -> tuple[list[str], list[Frame]]:
    """Return the boxes that stand in no frame, and the outermost frames with what is in them.

    A box is in one frame at most, as Graphviz cannot lay out frames that overlap. Tensors stand in the frame of the
    functions that use them if these are all in one.
    """
    call_of = _calls(graph)
    found: dict[int, Frame] = {}
    outer: list[Frame] = []
    free: list[str] = []
    for node in graph.nodes:
        call = call_of.get(node.id)
        if call is None:
            free.append(node.id)
            continue
        _frame(call, graph, found, outer).nodes.append(node.id)
    return free, outer


def stacked(graph: Graph) -> list[tuple[str, str]]:
    """Return which boxes must stand below which, so that a frame stands below one that feeds it.

    Without it the tensors at the top of a frame would stand beside what feeds the frame further below, and as frames
    keep apart, so would the whole frame: a chain of frames would become a flight of stairs.
    """
    call_of = _calls(graph)
    around = {node.id: _around(call_of.get(node.id), graph) for node in graph.nodes}
    users: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    for edge in graph.edges:
        users[edge.source].append(edge.target)
    fed = {edge.target for edge in graph.edges}
    tops = [node for node in users if node not in fed]
    found: dict[tuple[str, str], None] = {}
    for edge in graph.edges:
        above, below = around[edge.source], around[edge.target]
        common = sum(one == other for one, other in zip(above, below, strict=False))
        if common in {len(above), len(below)}:
            continue
        for top in tops:
            if below[common] in around[top] and not _reaches(top, edge.source, users):
                found[edge.source, top] = None
                users[edge.source].append(top)
    return list(found)


def _around(call: int | None, graph: Graph) -> list[int]:
    """Return a call and those around it, from the outermost."""
    calls: list[int] = []
    while call is not None:
        calls.append(call)
        call = graph.modules[call].parent
    return calls[::-1]


def _reaches(start: str, end: str, users: dict[str, list[str]]) -> bool:
    """Return whether arrows lead from a box to another."""
    seen, waiting = {start}, [start]
    while waiting:
        new = [user for user in users[waiting.pop()] if user not in seen]
        seen.update(new)
        waiting += new
    return end in seen


def _frame(call: int, graph: Graph, found: dict[int, Frame], outer: list[Frame]) -> Frame:
    """Return the frame of a call; made, as those around it, if it is the first time that it is needed."""
    at, inner = call, None
    while True:
        known = at in found
        frame = found.setdefault(at, Frame(at, _title(graph.modules[at])))
        if inner is not None:
            frame.frames.append(inner)
        parent = graph.modules[at].parent
        if known or parent is None:
            if not known:
                outer.append(frame)
            return found[call]
        at, inner = parent, frame


def _calls(graph: Graph) -> dict[str, int]:
    """Return for each box the innermost call that it stands in."""
    calls: dict[str, int | None] = {}
    for node in graph.nodes:
        if isinstance(node, GradFn):
            calls[node.id] = node.module
        elif isinstance(node, Group) and node.module is not None:
            calls[node.id] = graph.modules[node.module].parent
    beside: dict[str, int | None] = {}
    tensors = {node.id for node in graph.nodes if isinstance(node, Leaf | Data | SavedTensor | Reference)}
    for edge in graph.edges:
        if edge.source in tensors:
            call = calls.get(edge.target)
            beside[edge.source] = call if beside.get(edge.source, call) == call else None
    return {node: call for node, call in (calls | beside).items() if call is not None}


def _title(call: ModuleCall) -> str:
    again = f", call {call.call}" if call.call > 1 else ""
    return f"{call.path} {call.kind}".strip() + again
