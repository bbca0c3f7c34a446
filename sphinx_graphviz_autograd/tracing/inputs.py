"""The inputs that need no gradient, and the calls that cut tensors off from the graph.

PyTorch keeps no trace of either, so each call of a torch function is looked at while it happens. That costs half the
time of the forward pass again, and is done only when asked for.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

import torch
from torch._C import _functorch
from torch.overrides import TorchFunctionMode

from sphinx_graphviz_autograd.tracing.assigned import Known, Origin
from sphinx_graphviz_autograd.tracing.marks import next_number
from sphinx_graphviz_autograd.tracing.nests import flat, is_a
from sphinx_graphviz_autograd.tracing.reading import tensor_meta

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import TracebackType

    from sphinx_graphviz_autograd.model import CutKind, Place
    from sphinx_graphviz_autograd.tracing.assigned import Assigned

_CUTS: dict[str, CutKind] = {"detach": "detach", "detach_": "detach", "data": "data"}
"""The functions and attributes that give a tensor without its history."""

_READ_OUT: dict[str, CutKind] = {"item": "item", "__float__": "item", "numpy": "numpy"}
"""The functions that give the values of a tensor as something that is no tensor."""

_GRADIENTS = frozenset({"grad", "backward"})
"""What gives gradients: it cuts nothing, and its arguments are no inputs of what it makes."""

_MOST_READ_OUT = 256
"""Numbers that are remembered as read from a tensor."""


class _Function(Protocol):
    __name__: str

    def __call__(self, *args: object, **kwargs: object) -> object: ...


@dataclass(frozen=True, slots=True)
class TorchCall:
    """A call of a torch function that made nodes."""

    first: int
    """Creation number of the first node it made."""
    end: int
    """Creation number after the last."""
    name: str
    """The function's name, as `mul_`."""
    arguments: tuple[Known | None, ...]
    """Its tensors in the order of the arguments; None for those that require grad."""


