"""What the process of Sphinx and the workers say to each other: JSON, one message a line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from sphinx_graphviz_autograd.codec import from_json, to_line
from sphinx_graphviz_autograd.execution.session import (
    BlockResult,  # noqa: TC001  # the codec reads annotations
    Failure,  # noqa: TC001  # likewise
    Session,  # noqa: TC001  # likewise
    Text,  # noqa: TC001  # likewise
)
from sphinx_graphviz_autograd.model import Place  # noqa: TC001  # likewise


@dataclass(frozen=True, slots=True)
class Run:
    """Order: run a session."""

    number: int
    """What the answers will call it."""
    session: Session
    """The session."""


@dataclass(frozen=True, slots=True)
class Kill:
    """Order: end a session that is running, with all its children."""

    number: int
    """The session."""


Order: TypeAlias = Run | Kill
"""What workers are told."""


@dataclass(frozen=True, slots=True)
class Ready:
    """Answer: PyTorch is imported, or cannot be."""

    problem: str = ""
    """Why PyTorch cannot be imported."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Answer: a session's process has begun to run code."""

    number: int
    """The session."""


@dataclass(frozen=True, slots=True)
class BlockDone:
    """Answer: a block has come to its end, or has failed."""

    number: int
    """The session."""
    result: BlockResult
    """What came of it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Answer: a session has come to its end, or has failed."""

    number: int
    """The session."""
    failure: Failure | None = None
    """What ended it early."""
    environment: dict[str, str] = field(default_factory=dict)
    """As in `SessionResult`."""
    dependencies: dict[str, str] = field(default_factory=dict)
    """As in `SessionResult`."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Answer: the process of a session is no more, nor are its children."""

    number: int
    """The session."""
    code: int
    """Its exit status; a signal as a negative number."""
    place: Place | None = None
    """Where it was when it died, if it was killed and could still tell."""
    output: tuple[Text, ...] = ()
    """What it had printed that has not been told."""
    cut: bool = False
    """Whether that is not all."""


Answer: TypeAlias = Ready | Begun | BlockDone | Ended | Gone
"""What workers say."""


@dataclass(frozen=True, slots=True)
class _Ordered:
    order: Order


@dataclass(frozen=True, slots=True)
class _Answered:
    answer: Answer


def order_line(order: Order) -> bytes:
    """Return an order as a line to send."""
    return to_line(_Ordered(order)).encode(errors="backslashreplace")  # which JSON reads back


def read_order(line: bytes) -> Order:
    """Return the order that `order_line` wrote."""
    return from_json(_Ordered, line.decode()).order


def answer_line(answer: Answer) -> bytes:
    """Return an answer as a line to send."""
    return to_line(_Answered(answer)).encode(errors="backslashreplace")


def read_answer(line: bytes) -> Answer:
    """Return the answer that `answer_line` wrote.

    Raises:
        CodecError: the line is none, as when a worker died while writing it.
    """
    return from_json(_Answered, line.decode(errors="replace")).answer
