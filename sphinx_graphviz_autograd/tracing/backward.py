"""Which nodes the backward passes made, and of which order they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.autograd.graph import GradientEdge

from sphinx_graphviz_autograd.tracing.marks import OF_LEAVES, Marks, next_number
from sphinx_graphviz_autograd.tracing.nests import flat, is_a

if TYPE_CHECKING:
    from torch.autograd.graph import Node


class Backward:
    """The backward passes that ran while recording."""

    def __init__(self) -> None:
        self.marks = Marks()
        """The order of what is being made, by creation number; `NOTHING` in a forward pass."""
        self._running: list[int] = []
        self._first: int | None = None
        """Creation number of the first node that a backward made."""

    @property
    def is_running(self) -> bool:
        """Whether a backward pass is running, in which checkpoints call modules once more."""
        return bool(self._running)

    def begin(self, outputs: object, inputs: object, *, create_graph: bool) -> None:
        """Note that a backward pass begins; `inputs` is where it stops, if anywhere."""
        order = 2
        if create_graph:
            if self._first is not None:
                order = 1 + self._highest_order(_nodes(outputs), _nodes(inputs), self._first)
            else:
                self._first = next_number()
        self._running.append(order)
        self.marks.mark(order)

    def end(self) -> None:
        """Note that the innermost backward pass ends."""
        self._running.pop()
        self.marks.mark(self._running[-1] if self._running else -1)

    def order(self, number: int) -> int:
        """Return 1 for a node of a forward pass, 2 for one that the backward of such nodes made, and so on."""
        return max(self.marks.at(number), 1)

    def orders(self, numbers: list[int]) -> list[int]:
        """Return the order of each of these nodes."""
        marks = self.marks.at_all(numbers)
        return list(map({mark: max(mark, 1) for mark in set(marks)}.__getitem__, marks))

    def _highest_order(self, outputs: set[Node], inputs: set[Node], first: int) -> int:
        """Return the highest order between outputs and inputs; what is older than `first` leads to order 1 only."""
        highest = 1
        seen = set(inputs)
        waiting = list(outputs)
        while waiting:
            node = waiting.pop()
            number = node._sequence_nr()  # noqa: SLF001 -- no public way to a node's creation number
            if node in seen or not first <= number < OF_LEAVES:
                continue
            seen.add(node)
            highest = max(highest, self.order(number))
            waiting.extend(source for source, _ in node.next_functions if source is not None)
        return highest


def _nodes(values: object) -> set[Node]:
    """Return the functions behind what was given to a backward pass: tensors or gradient edges.

    Leaves have none. To ask for the node that accumulates their gradient makes a view of them, which is an operation
    that a dispatch mode would see, and that sparse and nested tensors do not have.
    """
    found = set()
    with torch._C.DisableTorchFunction():  # noqa: SLF001 -- subclasses must not see us look
        for value in flat((values,)):
            if is_a(value, GradientEdge):
                found.add(value.node)
            elif is_a(value, torch.Tensor):
                try:
                    grad_fn = value.grad_fn
                except RuntimeError:  # a stale view
                    continue
                if grad_fn is not None:
                    found.add(grad_fn)
    return found
