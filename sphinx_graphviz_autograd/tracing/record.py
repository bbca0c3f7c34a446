"""What ran when: while the author's code runs, notes which nodes each line, each module and each backward made.

PyTorch numbers its nodes as it makes them, so whatever knows the number before and after something ran knows which
nodes it made. Nothing is added to the graph, and the forward pass runs as it would without.
"""

from __future__ import annotations

import dis
import linecache
import sys
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Self

from sphinx_graphviz_autograd.model import CaptureOptions, LineRun, Place
from sphinx_graphviz_autograd.quick import quick
from sphinx_graphviz_autograd.tracing.assigned import Assigned
from sphinx_graphviz_autograd.tracing.backward import Backward
from sphinx_graphviz_autograd.tracing.frames import TorchFrames
from sphinx_graphviz_autograd.tracing.inputs import Inputs
from sphinx_graphviz_autograd.tracing.marks import NOTHING, Marks
from sphinx_graphviz_autograd.tracing.modules import ModuleCalls
from sphinx_graphviz_autograd.tracing.source import Block, Statement
from sphinx_graphviz_autograd.tracing.threads import OtherThreads

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType, TracebackType

    from _typeshed import TraceFunction

PLAIN = CaptureOptions()
"""Nothing beyond the graph itself."""

_ITERATIONS = 1 << 32
"""A mark of a line is the statement's index times this, plus the iteration."""

_RESUMABLE = 0x20 | 0x80 | 0x100 | 0x200
"""The flags of code that can be left and entered again: generators and coroutines."""

_place = quick(Place)


class _Running:
    """A call of the author's code that has not returned: which of its statements is running."""

    __slots__ = ("_rounds", "by_line", "call", "is_global", "mark", "statement")

    def __init__(self, block: Block, call: int, *, is_global: bool) -> None:
        self.by_line = block.by_line
        self.call = call
        self.is_global = is_global
        self.statement: Statement | None = None
        self.mark = NOTHING
        self._rounds: dict[int, int] = {}

    def begin(self, statement: Statement, *, anew: bool) -> int:
        """Note that a statement runs now, or is reached once more, and return its mark; in a loop, runs are counted."""
        self.statement = statement
        index = statement.index
        iteration = 1
        if statement.in_loop:
            self._rounds[index] = iteration = self._rounds.get(index, 0) + anew
        self.mark = index * _ITERATIONS + iteration
        return self.mark


