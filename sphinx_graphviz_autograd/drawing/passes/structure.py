"""The functions of a graph in the order in which they ran, described so that equal ones can be told.

Two functions are alike if they are the same operation on tensors of the same shapes, in a module of the same class,
fed in the same slots by functions and tensors of the same role. What is left out of the description, names and
attributes of functions, may vary among equal steps, and a fold says that it does.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, assert_never

from sphinx_graphviz_autograd.model import Data, GradFn, Group, Leaf, Output, Reference, SavedTensor

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from sphinx_graphviz_autograd.model import Edge, Graph, Node

Function: TypeAlias = GradFn | Group
"""What runs: a function, or many drawn as one."""

_DIGITS: Final = re.compile(r"\d+")


@dataclass(slots=True)
class Sequence:
    """The functions of a graph in the order in which they ran."""

    functions: list[Function] = field(default_factory=list)
    """In that order."""
    position: dict[str, int] = field(default_factory=dict)
    """Where a function is in it, by its id."""
    tokens: list[int] = field(default_factory=list)
    """For each function a number; alike functions have the same."""
    offsets: list[tuple[int | None, ...]] = field(default_factory=list)
    """For each input of a function how far back it was made, or, for a tensor that no function made, last used."""
    sources: list[tuple[str, ...]] = field(default_factory=list)
    """For each input of a function the id of the node that feeds it."""
    roles: list[Hashable] = field(default_factory=list)
    """For each function what makes it alike to others, but for where its inputs come from."""

    def structure(self, start: int, stop: int) -> str:
        """Return a digest of the functions from one position up to another; equal stretches have the same."""
        inside = (
            tuple(back if back is not None and back <= at else None for back in self.offsets[start + at])
            for at in range(stop - start)
        )
        return digest(tuple(zip(self.roles[start:stop], inside, strict=True)))

    def alike(self, one: int, other: int) -> bool:
        """Whether the functions at two positions are the same step: alike, and alike in what feeds them.

        An input is alike if it comes from as far back, or from the very same node.
        """
        if self.tokens[one] != self.tokens[other]:
            return False
        before, after = self.offsets[one], self.offsets[other]
        if before == after:
            return True
        same = zip(before, after, self.sources[one], self.sources[other], strict=True)
        return all(back == back_too or source == source_too for back, back_too, source, source_too in same)


def sequence(graph: Graph) -> Sequence:
    """Return the functions of the graph in the order in which they ran."""
    found = Sequence()
    functions = [node for node in graph.nodes if isinstance(node, GradFn | Group)]
    # visiting starts at the outputs, so among functions of one number the last visited ran first
    functions.reverse()
    functions.sort(key=lambda node: node.sequence if node.sequence is not None else -1)
    found.functions = functions
    found.position = {node.id: at for at, node in enumerate(functions)}
    inputs: dict[str, list[Edge]] = {}
    for edge in graph.edges:
        inputs.setdefault(edge.target, []).append(edge)
    numbers: dict[Hashable, int] = {}
    roles: dict[str, Hashable] = {}
    used: dict[str, int] = {}
    for at, node in enumerate(functions):
        edges = inputs.get(node.id, [])
        words = tuple(
            (edge.kind, edge.slot, edge.output, _role(edge.source, graph, roles, found.position)) for edge in edges
        )
        role = (describe(node, graph), words)
        found.roles.append(role)
        found.tokens.append(numbers.setdefault(role, len(numbers)))
        sources = tuple(edge.source for edge in edges)
        back = (found.position.get(source, used.get(source)) for source in sources)
        found.offsets.append(tuple(None if place is None else at - place for place in back))
        found.sources.append(sources)
        used.update((source, at) for source in sources if source not in found.position)
    return found


def describe(node: Function, graph: Graph) -> Hashable:
    """Return what makes a function alike to another, but for what feeds it."""
    class_ = graph.modules[node.module].kind if node.module is not None else ""
    if isinstance(node, GradFn):
        return (node.name, node.outputs, node.slots, node.speciality, node.order, node.inside, class_)
    return (node.kind, node.times, node.inputs, node.outputs, node.nodes, node.parameters, node.structure, class_)


def pattern(names: Iterable[str]) -> tuple[str, ...]:
    """Return names with their numbers taken out: `layers.3.weight` has the role of `layers.4.weight`."""
    return tuple(_DIGITS.sub("*", name) for name in names)


def digest(parts: Hashable) -> str:
    """Return a short text that is the same for equal descriptions, on every machine."""
    return hashlib.blake2b(repr(parts).encode(errors="replace"), digest_size=8).hexdigest()


def _role(id_: str, graph: Graph, roles: dict[str, Hashable], position: dict[str, int]) -> Hashable:
    """Return what role a tensor plays that no function made; None for what a function made."""
    if id_ in position:
        return None
    if id_ not in roles:
        roles[id_] = _describe_tensor(graph.by_id[id_])
    return roles[id_]


def _describe_tensor(node: Node) -> Hashable:
    match node:
        case Leaf():
            return ("leaf", node.meta, node.parameter, pattern(node.names), pattern((node.hint,)))
        case Data():
            return ("data", node.meta, node.cut, pattern(node.names))
        case SavedTensor():
            return ("saved", node.attribute, node.meta, node.state)
        case Reference():
            return ("reference", node.target)
        case Output():
            return ("output", node.name)
        case GradFn() | Group():
            return None
        case _:
            assert_never(node)
