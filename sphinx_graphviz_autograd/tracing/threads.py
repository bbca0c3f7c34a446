"""How far other threads have counted nodes: PyTorch counts them in each thread anew, so two may have one number."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self, TypeAlias

from sphinx_graphviz_autograd.tracing.marks import NOTHING, next_number

if TYPE_CHECKING:
    from types import FrameType, TracebackType

    from _typeshed import ProfileFunction, TraceFunction

_Function: TypeAlias = "TraceFunction | ProfileFunction | None"


class OtherThreads:
    """Watches the threads that `threading` starts while recording, for nothing but how many nodes they have made."""

    def __init__(self) -> None:
        self._end = 0
        self._outer: tuple[_Function, _Function] = (None, None)

    def __enter__(self) -> Self:
        """Watch threads that start from now on."""
        self._outer = threading.gettrace(), threading.getprofile()
        threading.settrace(self._watch)
        threading.setprofile(self._watch)  # which is also told of functions in C, in which a thread may wait
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Watch no more threads that start; those that run may go on making nodes, and are watched till they end."""
        trace, profile = self._outer
        threading.settrace(trace)  # type: ignore[arg-type]  # None is what there is without a trace function
        threading.setprofile(profile)  # type: ignore[arg-type]  # likewise

    def certain(self, numbers: list[int]) -> list[int]:
        """Return creation numbers, with `NOTHING` for those that nodes of several threads may have."""
        if not self._end:
            return numbers
        return [number if number >= self._end else NOTHING for number in numbers]

    def _watch(self, _frame: FrameType, _event: str, _argument: object) -> TraceFunction:
        self._end = max(self._end, next_number())
        return self._watch
