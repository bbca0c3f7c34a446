"""Where the nodes of a graph came from: the lines, module calls and passes that made them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.model import LineRun, ModuleCall, Place
from sphinx_graphviz_autograd.tracing.marks import NOTHING
from sphinx_graphviz_autograd.tracing.modules import CalledModule, count_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sphinx_graphviz_autograd.tracing.names import Names
    from sphinx_graphviz_autograd.tracing.record import Recorder


class Origins:
    """What a recording says of the nodes of one graph, by their creation numbers; of nothing without a recording."""

    def __init__(self, recorder: Recorder | None, names: Names, numbers: Iterable[int]) -> None:
        self._recorder = recorder
        self._names = names
        self._blocks: set[int] = set()
        self._indices: dict[int, int] = {}
        self.modules: tuple[ModuleCall, ...] = ()
        """The module calls that made a node of the graph, and the calls around them, as they began."""
        if recorder is not None:
            calls = sorted(self._with_those_around({recorder.calls.marks.at(number) for number in numbers}))
            self._indices = {call: index for index, call in enumerate(calls)}
            self.modules = tuple(self._module_call(recorder, call) for call in calls)

    def place(self, number: int) -> Place | None:
        """Return the line that made a node."""
        if self._recorder is None:
            return None
        place = self._recorder.place(number)
        if place is not None:
            self._blocks.add(place.block)
        return place

    def module(self, number: int) -> int | None:
        """Return the index in `modules` of the innermost call that made a node."""
        if self._recorder is None:
            return None
        return self._indices.get(self._recorder.calls.marks.at(number))

    def lines(self) -> tuple[LineRun, ...]:
        """Return how often the statements ran of the blocks that have been told by `place`."""
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
        return ModuleCall(self._path(called), called.kind, number, self._indices.get(parent), self._size(called))

    def _path(self, called: CalledModule) -> str:
        module = called.reference()
        return (self._names.of_module(module) if module is not None else "") or called.path

    def _size(self, called: CalledModule) -> int:
        module = called.reference()
        return count_parameters(module) if module is not None else called.parameters
