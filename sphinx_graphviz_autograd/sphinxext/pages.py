"""What reading keeps of each page: its blocks, which `build` runs and `doctree` draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from sphinx.domains import Domain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from sphinx.environment import BuildEnvironment

    from sphinx_graphviz_autograd.sphinxext.locations import Position
    from sphinx_graphviz_autograd.sphinxext.options import Options
    from sphinx_graphviz_autograd.sphinxext.problems import Problem


@dataclass(frozen=True, slots=True)
class Block:
    """One directive of a page."""

    prefix: str
    """What the ids of all its elements start with: unique in the whole site, and the same on every machine."""
    code: str
    """The code that runs."""
    expressions: tuple[str, ...]
    """The expressions to draw; empty to draw the value of the last expression."""
    draw: bool
    """Whether there is anything to draw."""
    options: Options
    """Its options."""
    at: Position
    """The line of the directive."""
    rows: tuple[Position, ...]
    """The lines of the code, row by row."""
    option_lines: dict[str, Position]
    """The lines of the options, by their written names."""
    problems: tuple[Problem, ...]
    """What was wrong with it when it was read."""

    def option(self, name: str) -> Position:
        """Return the line of an option; the directive itself if it is not found."""
        return self.option_lines.get(name, self.at)

    def prefix_of(self, expression: str) -> str:
        """Return what the ids start with in the figure of an expression, or of all for an empty one."""
        return f"{self.prefix}-{self.expressions.index(expression) + 1}" if expression else self.prefix

    def row(self, line: int) -> Position:
        """Return where a line of the code stands; the directive itself for line 0 or a line that it does not have."""
        return self.rows[line - 1] if 0 < line <= len(self.rows) else self.at


@dataclass(frozen=True, slots=True)
class Mention:
    """A use of the role `autograd-node`."""

    target: str
    """Figure and node, as `fig-loss:w`."""
    at: Position
    """Where it stands."""


class Pages(Domain):
    """The home of the blocks in Sphinx's environment, which purges, merges and pickles them; it has no markup."""

    name: ClassVar[str] = "autograd_graph"
    label: ClassVar[str] = "Autograd graphs"
    initial_data: ClassVar[dict[str, dict[str, list[Block]] | dict[str, list[Mention]]]] = {"pages": {}, "mentions": {}}
    data_version: ClassVar[int] = 2

    @property
    def blocks(self) -> dict[str, list[Block]]:
        """The blocks of each page that has some, in the order of the page."""
        return cast("dict[str, list[Block]]", self.data["pages"])

    @property
    def mentions(self) -> dict[str, list[Mention]]:
        """The uses of the role of each page that has some."""
        return cast("dict[str, list[Mention]]", self.data["mentions"])

    def mention(self, docname: str, mention: Mention) -> None:
        """Keep a use of the role."""
        self.mentions.setdefault(docname, []).append(mention)

    def add(self, docname: str, block: Block) -> int:
        """Keep the next block of a page and return its number."""
        self.blocks.setdefault(docname, []).append(block)
        return len(self.blocks[docname]) - 1

    def clear_doc(self, docname: str) -> None:
        """Forget the blocks of a page."""
        self.blocks.pop(docname, None)
        self.mentions.pop(docname, None)

    def merge_domaindata(self, docnames: AbstractSet[str], otherdata: Mapping[str, object]) -> None:
        """Take over the blocks of pages that another process has read."""
        other = cast("dict[str, list[Block]]", otherdata["pages"])
        self.blocks.update((docname, other[docname]) for docname in docnames if docname in other)
        mentions = cast("dict[str, list[Mention]]", otherdata["mentions"])
        self.mentions.update((docname, mentions[docname]) for docname in docnames if docname in mentions)


def pages(env: BuildEnvironment) -> Pages:
    """Return the blocks of the site."""
    return cast("Pages", env.get_domain(Pages.name))
