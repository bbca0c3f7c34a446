"""The gradients of the outputs with regard to everything, by one backward pass that keeps its hands off `.grad`.

The backward pass is a real one, so that the backward of a custom function runs in it, and the forward of a checkpoint.
Hooks are left out, since they are there for what they do beside. The graph can be used afterwards as before.
"""

from __future__ import annotations

import gc
import math
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import torch

from sphinx_graphviz_autograd.model import Gradient
from sphinx_graphviz_autograd.tracing.hooks import hooks_left_out
from sphinx_graphviz_autograd.tracing.reading import sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch.utils.hooks import RemovableHandle

    from sphinx_graphviz_autograd.tracing.walk import Walk

_MOST_VALUES = 9
"""Numbers of a gradient that are shown; of larger ones, the norm."""


@dataclass(slots=True)
class Gradients:
    """What one backward pass brought, by the place of a node among those of the graph."""

    seed: Literal["", "scalar", "ones"] = ""
    """What it was started with; empty if it could not be run."""
    outputs: dict[int, tuple[Gradient | None, ...]] = field(default_factory=dict)
    """What arrived for each output of a function."""
    slots: dict[int, tuple[Gradient | None, ...]] = field(default_factory=dict)
    """What a function gave back for each of its inputs."""
    leaves: dict[int, Gradient] = field(default_factory=dict)
    """What arrived at a leaf."""
    problem: str = ""
    """Why it could not be run, in PyTorch's words."""
    hooks_left_out: bool = False
    """Whether there were hooks on the way, which did not run."""


def gradients(outputs: Sequence[torch.Tensor], walk: Walk) -> Gradients:
    """Run the backward pass of `outputs` and return the gradients at what they lead to; never raises."""
    found = Gradients()
    leaves = walk.leaves
    states = torch.get_rng_state(), random.getstate()
    retained = _retained()
    handles: list[RemovableHandle] = []
    try:
        with hooks_left_out() as stand_in, torch.enable_grad():
            handles.extend(_watch(walk, found))
            results = torch.autograd.grad(
                [*outputs],
                [*leaves.values()],
                [torch.ones_like(output) for output in outputs],
                retain_graph=True,
                allow_unused=True,
            )
    except Exception as error:  # noqa: BLE001 -- the backward of custom functions and hooks are the author's code
        text = str(error).partition("\n")[0].partition(" Hint:")[0].rstrip(".")
        return Gradients(problem=f"{type(error).__name__}: {text}")
    finally:
        for handle in handles:
            handle.remove()
        for tensor, before in retained:
            tensor.grad = before
        torch.set_rng_state(states[0])
        random.setstate(states[1])
    found.hooks_left_out = stand_in.was_called
    found.leaves = {
        at: gradient for at, result in zip(leaves, results, strict=True) if (gradient := _gradient(result)) is not None
    }
    found.seed = "scalar" if all(output.numel() == 1 for output in outputs) else "ones"
    return found


def _watch(walk: Walk, found: Gradients) -> Iterator[RemovableHandle]:
    """Have what passes through the functions noted."""
    for at, node in enumerate(walk.nodes):
        if at not in walk.leaves:
            watch = _Watch(at, found)
            yield node.register_prehook(watch.before)
            yield node.register_hook(watch.after)


class _Watch:
    """Notes what passes through one function, and keeps no tensor of it."""

    __slots__ = ("_at", "_found")

    def __init__(self, at: int, found: Gradients) -> None:
        self._at = at
        self._found = found

    def before(self, arrived: tuple[torch.Tensor | None, ...]) -> None:
        self._found.outputs[self._at] = tuple(map(_gradient, arrived))

    def after(self, given: tuple[torch.Tensor | None, ...], _arrived: object) -> None:
        self._found.slots[self._at] = tuple(map(_gradient, given))


def _retained() -> list[tuple[torch.Tensor, torch.Tensor | None]]:
    """Return the tensors whose `.grad` a backward pass would fill, with what is there.

    PyTorch does not tell which functions fill one, so all tensors that are alive are asked.
    """
    tensors = [value for value in gc.get_objects() if issubclass(type(value), torch.Tensor)]
    return [(tensor, tensor.grad) for tensor in tensors if tensor.retains_grad]


def _gradient(value: torch.Tensor | None) -> Gradient | None:
    """Return a gradient as plain data; of one that has no plain numbers, the shape alone."""
    if value is None or (value.is_nested and value.layout == torch.strided):
        return None
    shape = sizes(value.shape)
    if value.is_nested or value.is_meta:
        return Gradient(shape)
    numbers = value.detach()
    if numbers.layout != torch.strided:
        numbers = numbers.coalesce().values() if numbers.layout == torch.sparse_coo else numbers.to_dense()
    size = numbers.abs().double()
    norm = torch.linalg.vector_norm(size).item()
    whole = value.numel() <= _MOST_VALUES and value.layout == torch.strided
    return Gradient(shape, _values(numbers.tolist()) if whole else "", _number(norm), tuple(_marks(size)))


def _marks(size: torch.Tensor) -> Iterator[Literal["nan", "inf", "zero"]]:
    if bool(size.isnan().any()):
        yield "nan"
    if bool(size.isinf().any()):
        yield "inf"
    if size.numel() and not bool(size.any()):
        yield "zero"


def _values(numbers: object) -> str:
    if isinstance(numbers, list):
        return f"[{', '.join(map(_values, numbers))}]"
    if isinstance(numbers, complex):
        return f"{_number(numbers.real)}{'+' if math.copysign(1, numbers.imag) > 0 else ''}{_number(numbers.imag)}j"
    return _number(numbers) if isinstance(numbers, float) else str(numbers)


def _number(number: float) -> str:
    """Return a number with four digits, few enough to be the same on machines that add in another order."""
    return f"{number + 0.0:.4g}"  # `+ 0.0`: no minus before a zero
