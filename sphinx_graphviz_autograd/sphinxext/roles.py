"""The role `autograd-node`: words in a text that stand for a node of a figure on the same page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import ReferenceRole

from sphinx_graphviz_autograd.drawing.finding import find, findable
from sphinx_graphviz_autograd.sphinxext.locations import Position
from sphinx_graphviz_autograd.sphinxext.nodes import AutogradReference
from sphinx_graphviz_autograd.sphinxext.options import listed
from sphinx_graphviz_autograd.sphinxext.pages import Mention, pages
from sphinx_graphviz_autograd.sphinxext.problems import Problem, Subtype

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx_graphviz_autograd.sphinxext.pages import Block
    from sphinx_graphviz_autograd.sphinxext.site import Site


class AutogradNode(ReferenceRole):
    """Marks a node of a figure while a reader is at its words, and leads there: `` `the weight <fig-loss:w>` ``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the words; where they lead is looked up when the code has run."""
        file = str(self.env.doc2path(self.env.docname, base=False))
        pages(self.env).mention(self.env.docname, Mention(self.target, Position(file, self.lineno)))
        title = self.title if self.has_explicit_title else self.title.rpartition(":")[2].partition("#")[0]
        return [AutogradReference.make(self.env.docname, self.target, title)], []


def problems(site: Site, docname: str) -> Iterator[Problem]:
    """Yield what is wrong with the targets of the roles of a page."""
    for mention in site.mentions(docname):
        found = _look_up(site, docname, mention.target)
        if isinstance(found, str):
            yield Problem(Subtype.TARGET, f"role `autograd-node`: {found}", mention.at)


def link(site: Site, reference: AutogradReference) -> nodes.Node:
    """Return the words of a role as a link to their node, or alone if there is no such node."""
    found = _look_up(site, reference.docname, reference.target)
    if isinstance(found, str):
        return nodes.inline("", "", *reference.children)
    id_ = "-".join(found)
    classes = ["autograd-graph-link"]
    return nodes.reference("", "", nodes.inline("", "", *reference.children), refid=id_, internal=True, classes=classes)


def _look_up(site: Site, docname: str, target: str) -> tuple[str, ...] | str:
    """Return the parts of the id of a node's element, or in words why there is none."""
    figures = {name: (block, expression) for block, name, expression in _figures(site, docname)}
    parts = target.split(":")
    named = [":".join(parts[:at]) for at in range(len(parts) - 1, 0, -1)]
    name = next((name for name in named if name in figures), "")
    if not name:
        rest = f"; there are {listed(figures)}" if figures else ", nor any with a name"
        return f"there is no figure `{named[-1] if named else target}` on this page{rest}"
    number, expression = figures[name]
    drawn = site.drawn(docname, number, expression)
    if drawn is None or drawn.plan.drawn is None:
        return f"the figure `{name}` has no graph"
    words = target.removeprefix(f"{name}:")
    node = find(drawn.plan.drawn, words)
    if not node:
        return f"the figure `{name}` has no node `{words}`; it has {listed(findable(drawn.plan.drawn))}"
    prefix = site.block(docname, number).prefix_of(expression)
    return (prefix, node) if drawn.medium == "inline" else (prefix, node, "row")


def _figures(site: Site, docname: str) -> Iterator[tuple[int, str, str]]:
    """Yield the figures of a page that have a name: the number of the block, the name, and the expression."""
    blocks: list[Block] = site.blocks(docname)
    for number, block in enumerate(blocks):
        if block.options.name:
            expressions = block.expressions if block.options.separate else ()
            yield from ((number, f"{block.options.name}-{at}", one) for at, one in enumerate(expressions, start=1))
            if not expressions:
                yield number, block.options.name, ""
