"""The order in which backward is told is the order in which PyTorch's engine goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from sphinx_graphviz_autograd.drawing.backward import backward_order
from sphinx_graphviz_autograd.drawing.passes import View, apply
from sphinx_graphviz_autograd.model import GradFn, Leaf
from sphinx_graphviz_autograd.tracing.capture import capture
from tests.drawing.graphs import prediction

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


def branches(w: Tensor, b: Tensor) -> Tensor:
    """Return a value whose branches differ in length, and are used out of order."""
    late = (w * b).exp()
    early = w.sin()
    return (late * early + b.cos()).sum() + early.mean()


def recurrence(w: Tensor, b: Tensor) -> Tensor:
    """Return a value made in a loop over shared leaves."""
    h = b
    for _ in range(4):
        h = torch.tanh(h * w) + b
    return h.sum()


def diamond(w: Tensor, b: Tensor) -> Tensor:
    """Return a value both of whose inputs are made of the same tensor."""
    h = w * b
    return ((h + 1) * (h - 1)).sum()


@pytest.mark.parametrize("made", [branches, recurrence, diamond])
def test_order_is_that_of_the_engine(made: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Functions by their numbers of creation, the last first, and leaves as soon as their gradients are complete."""
    w, b = torch.ones(3, requires_grad=True), torch.full((3,), 2.0, requires_grad=True)
    value = made(w, b)
    graph = capture({"value": value}, namespace={"w": w, "b": b}).graph
    assert graph is not None
    visited: list[str | int] = []
    numbers = watch(value, visited)
    for name, leaf in (("w", w), ("b", b)):
        leaf.register_post_accumulate_grad_hook(  # type: ignore[no-untyped-call]  # torch has no types for it
            lambda _, name=name: visited.append(name)
        )

    value.backward()  # type: ignore[no-untyped-call]  # nor for this

    ranks = {number: rank for rank, number in enumerate(sorted(numbers))}
    engine = [one if isinstance(one, str) else ranks[one] for one in visited]
    told = [graph.by_id[id_] for id_ in backward_order(graph)]
    assert [
        node.names[0] if isinstance(node, Leaf) else node.sequence for node in told if isinstance(node, Leaf | GradFn)
    ] == engine


def watch(value: Tensor, visited: list[str | int]) -> list[int]:
    """Let each function behind a value note its number when the engine comes by, and return all numbers."""
    numbers: list[int] = []
    seen = set()
    stack = [value.grad_fn]
    while stack:
        node = stack.pop()
        if node is None or node in seen or type(node).__name__ == "AccumulateGrad":
            continue
        seen.add(node)
        number = node._sequence_nr()
        numbers.append(number)
        node.register_prehook(lambda _, number=number: visited.append(number))
        stack.extend(source for source, _ in node.next_functions)
    return numbers


def test_outputs_come_first_and_what_no_gradient_reaches_is_left_out() -> None:
    """The walk starts at the output and ends at the leaves."""
    assert backward_order(prediction()) == ("n0", "n1", "n2", "n3", "n4")


def test_functions_that_accumulate_are_visited_as_soon_as_they_are_ready() -> None:
    """As boxes of their own they come before any other function, as in the engine."""
    drawn = apply(prediction(), View(show=frozenset({"accumulate", "plumbing"})))

    assert backward_order(drawn) == ("n0", "n1", "n2a", "n2", "n3", "n4a", "n4")
