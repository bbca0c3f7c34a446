"""Why a value has no graph, and which line caused it where the recording tells."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import torch

from sphinx_graphviz_autograd.model import Place
from sphinx_graphviz_autograd.refusal import Refusal
from sphinx_graphviz_autograd.tracing.nests import is_a, is_nest
from sphinx_graphviz_autograd.tracing.reading import dtype_name
from sphinx_graphviz_autograd.tracing.source import cut_in, mentions, operands, own_expressions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx_graphviz_autograd.tracing.record import Recorder
    from sphinx_graphviz_autograd.tracing.source import Statement

_OFF = frozenset({"no_grad", "inference_mode", "set_grad_enabled"})
"""What switches gradients off."""

_LONGEST_CODE = 60
"""Characters of the author's code that a message quotes."""


def refusal_of(
    expression: str,
    value: object,
    tensors: list[tuple[str, torch.Tensor]],
    namespace: Mapping[str, object],
    recorder: Recorder | None,
) -> Refusal:
    """Return why a value has no graph; for a nest, why the first of the `tensors` in it has none."""
    if tensors:
        name, tensor = tensors[0]
        return _of_tensor(name, tensor, _Cause(name, tensor, namespace, recorder))
    if value is None:
        return Refusal(expression, "none")
    if is_a(value, torch.nn.Module):
        return Refusal(expression, "module", type(value).__name__)
    if is_nest(value):
        return Refusal(expression, "empty")
    if callable(value):
        return Refusal(expression, "function")
    return Refusal(expression, "other", type(value).__name__)


def _of_tensor(name: str, tensor: torch.Tensor, cause: _Cause) -> Refusal:
    try:
        is_a_leaf = tensor.requires_grad and tensor.grad_fn is None
    except RuntimeError:
        return Refusal(name, "stale_view", place=cause.place)
    if is_a_leaf:
        return Refusal(name, "leaf", place=cause.place)
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return Refusal(name, "integer", dtype_name(tensor.dtype), cause.place)
    if tensor.is_inference():
        return Refusal(name, "inference_mode", place=cause.off())
    return cause.of_lost_history()


class _Cause:
    """What is known of how a tensor came to have no graph."""

    def __init__(
        self, name: str, tensor: torch.Tensor, namespace: Mapping[str, object], recorder: Recorder | None
    ) -> None:
        self._name = name
        self._namespace = namespace
        self._recorder = recorder
        self._known = recorder.assigned.known(tensor) if recorder is not None else None
        self._statement = self._known.statement if self._known is not None else None
        self.place = _place(self._statement)
        """The line that gave the tensor its first name."""

    def of_lost_history(self) -> Refusal:
        """Return why a tensor that could have a graph has none."""
        seen = self._seen_cut()
        if seen is not None:
            return seen
        code = self._code()
        text, variable = next((cut for node in code if (cut := cut_in(node))[0]), ("", ""))
        if text and not self._never_had_graph(variable):
            return Refusal(self._name, "detached", _short(text), self.place)
        if self._known is not None and self._statement is not None and not self._known.grad_enabled:
            return Refusal(self._name, "no_grad_mode", place=self.off())
        if any(mentions(node, frozenset({"grad"})) for node in code):
            return Refusal(self._name, "gradient", place=self.place)
        for node in code:
            if any(self._requires_grad(self._namespace.get(operand)) for operand in operands(node)):
                return Refusal(self._name, "untracked", _short(ast.unparse(_value(node))), self.place)
        return Refusal(self._name, "no_grad_input", place=self.place)

    def off(self) -> Place | None:
        """Return the line that switched gradients off around the line that named the tensor, else that line."""
        if self._statement is None or self._recorder is None:
            return None
        for block in self._recorder.blocks.values():
            if block.number == self._statement.block:
                for statement in block.around(self._statement.line):
                    if any(mentions(part, _OFF) for node in statement.nodes for part in own_expressions(node)):
                        return _place(statement)
        return self.place

    def _seen_cut(self) -> Refusal | None:
        """Return the cut that the recording saw, if it looked at every call."""
        known = self._known
        while known is not None and not known.cut:
            known = known.sources[0] if len(known.sources) == 1 else None
        if known is None:
            return None
        if known.cut == "no_grad":
            return Refusal(self._name, "no_grad_mode", place=known.place)
        return Refusal(self._name, "detached", known.cut, known.place)

    def _code(self) -> list[ast.AST]:
        """Return the code that made the tensor: the expression asked for, or else the statement that named it."""
        try:
            expression = ast.parse(self._name, mode="eval").body
        except (SyntaxError, ValueError):
            expression = ast.Name(self._name)
        if not isinstance(expression, ast.Name):
            return [expression]
        return [*self._statement.nodes] if self._statement is not None else []

    def _never_had_graph(self, variable: str) -> bool:
        value = self._namespace.get(variable)
        if not is_a(value, torch.Tensor) or self._recorder is None:
            return False
        return not self._requires_grad(value) and variable not in self._recorder.assigned.named_functions()

    def _requires_grad(self, value: object) -> bool:
        if is_a(value, torch.Tensor):
            return value.requires_grad
        return is_a(value, torch.nn.Module) and any(map(self._requires_grad, value.parameters()))


def _place(statement: Statement | None) -> Place | None:
    return Place(statement.block, statement.line) if statement is not None else None


def _value(node: ast.AST) -> ast.AST:
    """Return the right-hand side of an assignment."""
    value: object = getattr(node, "value", node)
    return value if isinstance(value, ast.AST) else node


def _short(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) <= _LONGEST_CODE else f"{line[: _LONGEST_CODE - 3]}..."