class Inputs(TorchFunctionMode):
    """Notes, while it is active, the tensors without gradient that go into functions, and where they come from."""

    def __init__(self, assigned: Assigned, place: Callable[[], Place | None]) -> None:
        super().__init__()
        self.calls: list[TorchCall] = []
        """The calls that made nodes, in order."""
        self._assigned = assigned
        self._place = place
        self._read_out: dict[int, _ReadOut] = {}
        self.is_paused = False
        """Whether a custom function runs its forward, in which nothing is recorded."""

    def __enter__(self) -> Self:
        """Start to see calls."""
        super().__enter__()  # type: ignore[no-untyped-call]  # PyTorch's, without annotations
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """See no more calls."""
        super().__exit__(kind, error, traceback)  # type: ignore[no-untyped-call]  # likewise

    def __torch_function__(
        self,
        func: _Function,
        types: Iterable[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """Call the function, and note what came of it."""
        kwargs = kwargs or {}
        name = _name(func)
        lost = _origins(args) if name == "detach_" else ()
        first = next_number()
        result = func(*args, **kwargs)
        end = next_number()
        # under vmap and the like, a tensor that stands for many seems to need no gradient
        if name in _GRADIENTS or self.is_paused or _functorch.peek_interpreter_stack() is not None:
            return result
        with torch._C.DisableTorchFunction():  # noqa: SLF001 -- subclasses must not see us look
            if end > first:
                self.note_call(name, (*args, *kwargs.values()), first, end)
            elif issubclass(type(result), (torch.Tensor, tuple, list)) or name in _READ_OUT:
                self._note_result(name, (*args, *kwargs.values()), result, lost)
        return result

    def note_call(self, name: str, arguments: Iterable[object], first: int, end: int) -> None:
        """Note a call that made the nodes with these creation numbers."""
        known = self._known_in(arguments)
        if any(item is not None for item in known) or name.endswith("_"):
            self.calls.append(TorchCall(first, end, name, known))

    def _note_result(self, name: str, arguments: tuple[object, ...], result: object, lost: tuple[Origin, ...]) -> None:
        """Note where tensors without gradient came from, that a call returned which made no node."""
        origins = lost or _origins(arguments)
        sources = tuple(item for item in self._known_in(arguments) if item is not None)
        cut = _CUTS.get(name) or _READ_OUT.get(name) or ("" if torch.is_grad_enabled() else "no_grad")
        if name in _READ_OUT and not isinstance(result, int):
            self._remember(result, arguments, sources, (cut, origins))
        given = {id(tensor) for tensor in _tensors(arguments)}
        for tensor in _tensors((result,)):
            if not tensor.requires_grad and (id(tensor) not in given or lost):
                known = self._known(tensor)
                known.sources = sources
                if cut and origins:
                    self._cut(known, cut, origins)

    def _remember(
        self,
        result: object,
        arguments: tuple[object, ...],
        sources: tuple[Known, ...],
        cut: tuple[CutKind, tuple[Origin, ...]],
    ) -> None:
        """Remember a number or an array that was read from a tensor."""
        read_out = _ReadOut(result)
        self._read_out[id(result)] = read_out
        read_out.known.meta = next(tensor_meta(tensor) for tensor in _tensors(arguments))
        read_out.known.sources = sources
        if cut[1]:
            self._cut(read_out.known, *cut)
        if len(self._read_out) > _MOST_READ_OUT:
            del self._read_out[next(iter(self._read_out))]

    def _cut(self, known: Known, cut: CutKind, origins: tuple[Origin, ...]) -> None:
        known.cut = cut
        known.origins = origins
        known.place = self._place()

    def _known(self, tensor: torch.Tensor) -> Known:
        known = self._assigned.remember(tensor)
        if known.meta is None:
            known.meta = tensor_meta(tensor)
            known.is_parameter = isinstance(tensor, torch.nn.Parameter)
        return known

    def _known_in(self, arguments: Iterable[object]) -> tuple[Known | None, ...]:
        """Return what is known of the tensors among the arguments; None for those that require grad."""
        found: list[Known | None] = []
        for value in flat(arguments):
            read_out = self._read_out.get(id(value))
            if is_a(value, torch.Tensor):
                found.append(None if value.requires_grad else self._known(value))
            elif read_out is not None and read_out.is_of(value):
                found.append(read_out.known)
        return tuple(found)


class _ReadOut:
    """A number or array that was read from a tensor, and stands for it wherever the same object is used."""

    __slots__ = ("__weakref__", "_value", "known")

    def __init__(self, value: object) -> None:
        self._value: object = value if isinstance(value, float) else weakref.ref(value)
        self.known = Known(weakref.ref(self))

    def is_of(self, value: object) -> bool:
        return self._value is value or (isinstance(self._value, weakref.ref) and self._value() is value)


def _name(func: _Function) -> str:
    """Return the name of a function, or of the attribute that a getter gets."""
    owner = getattr(func, "__self__", None) if getattr(func, "__name__", "") == "__get__" else func
    return str(getattr(owner, "__name__", ""))


def _tensors(values: Iterable[object]) -> Iterator[torch.Tensor]:
    return (value for value in flat(values) if is_a(value, torch.Tensor))


def _origins(values: Iterable[object]) -> tuple[Origin, ...]:
    """Return what the tensors with a graph among some values are."""
    found = []
    with torch._C.DisableTorchFunction():  # noqa: SLF001 -- subclasses must not see us look
        for tensor in _tensors(values):
            try:
                grad_fn = tensor.grad_fn
            except RuntimeError:  # a stale view
                continue
            if grad_fn is not None:
                found.append(Origin(grad_fn._sequence_nr(), tensor.output_nr))  # noqa: SLF001 -- see `marks`
            elif tensor.requires_grad:
                found.append(Origin(0, 0, weakref.ref(tensor)))
    return tuple(found)
