"""The hooks in a graph, kept from running while its gradients are computed, since what they do must not be done twice.

PyTorch keeps the hooks of a tensor or function in a dict, which it reads at each backward pass, but lists these dicts
nowhere: that of a tensor which is gone is held by the function that made it alone. So they are looked for among all
objects that are alive, by what they hold and by who holds them.
"""

from __future__ import annotations

import gc
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import torch
from torch.autograd.graph import Node

if TYPE_CHECKING:
    from collections.abc import Iterator

Hooks: TypeAlias = "OrderedDict[int, object]"


class StandIn:
    """Stands where a hook was, notes whether it is called, and leaves the gradients as they are."""

    def __init__(self) -> None:
        self.was_called = False
        """Whether a hook would have run."""

    def __call__(self, *_gradients: object) -> None:
        """Note that a hook would have run now."""
        self.was_called = True


@contextmanager
def hooks_left_out() -> Iterator[StandIn]:
    """Let no hook on a tensor or a function run; what was asked of them is told by the object that is given.

    The hooks are where they were afterwards, in their order. Those that C++ code registered cannot be kept out.
    """
    stand_in = StandIn()
    kept = [(hooks, dict(hooks)) for hooks in _all_hooks()]
    try:
        for hooks, own in kept:
            hooks.update(dict.fromkeys(own, stand_in))
        yield stand_in
    finally:
        for hooks, own in kept:
            hooks.update({key: hook for key, hook in own.items() if key in hooks})


def _all_hooks() -> list[Hooks]:
    """Return the dicts of hooks that no Python object holds but tensors and functions; modules hold others."""
    found: list[Hooks] = [value for value in gc.get_objects() if type(value) is OrderedDict and _has_hooks(value)]
    if not found:
        return []
    owners = [owner for owner in gc.get_referrers(*found) if owner is not found and not _may_hold(type(owner))]
    owned = {id(value) for value in gc.get_referents(*owners)}
    return [hooks for hooks in found if id(hooks) not in owned]


def _has_hooks(value: OrderedDict[object, object]) -> bool:
    return bool(value) and all(type(key) is int and callable(hook) for key, hook in value.items())


def _may_hold(kind: type) -> bool:
    return issubclass(kind, torch.Tensor) or issubclass(kind, Node)
