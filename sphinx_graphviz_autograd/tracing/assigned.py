"""The names that the author's code gave to tensors and modules, noted while it ran.

A variable that is bound anew keeps its name on what it was bound to before. No tensor is kept alive: functions are
known by their creation numbers, leaves and modules by weak references.
"""

from __future__ import annotations

import weakref
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import torch

from sphinx_graphviz_autograd.tracing.nests import attributes, is_a, is_nest, items

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx_graphviz_autograd.model import CutKind, Place, TensorMeta
    from sphinx_graphviz_autograd.tracing.source import Statement, Target

GLOBAL, LOCAL, POOR = range(3)
"""How good a name is: of a block, of a function in it, or one to be told only if there is no other, as of a loop."""

_LARGEST_NOTED = 8
"""Items of a nest named at each assignment. Longer ones are named at the end, as that is done once."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name, and how good it is."""

    kind: int
    """`GLOBAL`, `LOCAL` or `POOR`."""
    time: int
    """When it was given; smaller is earlier."""
    text: str
    """The name as the author wrote it."""

    @property
    def rank(self) -> tuple[int, int]:
        """What names are sorted by: better kinds first, then earlier ones."""
        return self.kind, self.time


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """What a tensor was cut off from: an output of a function, or a leaf."""

    number: int
    """The function's creation number; meaningless for a leaf."""
    output: int
    """Which of its outputs."""
    leaf: weakref.ref[torch.Tensor] | None = None
    """The leaf."""


@dataclass(slots=True, eq=False)
class Known:
    """A tensor without a backward function, or a module. Survives it in what refers to it, but does not hold it."""

    reference: weakref.ref[object]
    """The tensor or module."""
    names: dict[tuple[int, str], Name] = field(default_factory=dict)
    """Its names in the order of time, by kind and text."""
    statement: Statement | None = None
    """The statement that gave it its first name."""
    grad_enabled: bool = True
    """Whether gradients were on when that statement ended."""
    hint: str = ""
    """Which module holds it, as `weight in Linear`, if that module was called."""
    held_as: Name | None = None
    """Its path in that module, if the module had a name when it was called."""
    meta: TensorMeta | None = None
    """What the tensor is like, if it was seen going into an operation."""
    is_parameter: bool = False
    """Whether it is an `nn.Parameter`, as it was then."""
    sources: tuple[Known, ...] = ()
    """The tensors without gradient that it was computed from."""
    cut: CutKind = ""
    """How it was cut off from the graph."""
    origins: tuple[Origin, ...] = ()
    """What it was cut off from."""
    place: Place | None = None
    """The line that cut it off."""


