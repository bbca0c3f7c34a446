"""Say in words what differs among the steps of a fold: iterations, modules, names of tensors, attributes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sphinx_graphviz_autograd.model import Data, GradFn, Leaf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx_graphviz_autograd.drawing.passes.structure import Sequence
    from sphinx_graphviz_autograd.model import Graph

_NUMBER: Final = re.compile(r"\d+")


def varies(ran: Sequence, start: int, stop: int, period: int, graph: Graph) -> tuple[str, ...]:
    """Return what differs between the first and the last of equal steps, as `iterations 2 … 199`.

    The steps are the functions from `start` to `stop`, `period` of them each.
    """
    words: dict[str, None] = {}
    for at in range(period):
        words.update(dict.fromkeys(_of_place(ran, start + at, stop - period + at)))
        words.update(dict.fromkeys(_of_modules(ran, start + at, stop - period + at, graph)))
    for at in range(period):
        words.update(dict.fromkeys(_of_tensors(ran, start + at, stop - period + at, graph)))
    for at in range(period):
        words.update(dict.fromkeys(_of_attributes(ran, range(start + at, stop, period))))
    return tuple(words)


def _of_place(ran: Sequence, first: int, last: int) -> Iterator[str]:
    one, other = ran.functions[first].place, ran.functions[last].place
    if not isinstance(ran.functions[first], GradFn) or one is None or other is None:
        return
    if (one.block, one.file, one.line) != (other.block, other.file, other.line):
        yield "lines"
        return
    if one.iteration != other.iteration:
        yield f"iterations {one.iteration} … {other.iteration}"
    if one.call != other.call:
        yield f"calls {one.call} … {other.call}"


def _of_modules(ran: Sequence, first: int, last: int, graph: Graph) -> Iterator[str]:
    one, other = ran.functions[first].module, ran.functions[last].module
    if one is not None and other is not None and graph.modules[one].path != graph.modules[other].path:
        yield _from_to(graph.modules[one].path, graph.modules[other].path)


def _of_tensors(ran: Sequence, first: int, last: int, graph: Graph) -> Iterator[str]:
    for one, other in zip(ran.inputs[first], ran.inputs[last], strict=True):
        before, after = graph.by_id[one.source], graph.by_id[other.source]
        if before is after or not isinstance(before, Leaf | Data) or not isinstance(after, Leaf | Data):
            continue
        if before.names and after.names:
            yield _from_to(before.names[0], after.names[0])


def _from_to(one: str, other: str) -> str:
    """Return the part of two names up to the number in which they differ, as `layers.1 … layers.10`."""
    for number, other_number in zip(_NUMBER.finditer(one), _NUMBER.finditer(other), strict=False):
        if number[0] != other_number[0]:
            bracket = "]" if one[number.end() : number.end() + 1] == "]" else ""
            return f"{one[: number.end()]}{bracket} … {other[: other_number.end()]}{bracket}"
    return f"{one} … {other}"


def _of_attributes(ran: Sequence, positions: range) -> Iterator[str]:
    steps = [node.attributes for at in positions if isinstance(node := ran.functions[at], GradFn)]
    if len(steps) != len(positions) or all(attributes == steps[0] for attributes in steps):
        return
    for number, attribute in enumerate(steps[0]):
        values = [attributes[number].value if number < len(attributes) else "" for attributes in steps]
        if any(value != attribute.value for value in values):
            yield f"{attribute.name} {values[0]} … {values[-1]}"
