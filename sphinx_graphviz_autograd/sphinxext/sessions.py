"""The sessions of a page: its blocks as execution knows them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.execution.session import Session, Snippet
from sphinx_graphviz_autograd.model import CaptureOptions
from sphinx_graphviz_autograd.sphinxext.figures import shown_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.environment import BuildEnvironment

    from sphinx_graphviz_autograd.sphinxext.config import Config
    from sphinx_graphviz_autograd.sphinxext.pages import Block


@dataclass(frozen=True, slots=True)
class Run:
    """A session of a page, and which of the page's blocks are in it."""

    session: Session
    """What execution is asked to run."""
    numbers: tuple[int, ...]
    """The numbers on the page of its snippets."""

    def __str__(self) -> str:
        """Return what it is called in messages."""
        return f"{self.session.docname} ({self.session.name})" if self.session.name else self.session.docname


def runs(env: BuildEnvironment, docname: str, blocks: Sequence[Block], config: Config) -> list[Run]:
    """Return the sessions of a page, in the order in which they begin."""
    numbers: dict[str, list[int]] = {}
    for number, block in enumerate(blocks):
        if not block.options.skip and (block.draw or block.code.strip()):
            numbers.setdefault(block.options.session, []).append(number)
    root = Path(env.srcdir)
    folder = (root / env.doc2path(docname, base=False)).parent
    return [
        Run(
            Session(
                docname=docname,
                name=name,
                folder=str(folder),
                root=str(root),
                snippets=tuple(_snippet(blocks[number], config) for number in members),
                prelude=config.prelude,
                seed=config.seed,
                cuda=config.cuda,
            ),
            tuple(members),
        )
        for name, members in numbers.items()
    ]


def _snippet(block: Block, config: Config) -> Snippet:
    shown = shown_words(block.options, config) if block.draw else frozenset[str]()
    return Snippet(
        code=block.code,
        expressions=block.expressions,
        draw=block.draw,
        separate=block.options.separate,
        capture=CaptureOptions(data="data" in shown, gradients="gradients" in shown),
        raises=block.options.raises,
    )