class Assigned:
    """All names that were given while recording."""

    def __init__(self) -> None:
        self.times: dict[str, int] = {}
        """When each variable of the blocks got its latest value."""
        self.passing: set[str] = set()
        """The variables of the blocks whose latest value came from a loop."""
        self._clock = 0
        self._known: dict[int, Known] = {}
        self._texts: dict[tuple[int, str], int] = {}
        self._numbers = array("q")
        self._outputs = array("q")
        self._names = array("q")

    def note(self, statement: Statement, scope: Mapping[str, object], *, is_global: bool) -> None:
        """Note what the targets of `statement` are bound to in `scope`, just after it ran."""
        for target in statement.targets:
            value = scope.get(target.variable)
            if value is None:
                continue
            self._clock += 1
            text = target.variable
            if target.steps:
                text, value = _follow(target, value, scope)
            elif target.partly and not is_a(value, torch.Tensor):
                continue
            elif is_global:
                self.times[text] = self._clock
                (self.passing.add if target.passing else self.passing.discard)(text)
            is_poor = target.passing or target.variable == "self"
            kind = POOR if is_poor else GLOBAL if is_global else LOCAL
            self._note_value(value, text, kind, statement)

    def _note_value(self, value: object, text: str, kind: int, statement: Statement) -> None:
        if is_a(value, torch.Tensor):
            self._note_tensor(value, text, kind, statement)
        elif is_a(value, torch.nn.Module):
            self.remember(value).names.setdefault((kind, text), Name(kind, self._clock, text))
        elif is_nest(value):
            for at, (name, item) in enumerate(items(value, text)):
                if at == _LARGEST_NOTED:
                    break
                if is_a(item, torch.Tensor):
                    self._note_tensor(item, name, kind, statement)

    def _note_tensor(self, tensor: torch.Tensor, text: str, kind: int, statement: Statement) -> None:
        try:
            grad_fn = tensor.grad_fn
        except RuntimeError:  # a stale view; asked for its graph, it is refused
            return
        if grad_fn is not None:
            key = (kind, text)
            self._numbers.append(grad_fn._sequence_nr())  # noqa: SLF001 -- the public way to a node's number
            self._outputs.append(tensor.output_nr)
            self._names.append(self._texts.setdefault(key, len(self._texts)))
            return
        known = self.remember(tensor)
        if known.statement is None:
            known.statement = statement
            known.grad_enabled = torch.is_grad_enabled()
        known.names.setdefault((kind, text), Name(kind, self._clock, text))

    def remember(self, value: torch.Tensor | torch.nn.Module) -> Known:
        """Return what is known of a tensor without a backward function, or of a module, from now on if not yet."""
        key = id(value)
        known = self._known.get(key)
        if known is None or known.reference() is not value:
            forget = _Forget(self._known, key)
            known = self._known[key] = Known(weakref.ref(value, forget))
        return known

    def known(self, value: object) -> Known | None:
        """Return what is known of a tensor without a backward function, or of a module."""
        known = self._known.get(id(value))
        return known if known is not None and known.reference() is value else None

    def named_functions(self) -> set[str]:
        """Return all names that an output of a function ever had."""
        return {text for _, text in self._texts}

    def of_functions(self, places: Mapping[int, int]) -> dict[int | tuple[int, int], tuple[Name, ...]]:
        """Return the names of functions' outputs in order of time.

        They are found by what `places` has for the function's number; from the second output on, by this and the
        number of the output. Equal tuples of one name are one object, as there are as many of them as nodes.
        """
        single = [(Name(kind, 0, text),) for kind, text in self._texts]
        found: dict[int | tuple[int, int], tuple[Name, ...]] = {}
        for at, output, text in zip(map(places.get, self._numbers), self._outputs, self._names, strict=True):
            if at is None:
                continue
            key = (at, output) if output else at
            before = found.get(key)
            found[key] = single[text] if before is None else (*before, *single[text])
        return found


class _Forget:
    """Takes a dead object out of the table, unless its place has been taken by another with the same id."""

    __slots__ = ("_key", "_known")

    def __init__(self, known: dict[int, Known], key: int) -> None:
        self._known = known
        self._key = key

    def __call__(self, reference: weakref.ref[object]) -> None:
        known = self._known.get(self._key)
        if known is not None and known.reference is reference:
            del self._known[self._key]


def _follow(target: Target, value: object, scope: Mapping[str, object]) -> tuple[str, object]:
    """Return the text and value of a target with steps, without running any code of the author's; None if unknown."""
    text = target.variable
    for kind, step in target.steps:
        key = scope.get(str(step)) if kind == "variable" else step
        if kind == "attribute":
            text += f".{key}"
            value = _attribute(value, str(key))
        elif type(value) in {list, tuple, dict} and type(key) in {int, str}:
            text += f"[{key!r}]" if type(key) is int else f'["{key}"]'
            try:
                value = cast("dict[object, object]", value)[key]
            except (LookupError, TypeError):
                return text, None
        else:
            return text, None
    return text, value


def _attribute(value: object, name: str) -> object:
    """Return an attribute that is plainly stored; properties are not run."""
    stored = attributes(value)
    if name in stored:
        return stored[name]
    for table in ("_parameters", "_buffers", "_modules"):
        held = stored.get(table)
        if isinstance(held, dict) and name in held:
            return cast("object", held[name])
    return None
