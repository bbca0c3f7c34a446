"""What the tests of execution share: sessions written as texts, and a pool to run them."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.execution.session import Session, SessionResult, Snippet

if TYPE_CHECKING:
    from pathlib import Path

    from sphinx_graphviz_autograd.execution.pool import Pool


def session(folder: Path, *blocks: str | Snippet, name: str = "", prelude: str = "", seed: int = 0) -> Session:
    """Return a session of a document in a folder, which is the source folder too; texts are blocks that only run."""
    return Session(
        docname="page",
        name=name,
        folder=str(folder),
        root=str(folder),
        snippets=tuple(Snippet(dedent(block).strip("\n")) if isinstance(block, str) else block for block in blocks),
        prelude=prelude,
        seed=seed,
    )


def drawn(code: str, *expressions: str, separate: bool = False) -> Snippet:
    """Return a block that is to be drawn."""
    return Snippet(dedent(code).strip("\n"), expressions, draw=True, separate=separate)


@dataclass(frozen=True, slots=True)
class Workbench:
    """A pool, and a folder to run sessions in."""

    pool: Pool
    """The pool, which tests share."""
    folder: Path
    """The folder, which is new for each test."""

    def run(self, *blocks: str | Snippet, prelude: str = "", seed: int = 0) -> SessionResult:
        """Run blocks as one session."""
        (result,) = self.run_all(session(self.folder, *blocks, prelude=prelude, seed=seed))
        return result

    def run_all(self, *sessions: Session) -> list[SessionResult]:
        """Run several sessions; return what came of them in their order."""
        results = {ran.name: result for ran, result in self.pool.run(sessions)}
        return [results[one.name] for one in sessions]

    def printed(self, *blocks: str | Snippet) -> str:
        """Run blocks that do not fail, and return all that they printed."""
        result = self.run(*blocks)
        assert result.failure is None
        return "".join(text.text for block in result.blocks for text in block.output)
