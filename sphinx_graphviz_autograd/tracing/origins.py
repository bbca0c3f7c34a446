"""Where the nodes of a graph came from: the lines, module calls and passes that made them."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from types import CodeType
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.model import LineRun, ModuleCall, Place
from sphinx_graphviz_autograd.tracing.marks import NOTHING, OF_LEAVES, Marks
from sphinx_graphviz_autograd.tracing.modules import CalledModule, count_parameters
from sphinx_graphviz_autograd.tracing.reading import operation
from sphinx_graphviz_autograd.tracing.source import operations_in_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch.autograd.graph import Node

    from sphinx_graphviz_autograd.tracing.inputs import TorchCall
    from sphinx_graphviz_autograd.tracing.names import Names
    from sphinx_graphviz_autograd.tracing.record import Recorder
    from sphinx_graphviz_autograd.tracing.walk import Walk


_IN_PLACE = {
    "__setitem__": "copy",
    "__iadd__": "add",
    "__isub__": "sub",
    "__imul__": "mul",
    "__itruediv__": "div",
    "__ipow__": "pow",
}
"""The operations of Python's in-place methods."""


class Origins:
    """What a recording says of the nodes of one graph, by their creation numbers; of nothing without a recording."""

    def __init__(self, recorder: Recorder | None, names: Names, walk: Walk) -> None:
        self._recorder = recorder
        self._walk = walk
        self._names = names
        self._blocks: set[int] = set()
        self._indices: dict[int, int] = {}
        self._called: dict[int, tuple[str, int]] = {}  # path and size, as one module may be called a thousand times
        self.modules: tuple[ModuleCall, ...] = ()
        """The module calls that made a node of the graph, and the calls around them, as they began."""
        if recorder is not None:
            numbers = [number for number in walk.certain if number < OF_LEAVES]
            calls = sorted(self._with_those_around(set(recorder.calls.marks.at_all(numbers))))
            self._indices = {call: index for index, call in enumerate(calls)}
            self.modules = tuple(self._module_call(recorder, call) for call in calls)

    def places(self, numbers: list[int]) -> Sequence[Place | None]:
        """Return the lines that made these nodes."""
        if self._recorder is None:
            return [None] * len(numbers)
        found = self._recorder.places(numbers)
        self._blocks.update({place.block for place in found if place is not None})
        return found

    def modules_of(self, numbers: list[int]) -> list[int | None]:
        """Return the indices in `modules` of the innermost calls that made these nodes."""
        if self._recorder is None or not self._indices:
            return [None] * len(numbers)
        return list(map(self._indices.get, self._recorder.calls.marks.at_all(numbers)))

    def orders(self, numbers: list[int]) -> list[int]:
        """Return 1 for each node of a forward pass, 2 for one that a backward of it made, and so on."""
        return self._recorder.backward.orders(numbers) if self._recorder is not None else [1] * len(numbers)

    def inside(self, node: Node) -> str:
        """Return the operation that wrote in place, for a CopySlices node; empty where it is not known.

        PyTorch tells from 2.14 on. Before, the recorded call tells, or else the statement, if one thing in it writes.
        """
        wrapped = getattr(node, "_wrapped_node", None)
        if wrapped is not None:
            return operation(wrapped.name())
        if self._recorder is None:
            return ""
        number = self._walk.certain[self._walk.places[node]]
        if number == NOTHING:
            return ""
        call = self._write(number)
        if call is not None:
            return _IN_PLACE.get(call.name) or call.name.removesuffix("_")
        statement = self._recorder.statement(number)
        written = operations_in_place(statement) if statement is not None else []
        made = self._copy_slices_by_mark[self._recorder.lines.at(number)]
        return written[made.index(number)] if len(written) == len(made) else ""

    def _write(self, number: int) -> TorchCall | None:
        """Return the recorded call of an in-place function that made a node."""
        at = bisect_right(self._writes, number, key=lambda call: call.first) - 1
        return self._writes[at] if at >= 0 and number < self._writes[at].end else None

    @cached_property
    def _writes(self) -> list[TorchCall]:
        inputs = self._recorder.inputs if self._recorder is not None else None
        calls = inputs.calls if inputs is not None else []
        return sorted((call for call in calls if call.name.endswith("_")), key=lambda call: call.first)

    @cached_property
    def _copy_slices_by_mark(self) -> dict[int, list[int]]:
        """The creation numbers of the CopySlices nodes that each run of a statement made, in order."""
        lines = self._recorder.lines if self._recorder is not None else Marks()
        found: dict[int, list[int]] = {}
        for node, number in sorted(zip(self._walk.nodes, self._walk.certain, strict=True), key=lambda pair: pair[1]):
            if type(node).__name__ == "CopySlices":
                found.setdefault(lines.at(number), []).append(number)
        return found

    def defined(self, node: Node) -> Place | None:
        """Return where the forward of a custom function stands, if that is in a block or in a project module."""
        forward: object = getattr(getattr(node, "_forward_cls", None), "forward", None)
        code = getattr(forward, "__code__", None)
        if self._recorder is None or not isinstance(code, CodeType):
            return None
        return self._recorder.place_of(code)

    def lines(self) -> tuple[LineRun, ...]:
        """Return how often the statements ran of the blocks that have been told by `places`."""
        return self._recorder.runs(frozenset(self._blocks)) if self._recorder is not None else ()

    def _with_those_around(self, calls: set[int]) -> set[int]:
        found: set[int] = set()
        for call in calls:
            around = call
            while around != NOTHING and around not in found and self._recorder is not None:
                found.add(around)
                _, _, around = self._recorder.calls.call(around)
        return found

    def _module_call(self, recorder: Recorder, call: int) -> ModuleCall:
        called, number, parent = recorder.calls.call(call)
        known = self._called.get(id(called))
        if known is None:
            known = self._called[id(called)] = self._path_and_size(called)
        return ModuleCall(known[0], called.kind, number, self._indices.get(parent), known[1])

    def _path_and_size(self, called: CalledModule) -> tuple[str, int]:
        module = called.reference()
        if module is None:
            return called.path, called.parameters
        return self._names.of_module(module) or called.path, count_parameters(module)
