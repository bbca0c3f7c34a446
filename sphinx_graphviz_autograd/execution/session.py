"""What is to run and what came of it: plain data, the same for the process of Sphinx, the workers and the store.

Everything speaks of (block in session, line in block); lines of documents are put in only when something is shown.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from sphinx_graphviz_autograd.codec import rows
from sphinx_graphviz_autograd.errors import AutogradGraphError
from sphinx_graphviz_autograd.model import CaptureOptions, Graph, Place
from sphinx_graphviz_autograd.refusal import Refusal  # noqa: TC001  # the codec reads annotations

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS_VERSION: Final = 1
"""Part of every code key; raised when a new release gets another result from the same code."""

PRELUDE_NAME: Final = "<autograd_graph_prelude>"
"""What stands for a file name in frames of the prelude."""

_IN_BLOCK: Final = re.compile(r'"?<autograd-graph (\d+)>"?, line (\d+)')


@dataclass(frozen=True, slots=True)
class Snippet:
    """One block of a session: the code of one directive."""

    code: str
    """Its source text; empty for a directive that only draws."""
    expressions: tuple[str, ...] = ()
    """The expressions to draw, as written."""
    draw: bool = False
    """Whether there is something to draw; if without `expressions`, the value of the last expression."""
    separate: bool = False
    """Whether each expression gets a figure of its own."""
    capture: CaptureOptions = field(default_factory=CaptureOptions)
    """What to capture beyond the graph."""
    raises: str | None = None
    """Name of the exception that is expected; empty for any; None if none is."""
    skip: bool = False
    """Whether the block is shown only, and not run."""


@dataclass(frozen=True, slots=True)
class Session:
    """The blocks of a document that share a namespace."""

    docname: str
    """The document, as Sphinx names it."""
    name: str
    """The session's name; empty for the document's ordinary one."""
    folder: str
    """Absolute path of the document's folder, where the code runs."""
    root: str
    """Absolute path of the source folder, which paths of dependencies are relative to."""
    snippets: tuple[Snippet, ...]
    """The blocks, in the order of the document."""
    prelude: str = ""
    """Code to run before the first block."""
    seed: int = 0
    """What the random number generators start from."""
    cuda: bool = False
    """Whether the code may use CUDA."""


@dataclass(frozen=True, slots=True)
class Text:
    """A stretch of what a block printed."""

    stream: Literal["stdout", "stderr"]
    """Where it was printed."""
    text: str
    """What was printed."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing that the author's code made with the `graphviz` package, as `torchviz.make_dot` does."""

    source: str
    """Its DOT text, with nodes renumbered where their names were addresses."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What one figure is to show."""

    expression: str
    """The expressions that it shows, as written, separated by `, `."""
    graph: Graph | Drawing
    """The graph behind them."""


@dataclass(frozen=True, slots=True)
class BlockResult:
    """What came of running one block."""

    output: tuple[Text, ...] = ()
    """What it printed, in order."""
    figures: tuple[Figure, ...] = field(default=(), metadata=rows())
    """What is to be drawn of it, in the order written."""
    refusals: tuple[Refusal, ...] = ()
    """What was to be drawn and cannot be."""
    expected: str = ""
    """The exception that `raises` expected, as Python words it; empty if none came."""
    cut: bool = False
    """Whether it printed more than is kept."""


FailureKind: TypeAlias = Literal["execution", "syntax", "timeout", "crash", "missing"]
"""What ended a session early.

`execution`: an exception. `syntax`: a block is no Python. `timeout`: it ran too long. `crash`: its process ended.
`missing`: PyTorch cannot be imported.
"""


@dataclass(frozen=True, slots=True)
class Failure:
    """What ended a session early."""

    kind: FailureKind
    """Its kind."""
    block: int
    """The block that was running, from 0, where the failure is shown."""
    place: Place
    """The innermost line of the document's own code that was running: the place to warn at.

    It can be in an earlier block than `block`, whose function failed; its line is the first of the failing statement,
    and 0 where it is not known.
    """
    message: str
    """What happened, on one line, as `ValueError: bad`."""
    traceback: str = ""
    """The traceback as Python writes it, for `localise`; empty if there was no exception."""


@dataclass(frozen=True, slots=True)
class SessionResult:
    """What came of running a session."""

    blocks: tuple[BlockResult, ...] = field(default=(), metadata=rows())
    """One for each block that was begun; after a failure the last is what there was of the block that failed."""
    failure: Failure | None = None
    """What ended it early, if anything did."""
    environment: dict[str, str] = field(default_factory=dict)
    """Versions of Python, PyTorch and the imported packages, by their names."""
    dependencies: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each file of the project's own that was imported or read, by path relative to the source folder."""


class ExpressionError(AutogradGraphError):
    """Raised when the argument of a directive is not a list of Python expressions."""

    def __init__(self, argument: str, problem: str) -> None:
        self.argument = argument
        self.problem = problem
        super().__init__(f"`{argument}` is not a list of Python expressions separated by commas: {problem}")


def parse_expressions(argument: str) -> tuple[str, ...]:
    """Return the expressions in the argument of a directive, as written; commas separate them.

    Raises:
        ExpressionError: it is not Python, or more than expressions.
    """
    argument = " ".join(argument.splitlines()).strip()
    if not argument:
        return ()
    call = f"_({argument})"
    try:
        tree = ast.parse(call, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(argument, getattr(error, "msg", None) or str(error)) from None
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise ExpressionError(argument, "unbalanced parentheses")
    if tree.keywords:
        raise ExpressionError(argument, "`=` has no meaning here")
    if any(isinstance(item, ast.Starred) for item in tree.args):
        raise ExpressionError(argument, "`*` has no meaning here")
    return tuple(ast.get_source_segment(call, item) or "" for item in tree.args)


def block_keys(session: Session) -> tuple[str, ...]:
    """Return the code key of each block: a hash over all that its result depends on and that the document holds.

    The environment and the project's files are not in it; they stand beside it in the store.
    """
    chain = hashlib.sha256()
    chain.update(_bytes(RESULTS_VERSION, session.prelude, session.seed, session.cuda))
    keys = []
    for snippet in session.snippets:
        chain.update(b"skip" if snippet.skip else _bytes(*astuple(snippet)))
        keys.append(chain.hexdigest())
    return tuple(keys)


def block_name(block: int) -> str:
    """Return what stands for a file name in frames of a block."""
    return f"<autograd-graph {block}>"


def localise(text: str, locate: Callable[[int, int], tuple[str, int]]) -> str:
    """Return a traceback with the lines of blocks replaced by lines of documents.

    Args:
        text: a traceback, as in `Failure.traceback`.
        locate: turns (block, line in block) into (file to name, line in it).
    """

    def replace(match: re.Match[str]) -> str:
        file, line = locate(int(match[1]), int(match[2]))
        return f'"{file}", line {line}'

    return _IN_BLOCK.sub(replace, text)


def _bytes(*values: object) -> bytes:
    return json.dumps(values, sort_keys=True).encode() + b"\n"
