"""What there is to show and to warn of for each block of a page, once its sessions have results or have none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from sphinx_graphviz_autograd.execution.session import Failure, SessionResult, localise
from sphinx_graphviz_autograd.model import Graph, Leaf
from sphinx_graphviz_autograd.sphinxext.problems import Problem, Subtype

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sphinx_graphviz_autograd.execution.session import BlockResult
    from sphinx_graphviz_autograd.sphinxext.locations import Position
    from sphinx_graphviz_autograd.sphinxext.pages import Block


@dataclass(frozen=True, slots=True)
class Absence:
    """Why a session has no results, though nothing failed."""

    subtype: Subtype
    """`missing` or `stale`."""
    message: str
    """Why, and what to do."""


Results: TypeAlias = SessionResult | Absence
"""What there is of a session."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What there is to show and to warn of for one block."""

    result: BlockResult | None = None
    """What came of running it; None if it was not run."""
    failure: Problem | None = None
    """How it failed, with the traceback."""
    problems: tuple[Problem, ...] = ()
    """What else the author is warned of."""
    notes: tuple[str, ...] = ()
    """What a reader should know and nobody is warned of, as it follows from another problem."""


_SUBTYPES: Final = {"undefined": Subtype.NAME, "raised": Subtype.EXECUTION, "no_expression": Subtype.OPTION}
"""The subtypes for reasons why there is no graph, where it is not that the value has none."""

NOT_RUN: Final = "Not run, since a block before it failed."
"""The note of a block after one that failed."""


def of_session(blocks: Sequence[Block], results: Results) -> list[Outcome]:
    """Return the outcomes of the blocks of a session."""
    if isinstance(results, Absence):
        problem = Problem(results.subtype, results.message, blocks[0].at)
        return [
            Outcome(problems=(*block.problems, *([problem] * (not at))), notes=(results.message,) * (at > 0))
            for at, block in enumerate(blocks)
        ]
    return [_of_block(at, blocks, results) for at in range(len(blocks))]


def of_idle(block: Block) -> Outcome:
    """Return the outcome of a block that is not to be run."""
    return Outcome(problems=block.problems)


def _of_block(at: int, blocks: Sequence[Block], results: SessionResult) -> Outcome:
    block = blocks[at]
    result = results.blocks[at] if at < len(results.blocks) else None
    failure = results.failure
    if failure is not None and failure.block < at:
        return Outcome(result, problems=block.problems, notes=(NOT_RUN,))
    failed = _failure(failure, blocks) if failure is not None and failure.block == at else None
    problems = (*block.problems, *(_of_result(block, blocks, result, failed=failed is not None) if result else ()))
    return Outcome(result, failed, problems)


def _failure(failure: Failure, blocks: Sequence[Block]) -> Problem:
    at = blocks[failure.place.block].row(failure.place.line)
    return Problem(Subtype.of(failure.kind), failure.message, at, localised(failure.traceback, blocks))


def localised(traceback: str, blocks: Sequence[Block]) -> str:
    """Return a traceback with the files and lines of the author's documents."""

    def locate(block: int, line: int) -> tuple[str, int]:
        at = blocks[block].row(line)
        return at.named_file, at.line

    return localise(traceback, locate).rstrip()


def _of_result(block: Block, blocks: Sequence[Block], result: BlockResult, *, failed: bool) -> Iterator[Problem]:
    for refusal in result.refusals:
        line = ""
        if refusal.place and not refusal.place.file:
            line = blocks[refusal.place.block].row(refusal.place.line).words
        yield Problem(_SUBTYPES.get(refusal.reason, Subtype.NO_GRAD), refusal.message(line), block.at)
    if result.cut:
        yield Problem(Subtype.EXECUTION, "the code printed more than is kept; the rest is left out", block.at)
    if failed:
        return  # what was announced could not come
    if block.options.raises is not None and not result.expected:
        name = f"`{block.options.raises}`" if block.options.raises else "an exception"
        yield Problem(
            Subtype.RAISES, f"the option `raises` announces {name}, but the code raised nothing", block.option("raises")
        )
    if block.options.expect:
        yield from _unmet(block.options.expect, result, block.option("expect"))


def _unmet(expected: Sequence[str], result: BlockResult, at: Position) -> Iterator[Problem]:
    """Yield what is not as the option `expect` says."""
    graphs = [figure.graph for figure in result.figures if isinstance(figure.graph, Graph)]
    leaves = {name for graph in graphs for node in graph.nodes if isinstance(node, Leaf) for name in node.names}
    there = ", ".join(f"`{name}`" for name in sorted(leaves)) or "none with a name"
    for word in expected:
        name = word.removeprefix("!")
        if (name in leaves) == word.startswith("!"):
            verb = "is" if name in leaves else "is not"
            yield Problem(Subtype.EXPECT, f"`{name}` {verb} among the leaves of the graph, which are {there}", at)
