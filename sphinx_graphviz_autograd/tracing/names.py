"""What the tensors of a graph are called: from the recording, the variables at the end, modules, nests and objects."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

import torch

from sphinx_graphviz_autograd.tracing.assigned import GLOBAL, POOR, Name
from sphinx_graphviz_autograd.tracing.modules import join, own_tensors, submodules
from sphinx_graphviz_autograd.tracing.nests import attributes, is_a, is_nest, items

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from torch.autograd.graph import Node

    from sphinx_graphviz_autograd.tracing.assigned import Known, Origin
    from sphinx_graphviz_autograd.tracing.record import Recorder

_LARGEST_NEST = 10_000
"""Items of a nest that are looked at for names."""

_DEEPEST_NEST = 3
"""Nests within nests that are looked at for names."""

_NEVER_NAMES = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, str, bytes, int, float)
"""What is not looked into: it holds no tensors of the author's, or too many that are not."""

_MODULE_TABLES = frozenset({"_parameters", "_buffers", "_modules"})


class Names:
    """The names of tensors, outputs of functions, and modules, as they are when a graph is captured."""

    def __init__(self, namespace: Mapping[str, object], recorder: Recorder | None) -> None:
        self._recorder = recorder
        self._tensors: dict[int, list[Name]] = {}
        self._outputs: dict[tuple[Node, int], list[Name]] = {}
        self._modules: dict[int, str] = {}
        self._alive: list[object] = []  # what the tables know by id must not be replaced by something else
        for position, (variable, value) in enumerate(list(namespace.items())):
            if variable.startswith("__") or issubclass(type(value), _NEVER_NAMES):
                continue
            self._look_at(value, variable, self._rank(variable, position))

    def _rank(self, variable: str, position: int) -> tuple[int, int]:
        """Return kind and time of the names that begin with a variable."""
        if variable.startswith("_"):
            return POOR, position
        if self._recorder is None:
            return GLOBAL, position
        assigned = self._recorder.assigned
        return POOR if variable in assigned.passing else GLOBAL, assigned.times.get(variable, position)

    def _look_at(self, value: object, text: str, rank: tuple[int, int]) -> None:
        for name, tensor in self._tensors_in(value, text):
            self._alive.append(tensor)
            try:
                grad_fn = tensor.grad_fn
            except RuntimeError:  # a stale view
                continue
            name_of = Name(*rank, name)
            if grad_fn is None:
                self._tensors.setdefault(id(tensor), []).append(name_of)
            else:
                self._outputs.setdefault((grad_fn, tensor.output_nr), []).append(name_of)

    def _tensors_in(self, value: object, text: str) -> Iterator[tuple[str, torch.Tensor]]:
        """Yield the tensors that a variable reaches: itself, items, parameters, attributes one level deep."""
        waiting: list[tuple[str, object, int]] = [(text, value, 0)]
        seen: set[int] = set()
        while waiting:
            name, held, depth = waiting.pop()
            if is_a(held, torch.Tensor):
                yield name, held
                continue
            if issubclass(type(held), _NEVER_NAMES) or id(held) in seen or depth > _DEEPEST_NEST:
                continue
            seen.add(id(held))
            if is_a(held, torch.nn.Module):
                yield from self._tensors_of(held, name)
            elif is_nest(held):
                inner = [item for _, item in zip(range(_LARGEST_NEST), items(held, name), strict=False)]
                waiting.extend((child, item, depth + 1) for child, item in reversed(inner))
            elif depth == 0:
                stored = attributes(held)
                waiting.extend(
                    (f"{name}.{key}", item, _DEEPEST_NEST - 1 if is_nest(item) else _DEEPEST_NEST)
                    for key, item in reversed(list(stored.items()))
                )

    def _tensors_of(self, module: torch.nn.Module, text: str) -> Iterator[tuple[str, torch.Tensor]]:
        """Yield parameters and buffers of a module and those in it, then the other tensors that the author's hold."""
        inside = list(submodules(module, text))
        for path, inner in inside:
            self._alive.append(inner)
            self._modules.setdefault(id(inner), path)
            yield from ((join(path, key), tensor) for key, tensor in own_tensors(inner))
        for path, inner in inside:
            if not type(inner).__module__.startswith("torch."):
                for key, held in attributes(inner).items():
                    if key not in _MODULE_TABLES and issubclass(type(held), (torch.Tensor, list, tuple, dict)):
                        yield from self._plainly_held(held, f"{path}.{key}")

    def _plainly_held(self, held: object, text: str) -> Iterator[tuple[str, torch.Tensor]]:
        """Yield tensors of an attribute of a module that is no parameter: modules in plain lists are found here."""
        if is_a(held, torch.Tensor):
            yield text, held
            return
        for _, (name, item) in zip(range(_LARGEST_NEST), items(held, text), strict=False):
            if is_a(item, torch.Tensor):
                yield name, item
            elif is_a(item, torch.nn.Module) and id(item) not in self._modules:
                yield from self._tensors_of(item, name)

    def has(self, tensor: torch.Tensor) -> bool:
        """Whether there can be names of a tensor that no function made, or anything else known of it."""
        return id(tensor) in self._tensors or self.known(tensor) is not None

    def of_tensor(self, tensor: torch.Tensor) -> tuple[str, ...]:
        """Return the names of a tensor that no function made, the best first."""
        names = self._tensors.get(id(tensor), [])
        known = self.known(tensor)
        recorded = list(known.names.values()) if known is not None else []
        if len(names) == 1 and not recorded:  # as of most parameters
            return (names[0].text,) if _tells(names[0]) else ()
        if not names and not recorded and known is not None and known.held_as is not None:
            recorded = [known.held_as]
        return _texts(sorted([*names, *recorded], key=_rank))

    def of_known(self, known: Known) -> tuple[str, ...]:
        """Return the names of a tensor that may be gone."""
        tensor = known.reference()
        return self.of_tensor(tensor) if isinstance(tensor, torch.Tensor) else _texts(_recorded(known))

    def known(self, tensor: torch.Tensor) -> Known | None:
        """Return what was recorded of a tensor that no function made."""
        return self._recorder.assigned.known(tensor) if self._recorder is not None else None

    def of_outputs(self, index: dict[Node, int], numbers: list[int]) -> OutputNames:
        """Return the names of the functions' outputs, by the function's place in `index`.

        `numbers` are the creation numbers of the functions, in the order of their places.
        """
        found: dict[int | tuple[int, int], tuple[Name, ...]] = {}
        if self._recorder is not None:
            found = self._recorder.assigned.of_functions(dict(zip(numbers, range(len(numbers)), strict=True)))
        for (node, output), names in self._outputs.items():
            at = index.get(node)
            if at is not None:
                key = (at, output) if output else at
                found[key] = (*found.get(key, ()), *sorted(names, key=_rank))
        return OutputNames(found)

    def of_origins(self, origins: Iterable[Origin]) -> dict[Origin, str]:
        """Return the best recorded names of what tensors were cut off from, in the graph or not; some have none."""
        recorded: dict[int | tuple[int, int], tuple[Name, ...]] = {}
        numbers = [origin.number for origin in origins if origin.leaf is None]
        if self._recorder is not None and numbers:
            numbers = self._recorder.threads.certain(numbers)
            recorded = self._recorder.assigned.of_functions(dict(zip(numbers, numbers, strict=True)))
        found: dict[Origin, str] = {}
        for origin in origins:
            if origin.leaf is None:
                names = _texts(recorded.get((origin.number, origin.output) if origin.output else origin.number, ()))
            else:
                leaf = origin.leaf()
                names = self.of_tensor(leaf) if leaf is not None else ()
            if names:
                found[origin] = names[0]
        return found

    def of_module(self, module: torch.nn.Module) -> str:
        """Return the path of a module; empty if no name reaches it."""
        return self._modules.get(id(module), "")


