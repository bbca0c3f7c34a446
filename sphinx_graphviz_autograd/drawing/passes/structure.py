"""The functions of a graph in the order in which they ran, described so that equal ones can be told.

Two functions are alike if they are the same operation on tensors of the same shapes, in a module of the same class,
fed in the same slots by functions and tensors of the same role. What is left out of the description, names and
attributes of functions, may vary among equal steps, and a fold says that it does.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, assert_never

from sphinx_graphviz_autograd.model import Data, GradFn, Group, Leaf, Output, Reference, SavedTensor

if TYPE_CHECKING:
    from collections.abc import Hashable

    from sphinx_graphviz_autograd.model import Edge, Graph, Node

Function: TypeAlias = GradFn | Group
"""What runs: a function, or many drawn as one."""

Fed: TypeAlias = tuple[str, int, int, "Hashable"]
"""How a function is fed: kind of the arrow, slot, output of the source, and what the source is if not a function."""

_FUNCTION: Final = 0
"""The number of what feeds a function and was made by another, instead of that of a tensor."""

_STARS: Final = str.maketrans("0123456789", "**********")


@dataclass(slots=True)
class Sequence:
    """The functions of a graph in the order in which they ran."""

    functions: list[Function]
    """In that order."""
    position: dict[str, int]
    """Where a function is in it, by its id."""
    tokens: list[int] = field(default_factory=list)
    """For each function a number; alike functions have the same."""
    offsets: list[list[int | None]] = field(default_factory=list)
    """For each input of a function how far back it was made, or, for a tensor that no function made, last used."""
    inputs: list[list[Edge]] = field(default_factory=list)
    """For each function the arrows that enter it."""
    roles: list[tuple[Hashable, tuple[Fed, ...]]] = field(default_factory=list)
    """For each token what makes functions alike: what they do, and what feeds which of their inputs."""

    def structure(self, start: int, stop: int) -> str:
        """Return a digest of the functions from one position up to another; equal stretches have the same."""
        inside = (
            tuple(back if back is not None and back <= at else None for back in self.offsets[start + at])
            for at in range(stop - start)
        )
        roles = (self.roles[token] for token in self.tokens[start:stop])
        return digest(tuple(zip(roles, inside, strict=True)))

    def same_work(self, one: int, other: int) -> bool:
        """Whether the functions at two positions do the same, whatever feeds them."""
        return self.roles[self.tokens[one]][0] == self.roles[self.tokens[other]][0]

    def alike(self, one: int, other: int) -> bool:
        """Whether the functions at two positions are the same step: alike, and alike in what feeds them.

        An input is alike if it comes from as far back, or from the very same node.
        """
        if self.tokens[one] != self.tokens[other]:
            return False
        before, after = self.offsets[one], self.offsets[other]
        if before == after:
            return True
        same = zip(before, after, self.inputs[one], self.inputs[other], strict=True)
        return all(back == back_too or edge.source == edge_too.source for back, back_too, edge, edge_too in same)


def sequence(graph: Graph) -> Sequence:
    """Return the functions of the graph in the order in which they ran."""
    functions = [node for node in graph.nodes if isinstance(node, (GradFn, Group))]
    # visiting starts at the outputs, so among functions of one number the last visited ran first
    functions.reverse()
    functions.sort(key=_sequence)
    position = {node.id: at for at, node in enumerate(functions)}
    found = Sequence(functions, position, inputs=[[] for _ in functions])
    for edge in graph.edges:
        if (into := position.get(edge.target)) is not None:
            found.inputs[into].append(edge)
    _tell_apart(found, graph)
    return found


def _tell_apart(found: Sequence, graph: Graph) -> None:
    """Number the functions by what makes them alike, and note how far back their inputs were made."""
    works = _works(found.functions, graph)
    position = found.position
    tensors = _Tensors(graph)
    used: dict[str, int] = {}
    numbers: dict[tuple[int, tuple[tuple[str, int, int, int], ...]], int] = {}
    for at, edges in enumerate(found.inputs):
        fed: list[tuple[str, int, int, int]] = []
        offsets: list[int | None] = []
        for edge in edges:
            source = edge.source
            made = position.get(source)
            if made is not None:
                fed.append((edge.kind, edge.slot, edge.output, _FUNCTION))
                offsets.append(at - made)
                continue
            fed.append((edge.kind, edge.slot, edge.output, tensors.number(source)))
            offsets.append(at - used[source] if source in used else None)
            used[source] = at
        key = (works[at], tuple(fed))
        token = numbers.setdefault(key, len(numbers))
        if token == len(found.roles):
            roles = tuple((kind, slot, output, tensors.described[tensor]) for kind, slot, output, tensor in fed)
            found.roles.append((describe(found.functions[at], graph), roles))
        found.tokens.append(token)
        found.offsets.append(offsets)


class _Tensors:
    """Numbers for the tensors of a graph that no function made; those of the same role have the same."""

    def __init__(self, graph: Graph) -> None:
        self._by_id = graph.by_id
        self._numbers: dict[str, int] = {}
        self._different: dict[Hashable, int] = {None: _FUNCTION}
        self._metas = Different()
        self.described: list[Hashable] = [None]
        """For each number the role of its tensors."""

    def number(self, id_: str) -> int:
        """Return the number of the tensor with this id."""
        number = self._numbers.get(id_)
        if number is None:
            node = self._by_id[id_]
            meta = None if isinstance(node, (Reference, GradFn, Group)) else node.meta
            described = _describe_tensor(node)
            number = self._different.setdefault((self._metas.number(meta), described), len(self.described))
            if number == len(self.described):
                self.described.append((meta, described))
            self._numbers[id_] = number
        return number


class Different:
    """Numbers for values; equal ones have the same. They are kept by their owner, as a captured graph shares them."""

    def __init__(self) -> None:
        self._by_id: dict[int, int] = {}
        self._numbers: dict[Hashable, int] = {}

    def number(self, value: Hashable) -> int:
        """Return the number of a value, which is compared with others only if it is another object."""
        number = self._by_id.get(id(value))
        if number is None:
            number = self._by_id[id(value)] = self._numbers.setdefault(value, len(self._numbers))
        return number


def _works(functions: list[Function], graph: Graph) -> list[int]:
    """Return a number for each function; those that do the same, whatever feeds them, have the same.

    Descriptions of tensors are compared once for each tuple of them: a captured graph shares equal ones.
    """
    classes = [call.kind for call in graph.modules]
    outputs = Different()
    numbers: dict[Hashable, int] = {}
    works = []
    for node in functions:
        if isinstance(node, GradFn):
            made = outputs.number(node.outputs)
            class_ = classes[node.module] if node.module is not None else ""
            work: Hashable = (node.name, made, node.slots, node.speciality, node.order, node.inside, class_)
        else:
            work = describe(node, graph)
        works.append(numbers.setdefault(work, len(numbers)))
    return works


def describe(node: Function, graph: Graph) -> Hashable:
    """Return what makes a function alike to another, but for what feeds it."""
    class_ = graph.modules[node.module].kind if node.module is not None else ""
    if isinstance(node, GradFn):
        return (node.name, node.outputs, node.slots, node.speciality, node.order, node.inside, class_)
    return (node.kind, node.times, node.inputs, node.outputs, node.nodes, node.parameters, node.structure, class_)


def pattern(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names with their numbers taken out, sorted: `layers.3.weight` has the role of `layers.14.weight`."""
    return tuple(sorted([_without_numbers(name) for name in names]))


def _without_numbers(name: str) -> str:
    text = name.translate(_STARS)
    while "**" in text:
        text = text.replace("**", "*")
    return text


def digest(parts: Hashable) -> str:
    """Return a short text that is the same for equal descriptions, on every machine."""
    return hashlib.blake2b(repr(parts).encode(errors="replace"), digest_size=8).hexdigest()


def _sequence(node: Function) -> int:
    return -1 if node.sequence is None else node.sequence


def _describe_tensor(node: Node) -> Hashable:
    """Return the role of a tensor, but for what it is like."""
    match node:
        case Leaf():
            return ("leaf", node.parameter, pattern(node.names), pattern((node.hint,)))
        case Data():
            return ("data", node.cut, pattern(node.names), pattern((node.hint,)))
        case SavedTensor():
            return ("saved", node.attribute, node.state)
        case Reference():
            return ("reference", node.target)
        case Output():
            return ("output", node.name)
        case GradFn() | Group():
            return ("function", node.id)
        case _:
            assert_never(node)
