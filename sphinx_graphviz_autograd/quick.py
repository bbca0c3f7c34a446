"""Speed for graphs of a million nodes: frozen dataclasses made quickly, and the garbage collector at rest."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import MISSING, field, fields, make_dataclass
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

P = ParamSpec("P")
T = TypeVar("T")

_MANY: Final = 100_000
"""How many new objects the garbage collector would take long to visit."""


def quick(kind: Callable[P, T]) -> Callable[P, T]:
    """Return a function that makes instances of the frozen slots dataclass `kind`, ten times as fast as calling it.

    A frozen class sets each of its fields through `object.__setattr__`, which is slow. Here a class with the same slots
    that is not frozen is filled, and the instance then becomes one of `kind`.

    >>> from sphinx_graphviz_autograd.model import Edge
    >>> quick(Edge)("n1", "n0") == Edge("n1", "n0")
    True
    """
    frozen = cast("type[T]", kind)
    copied = [
        (item.name, item.type, field(default=item.default) if item.default is not MISSING else field())
        for item in fields(frozen)  # type: ignore[arg-type]  # a type that is not known to be a dataclass
    ]

    def become_frozen(made: object) -> None:
        made.__class__ = frozen

    namespace = {"__post_init__": become_frozen}
    twin = make_dataclass(frozen.__name__, copied, repr=False, eq=False, slots=True, namespace=namespace)
    return cast("Callable[P, T]", twin)


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Keep the garbage collector from visiting a million new objects again and again, none of which is garbage.

    What was made meanwhile counts as old afterwards, so that it is not visited at once either.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        many = gc.get_count()[0] > _MANY  # asked first, as counting what is frozen takes milliseconds in a worker
        if was_enabled and many and not gc.get_freeze_count():  # what others have frozen must stay so
            gc.freeze()
            gc.unfreeze()
        if was_enabled:
            gc.enable()