class OutputNames:
    """The names of the outputs of all functions of a graph; equal ones are one object, as most share one name."""

    def __init__(self, found: Mapping[int | tuple[int, int], tuple[Name, ...]]) -> None:
        """Take the names of first outputs by the functions' places, those of others by place and output."""
        known: dict[int, tuple[tuple[str, ...]]] = {}  # by the tuples' ids, since most nodes share theirs with others
        for names in found.values():
            if id(names) not in known:
                known[id(names)] = (_texts(names),)
        self._found = {key: known[id(names)] for key, names in found.items() if known[id(names)][0]}

    def of(self, places: Iterable[int], counts: Iterable[int]) -> list[tuple[tuple[str, ...], ...]]:
        """Return for the function at each place the names of its outputs, of which it has so many; empty without."""
        return [
            self._found.get(at, ()) if count == 1 else self._of_several(at, count)
            for at, count in zip(places, counts, strict=True)
        ]

    def _of_several(self, at: int, count: int) -> tuple[tuple[str, ...], ...]:
        names = [self._found.get((at, output) if output else at, ((),))[0] for output in range(count)]
        return tuple(names) if any(names) else ()


def _recorded(known: Known) -> list[Name]:
    return list(known.names.values()) or ([known.held_as] if known.held_as is not None else [])


def _rank(name: Name) -> tuple[int, int]:
    return name.rank


def _texts(names: Iterable[Name]) -> tuple[str, ...]:
    """Return each name once, better kinds first, else as they come; poor names if there are no others; `_` is none."""
    by_kind = sorted(names, key=lambda name: name.kind)
    best = [name for name in by_kind if name.kind != POOR] or by_kind
    return tuple(dict.fromkeys(name.text for name in best if _tells(name)))


def _tells(name: Name) -> bool:
    return not name.text.startswith("_") or name.text.partition("[")[0] != "_"
