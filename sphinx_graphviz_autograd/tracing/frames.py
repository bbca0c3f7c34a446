"""The functions of PyTorch's own that are watched while the author's code runs: modules, backward passes, and the like.

A trace function sees their frames, so that nothing has to be registered with PyTorch: global module hooks would make
`torch.compile` warn, and run code of ours within every module.
"""

from __future__ import annotations

import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

import torch
from torch import overrides
from torch.autograd import graph

from sphinx_graphviz_autograd.tracing.marks import next_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType, FrameType

    from _typeshed import TraceFunction

    from sphinx_graphviz_autograd.tracing.assigned import Assigned
    from sphinx_graphviz_autograd.tracing.backward import Backward
    from sphinx_graphviz_autograd.tracing.inputs import Inputs
    from sphinx_graphviz_autograd.tracing.modules import ModuleCalls

_CALL = torch.nn.Module._call_impl.__code__  # noqa: SLF001 -- all calls of modules go through it
_ENGINE = graph._engine_run_backward.__code__  # noqa: SLF001 -- all backward passes go through it
_APPLY: CodeType = vars(torch.autograd.Function)["apply"].__func__.__code__
_COMPILED = str(PurePath(torch.__file__).with_name("_dynamo") / "eval_frame.py")  # importing it would take a second


_current_mode = cast("Callable[[], object]", overrides._get_current_function_mode)  # noqa: SLF001 -- no public way


class TorchFrames:
    """Notes when PyTorch's own functions run."""

    def __init__(self, calls: ModuleCalls, assigned: Assigned, backward: Backward, inputs: Inputs | None) -> None:
        self._calls = calls
        self._assigned = assigned
        self._backward = backward
        self._inputs = inputs
        self._leave_module_function = self._leave_module
        self._outer_trace: TraceFunction | None = None
        self._has_left_mode = False
        self._first = 0

    def watched(self) -> dict[str, tuple[str, Callable[[FrameType], TraceFunction | None]]]:
        """Return the files to watch, each with the function that matters and what is to be called when it begins."""
        return {
            _CALL.co_filename: (_CALL.co_name, self._enter_module),
            _ENGINE.co_filename: (_ENGINE.co_name, self._enter_engine),
            _APPLY.co_filename: (_APPLY.co_name, self._enter_custom_function),
            _COMPILED: ("compile_wrapper", self._enter_compiled),
        }

    def _enter_module(self, frame: FrameType) -> TraceFunction | None:
        """Note the call of a module, unless a checkpoint runs it again in a backward pass."""
        if self._backward.is_running:
            return None
        self._calls.begin(cast("torch.nn.Module", frame.f_locals["self"]))
        frame.f_trace_lines = False
        return self._leave_module_function

    def _leave_module(self, frame: FrameType, event: str, _argument: object) -> TraceFunction | None:
        if event == "return":
            module = cast("torch.nn.Module", frame.f_locals["self"])
            if self._calls.end(module) is not None:
                self._calls.settle(module, self._assigned)
        return self._leave_module_function

    def _enter_engine(self, frame: FrameType) -> TraceFunction | None:
        """Note a backward pass."""
        outputs, arguments = frame.f_locals["t_outputs"], cast("tuple[object, ...]", frame.f_locals["args"])
        _, _, create_graph, inputs = arguments[:4]
        self._backward.begin(outputs, inputs, create_graph=bool(create_graph))
        frame.f_trace_lines = False
        return self._leave_engine

    def _leave_engine(self, _frame: FrameType, event: str, _argument: object) -> TraceFunction | None:
        if event == "return":
            self._backward.end()
        return self._leave_engine

    def _enter_custom_function(self, frame: FrameType) -> TraceFunction | None:
        """Note the inputs of a custom function, whose node is the next to be made; no mode sees them."""
        if self._inputs is None or frame.f_code is not _APPLY or self._inputs.is_paused:
            return None
        number = next_number()
        name = cast("type", frame.f_locals["cls"]).__name__
        self._inputs.note_call(name, cast("Iterable[object]", frame.f_locals["args"]), number, number + 1)
        self._inputs.is_paused = True
        frame.f_trace_lines = False
        return self._leave_custom_function

    def _leave_custom_function(self, _frame: FrameType, event: str, _argument: object) -> TraceFunction | None:
        if event == "return" and self._inputs is not None:
            self._inputs.is_paused = False
        return self._leave_custom_function

    def _enter_compiled(self, frame: FrameType) -> TraceFunction | None:
        """Stand aside while a compiled function runs: a mode would have it compiled in another way.

        Python code of ours would even be compiled with it. `getattr(frame, "call", None)` is a trace function that
        wants to see no frame, and is no Python code.
        """
        if self._outer_trace is not None:
            return None
        self._has_left_mode = self._inputs is not None and _current_mode() is self._inputs
        if self._inputs is not None and self._has_left_mode:
            self._inputs.__exit__(None, None, None)
        self._outer_trace = sys.gettrace()
        self._first = next_number()
        sys.settrace(getattr)
        frame.f_trace_lines = False
        return self._leave_compiled

    def _leave_compiled(self, frame: FrameType, event: str, _argument: object) -> TraceFunction | None:
        if event == "return":
            sys.settrace(self._outer_trace)
            self._outer_trace = None
            if self._inputs is not None and self._has_left_mode:
                arguments = cast("tuple[object, ...]", frame.f_locals["args"])
                self._inputs.note_call("compiled", arguments, self._first, next_number())
                self._inputs.__enter__()
        return self._leave_compiled