class Recorder:
    """Records the blocks of one session while they run: `with recorder: exec(code, namespace)`, once for each.

    Lines are noted by a trace function on the frames of the blocks, modules and backward passes by the same on a few
    functions of PyTorch's; all in the thread that entered the recorder. Tensors and modules are not kept alive.
    """

    def __init__(self, options: CaptureOptions = PLAIN, *, folder: str = "") -> None:
        """Make a recorder; `folder` is the absolute folder to which paths of project modules are relative."""
        self.options = options
        self.folder = folder
        self.blocks: dict[str, Block] = {}
        """The blocks, by the file names under which they were compiled."""
        self.lines = Marks()
        """The running statement and its iteration, by creation number."""
        self.entered = Marks()
        """Which call of its function the running statement is in, by creation number."""
        self.calls = ModuleCalls()
        """The calls of modules."""
        self.assigned = Assigned()
        """The names that were given."""
        self.backward = Backward()
        """The backward passes."""
        self.inputs = Inputs(self.assigned, self._current_place) if options.data else None
        """The inputs that need no gradient, if they were asked for."""
        self.threads = OtherThreads()
        """The threads that the author's code starts, in which nothing is recorded."""
        frames = TorchFrames(self.calls, self.assigned, self.backward, self.inputs)
        self._watched: dict[str, Block | tuple[str, Callable[[FrameType], TraceFunction | None]]] = {**frames.watched()}
        self._statements: list[Statement] = []
        self._running: list[_Running] = []
        self._called: dict[CodeType, int] = {}
        self._resumable: dict[int, _Running] = {}
        self._trace_line = self._line
        self._outer_trace = sys.gettrace()

    def add_block(self, filename: str, number: int, source: str) -> None:
        """Make a block known before it runs, compiled as `compile(source, filename, "exec")`.

        Raises:
            SyntaxError: the source does not compile.
        """
        block = Block(number, source, len(self._statements))
        self.blocks[filename] = self._watched[filename] = block
        self._statements.extend(block.statements)

    def __enter__(self) -> Self:
        """Start recording in this thread."""
        self._outer_trace = sys.gettrace()
        if self.inputs is not None:
            self.inputs.__enter__()
        self.threads.__enter__()
        sys.settrace(self._enter_frame)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop recording; what is made from now on belongs to no line."""
        sys.settrace(self._outer_trace)
        self.threads.__exit__(kind, error, traceback)
        if self.inputs is not None:
            self.inputs.__exit__(kind, error, traceback)
        self._running.clear()
        self.lines.mark(NOTHING)
        self.entered.mark(NOTHING)

    def place(self, number: int) -> Place | None:
        """Return the line that made the node with this creation number; None if none of a block did."""
        return self._place(self.lines.at(number), self.entered.at(number))

    def places(self, numbers: list[int]) -> list[Place | None]:
        """Return the lines that made the nodes with these creation numbers; equal ones are one object."""
        return list(map(cache(self._place), self.lines.at_all(numbers), self.entered.at_all(numbers)))

    def statement(self, number: int) -> Statement | None:
        """Return the statement that made the node with this creation number."""
        mark = self.lines.at(number)
        return None if mark == NOTHING else self._statements[mark // _ITERATIONS]

    def place_of(self, code: CodeType) -> Place | None:
        """Return where code was written, if that is in a block, or in a file under the document's folder."""
        block = self.blocks.get(code.co_filename)
        if block is not None:
            statement = block.by_line.get(code.co_firstlineno)
            return Place(block.number, statement.definition if statement is not None else code.co_firstlineno)
        path = PurePath(code.co_filename)
        if not self.folder or not path.is_relative_to(self.folder):
            return None
        return Place(-1, _line_of_def(code), file=path.relative_to(self.folder).as_posix())

    def _place(self, mark: int, call: int) -> Place | None:
        if mark == NOTHING:
            return None
        statement = self._statements[mark // _ITERATIONS]
        return _place(statement.block, statement.line, mark % _ITERATIONS, "", call)

    def _current_place(self) -> Place | None:
        return self._place(self._running[-1].mark, self._running[-1].call) if self._running else None

    def runs(self, blocks: frozenset[int]) -> tuple[LineRun, ...]:
        """Return how often each statement of these blocks ran, those that never ran included."""
        return tuple(
            LineRun(statement.block, statement.line, statement.times)
            for statement in sorted(self._statements, key=lambda statement: (statement.block, statement.line))
            if statement.block in blocks
        )

    def _enter_frame(self, frame: FrameType, _event: str, _argument: object) -> TraceFunction | None:
        """Trace the frames of the blocks; called for every Python call in the thread, so quick to say no."""
        code = frame.f_code
        block = self._watched.get(code.co_filename)
        if block is None:
            return None
        if isinstance(block, tuple):
            name, enter = block
            return enter(frame) if code.co_name == name else None
        if code.co_name[0] == "<" and code.co_name != "<module>":
            return None  # a comprehension or lambda, which belongs to the statement that runs it
        running = self._call(frame, block)
        self._running.append(running)
        self.entered.mark(running.call)
        if running.mark != NOTHING:
            self.lines.mark(running.mark)
        return self._trace_line

    def _call(self, frame: FrameType, block: Block) -> _Running:
        """Return a new call, or one that goes on where it was left."""
        code = frame.f_code
        if code.co_flags & _RESUMABLE and frame.f_lasti >= _first_yield(code):
            left = self._resumable.get(id(frame))
            if left is not None:
                return left
        call = 1
        if code.co_name != "<module>":
            self._called[code] = call = self._called.get(code, 0) + 1
        running = _Running(block, call, is_global=code.co_name == "<module>")
        if code.co_flags & _RESUMABLE:
            self._resumable[id(frame)] = running
        return running

    def _line(self, frame: FrameType, event: str, _argument: object) -> TraceFunction | None:
        """Note that another statement of a block runs now, and what the one before it assigned."""
        running = self._running[-1]
        before = running.statement
        if event == "line":
            statement = running.by_line.get(frame.f_lineno)
            if statement is None or (statement is before and not statement.repeats_on_line):
                return self._trace_line
            if before is not None and before.targets:
                self.assigned.note(before, frame.f_locals, is_global=running.is_global)
            again = statement.is_with and before is not None and statement.line < before.line <= statement.last
            statement.times += not again
            self.lines.mark(running.begin(statement, anew=not again))
        elif event == "return":
            if before is not None and before.targets:
                self.assigned.note(before, frame.f_locals, is_global=running.is_global)
            self._running.pop()
            self.lines.mark(self._running[-1].mark if self._running else NOTHING)
            self.entered.mark(self._running[-1].call if self._running else NOTHING)
        return self._trace_line


@cache
def _first_yield(code: CodeType) -> int:
    """Return where in a generator or coroutine it can first be left; what stands before has just begun."""
    return next((at.offset for at in dis.get_instructions(code) if at.opname in {"YIELD_VALUE", "SEND"}), sys.maxsize)


def _line_of_def(code: CodeType) -> int:
    """Return the line of `def` of a function in a file, before which its decorators stand."""
    line = code.co_firstlineno
    while text := linecache.getline(code.co_filename, line):
        if text.lstrip().startswith(("def ", "async def ")):
            return line
        line += 1
    return code.co_firstlineno
