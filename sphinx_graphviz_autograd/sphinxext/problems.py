"""What goes wrong, as data, and how the author is told: a warning with type, subtype and place."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from sphinx.errors import SphinxError
from sphinx.util import logging

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from sphinx_graphviz_autograd.sphinxext.locations import Position

TYPE: Final = "autograd_graph"
"""The type of all our warnings."""

logger = logging.getLogger(__name__)


class Subtype(StrEnum):
    """The subtypes of our warnings: `suppress_warnings = ["autograd_graph.no_grad"]` mutes one."""

    meaning: str
    """One sentence for the reference page."""

    def __new__(cls, value: str, meaning: str) -> Self:
        """Make a member that is its value and carries its meaning."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    @classmethod
    def of(cls, value: str) -> Self:
        """Return the member of a value."""
        return next(member for member in cls if member == value)

    EXECUTION = "execution", "The code raised an exception, or printed more than is kept."
    TIMEOUT = "timeout", "The code ran longer than `autograd_graph_timeout` allows."
    CRASH = "crash", "The process that ran the code ended."
    SYNTAX = "syntax", "The code, or an expression to draw, is not Python."
    OPTION = "option", "An option of a directive or a value in `conf.py` is wrong."
    NO_GRAD = "no_grad", "A value to draw has no autograd graph."
    NAME = (
        "name",
        "An expression to draw could not be evaluated, as a name in it is unknown; names of MyST-NB's code cells are.",
    )
    EXPECT = "expect", "The graph is not what `:expect:` says."
    RAISES = "raises", "The exception that `:raises:` announces did not come."
    STALE = "stale", "The stored result belongs to other code, and nothing may be run."
    MISSING = "missing", "There is no stored result and nothing may be run, or PyTorch is not installed."
    STORE = "store", "A file of stored results cannot be read or written."
    LAYOUT = "layout", "A figure could not be laid out, or only in a coarser view."
    GRAPHVIZ = "graphviz", "Graphviz is not installed, or does not do what it should."
    TARGET = "target", "The role `autograd-node` names a figure or a node that is not there."


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that the author should know."""

    subtype: Subtype
    """The kind of it."""
    message: str
    """What is wrong, why, and what to do, on one line."""
    at: Position
    """The line to look at."""
    details: str = ""
    """The traceback, if there is one."""

    @property
    def text(self) -> str:
        """The message, with what else there is to say."""
        return f"{self.message}\n{self.details}" if self.details else self.message


class ExecutionFailedError(SphinxError):
    """A block failed while `autograd_graph_on_error` is `raise`; words itself as the warning would."""

    category = "autograd-graph"

    def __init__(self, problem: Problem, folder: Path) -> None:
        self.problem = problem
        super().__init__(f"{problem.at.absolute(folder)}: {problem.text} [{TYPE}.{problem.subtype}]")


def warn(problem: Problem, folder: Path) -> None:
    """Issue the warning of a problem; its file is relative to `folder`."""
    logger.warning("%s", problem.text, type=TYPE, subtype=str(problem.subtype), location=problem.at.absolute(folder))
