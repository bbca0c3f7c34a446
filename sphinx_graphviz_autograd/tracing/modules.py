"""Which module was running when, and what the modules and their parameters are called."""

from __future__ import annotations

import weakref
from array import array
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from sphinx_graphviz_autograd.tracing.marks import NOTHING, Marks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx_graphviz_autograd.tracing.assigned import Assigned

_MOST_PATHS = 100_000
"""Paths followed in a module. Modules that share submodules many levels deep have more paths than anybody can read."""


@dataclass(slots=True, eq=False)
class CalledModule:
    """A module that was called while recording."""

    reference: weakref.ref[torch.nn.Module]
    """The module, which may be gone by now."""
    kind: str
    """Its class."""
    calls: int = 0
    """How often it was called."""
    path: str = ""
    """Its path from the name that its outermost module had when it was first called."""
    parameters: int = 0
    """Number of elements of its parameters."""


class ModuleCalls:
    """The calls of modules, in the order in which they began."""

    def __init__(self) -> None:
        self.marks = Marks()
        """The index of the innermost call, by creation number."""
        self.modules: list[CalledModule] = []
        """The modules in the order of their first calls."""
        self._by_id: dict[int, int] = {}
        self._open: list[int] = []
        self._modules = array("q")
        self._numbers = array("q")
        self._parents = array("q")

    def begin(self, module: torch.nn.Module) -> None:
        """Note that a call begins."""
        at = self._by_id.get(id(module))
        if at is None or self.modules[at].reference() is not module:
            at = self._by_id[id(module)] = len(self.modules)
            self.modules.append(CalledModule(weakref.ref(module), type(module).__name__))
        called = self.modules[at]
        called.calls += 1
        call = len(self._modules)
        self._modules.append(at)
        self._numbers.append(called.calls)
        self._parents.append(self._open[-1] if self._open else NOTHING)
        self._open.append(call)
        self.marks.mark(call)

    def end(self, module: torch.nn.Module) -> CalledModule | None:
        """Note that a call ends; return the module if it was its first, with no other around it."""
        self._open.pop()
        self.marks.mark(self._open[-1] if self._open else NOTHING)
        called = self.modules[self._by_id[id(module)]]
        return called if called.calls == 1 and not self._open else None

    def settle(self, module: torch.nn.Module, assigned: Assigned) -> None:
        """Keep paths and sizes of a module and of those in it, since the module may be gone when they are asked for.

        Its tensors get a name, or at least a hint of what held them.
        """
        known = assigned.known(module)
        name = min(known.names.values(), key=lambda name: name.rank, default=None) if known is not None else None
        for path, inner in submodules(module, name.text if name is not None else ""):
            called = self.find(inner)
            if called is not None and not called.parameters:
                called.path = called.path or path
                called.parameters = count_parameters(inner)
            for key, tensor in own_tensors(inner):
                if tensor.grad_fn is None:
                    held = assigned.remember(tensor)
                    held.hint = held.hint or f"{key} in {type(inner).__name__}"
                    if name is not None:
                        held.held_as = held.held_as or replace(name, text=join(path, key))

    def find(self, module: torch.nn.Module) -> CalledModule | None:
        """Return what is known of a module; None if it was never called."""
        at = self._by_id.get(id(module))
        return self.modules[at] if at is not None and self.modules[at].reference() is module else None

    def call(self, index: int) -> tuple[CalledModule, int, int]:
        """Return module, number and parent of a call."""
        return self.modules[self._modules[index]], self._numbers[index], self._parents[index]


def submodules(module: torch.nn.Module, name: str) -> Iterator[tuple[str, torch.nn.Module]]:
    """Yield the module and all in it with their paths, once for each path, outer ones first."""
    waiting: list[tuple[str, torch.nn.Module, tuple[int, ...]]] = [(name, module, ())]
    for _ in range(_MOST_PATHS):
        if not waiting:
            return
        path, inner, around = waiting.pop()
        yield path, inner
        children: dict[str, torch.nn.Module | None] | None = inner.__dict__.get("_modules")
        if children:
            around = (*around, id(inner))
            waiting.extend(
                (join(path, key), child, around)
                for key, child in reversed(children.items())
                if child is not None and id(child) not in around
            )


def own_tensors(module: torch.nn.Module) -> list[tuple[str, torch.Tensor]]:
    """Return the module's own parameters and buffers with their names."""
    tables = module.__dict__
    held = {**tables.get("_parameters", {}), **tables.get("_buffers", {})}
    return [(key, tensor) for key, tensor in held.items() if tensor is not None]


def join(path: str, key: str) -> str:
    """Return the path of the child `key` of the module at `path`."""
    return f"{path}.{key}" if path else key


def count_parameters(module: torch.nn.Module) -> int:
    """Return the number of elements of the module's parameters, each counted once."""
    found: dict[int, int] = {}
    seen: set[int] = set()
    waiting = [module]
    while waiting:
        inner = waiting.pop()
        seen.add(id(inner))
        for parameter in inner.__dict__.get("_parameters", {}).values():
            if parameter is not None and not torch.nn.parameter.is_lazy(parameter):
                found[id(parameter)] = parameter.numel()
        children = inner.__dict__.get("_modules", {}).values()
        waiting.extend([child for child in children if child is not None and id(child) not in seen])
    return sum(found.values())
