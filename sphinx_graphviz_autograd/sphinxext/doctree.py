"""From the places in a page to what stands there: picture, legend, output, remarks. Ordinary docutils nodes but one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, assert_never, cast

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from sphinx_graphviz_autograd.drawing import svg
from sphinx_graphviz_autograd.drawing.node_table import Table
from sphinx_graphviz_autograd.drawing.text import MORE
from sphinx_graphviz_autograd.model import Graph
from sphinx_graphviz_autograd.sphinxext import roles
from sphinx_graphviz_autograd.sphinxext.figures import shown_words
from sphinx_graphviz_autograd.sphinxext.nodes import (
    AutogradCode,
    AutogradImage,
    AutogradPlace,
    AutogradReference,
    AutogradTable,
)
from sphinx_graphviz_autograd.sphinxext.translation import FAILED, REASON_BELOW, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sphinx_graphviz_autograd.drawing.legend import Row
    from sphinx_graphviz_autograd.sphinxext.build import Build
    from sphinx_graphviz_autograd.sphinxext.options import Options
    from sphinx_graphviz_autograd.sphinxext.outcomes import Outcome
    from sphinx_graphviz_autograd.sphinxext.pages import Block
    from sphinx_graphviz_autograd.sphinxext.pictures import Drawn
    from sphinx_graphviz_autograd.sphinxext.site import Site

CLASS: Final = "autograd-graph"
"""What our CSS classes start with."""


def fill_places(build: Build) -> type[SphinxPostTransform]:
    """Return the transform that fills places; a class made for the build, since Sphinx makes the instances."""

    class FillPlaces(SphinxPostTransform):
        """Replace all places in a page by the results of their blocks."""

        default_priority = 6  # before references are resolved

        def run(self, **_kwargs: object) -> None:
            """Replace them; builders that take no results get nothing in their stead."""
            if self.app.builder.name == "gettext":  # writes no page, but asks them for the author's words
                return
            if build.site and build.site.writes_html:
                for reference in list(self.document.findall(AutogradReference)):
                    reference.replace_self(roles.link(build.site, reference))
                _mark_unrun(self.document, build.site)
            for place in list(self.document.findall(AutogradPlace)):
                if self.app.builder.format == "man" and place.part == "picture":
                    _end_caption(place.parent)
                contents = _contents(place, build.site) if build.site else ()
                place.replace_self(list(contents))

    return FillPlaces


def _mark_unrun(document: nodes.document, site: Site) -> None:
    """Note on the shown code which lines of it did not run."""
    shown = {
        cast("dict[str, object]", literal["highlight_args"]).get("linespans"): literal
        for literal in document.findall(nodes.literal_block)
        if "highlight_args" in literal
    }
    for place in document.findall(AutogradPlace):
        block = site.block(place.docname, place.number)
        literal = shown.get(f"{block.prefix}-line")
        if place.part != "output" or literal is None or "lines" not in shown_words(block.options, site.config):
            continue
        if lines := site.page(place.docname).unrun(place.number):
            code = AutogradCode(literal.rawsource, literal.astext(), **literal.attributes)
            code["unrun"] = [f"{block.prefix}-line-{line}" for line in lines]
            code.source, code.line = literal.source, literal.line
            literal.replace_self(code)


def _contents(place: AutogradPlace, site: Site) -> Iterator[nodes.Node]:
    """Yield what stands at a place; a legend is added to the figure that the place is in."""
    outcome = site.outcome(place.docname, place.number)
    block = site.block(place.docname, place.number)
    match place.part:
        case "output":
            yield from _output(block.options, outcome)
        case "notes":
            yield from _notes(outcome)
        case "picture":
            drawn = site.drawn(place.docname, place.number, place.expression)
            if drawn is None:
                yield _no_graph(outcome)
                return
            yield from _picture(drawn, block, place, site)
            legend = site.config.legend if block.options.legend is None else block.options.legend
            if legend and drawn.plan.legend and place.parent is not None:
                place.parent.append(_legend(drawn.plan.legend, place.parent))
            if site.writes_html and drawn.plan.drawn is not None and place.parent is not None:
                described = site.references.from_page(place.docname)
                _put_after(place.parent, _table(drawn, drawn.plan.drawn, block.prefix_of(place.expression), described))
        case _:
            assert_never(place.part)


def _output(options: Options, outcome: Outcome) -> Iterator[nodes.Node]:
    """Yield what the block printed, the exception that was expected, and how it failed."""
    if outcome.result and not options.hide_output:
        for text in outcome.result.output:
            yield _literal(text.text.rstrip("\n"), "output", text.stream)
        if outcome.result.expected:
            yield _literal(outcome.result.expected, "output", "expected")
    if outcome.failure:
        message = outcome.failure.message
        details = outcome.failure.details
        body = (
            _literal(details, "traceback", language="pytb") if details else nodes.paragraph("", "", *_marked(message))
        )
        yield nodes.error("", body, classes=[f"{CLASS}-failure"])


def _notes(outcome: Outcome) -> Iterator[nodes.Node]:
    for message in (*(problem.message for problem in outcome.problems), *(say(note) for note in outcome.notes)):
        yield nodes.warning("", nodes.paragraph("", "", *_marked(message)), classes=[f"{CLASS}-note"])


def _no_graph(outcome: Outcome) -> nodes.paragraph:
    words = say(FAILED if outcome.failure else REASON_BELOW)
    return nodes.paragraph(words, words, classes=[f"{CLASS}-missing"])


def _picture(drawn: Drawn, block: Block, place: AutogradPlace, site: Site) -> Iterator[nodes.Node]:
    options = block.options
    alt = place.alt or drawn.plan.description
    if drawn.problem:
        yield nodes.paragraph("", "", *_marked(drawn.problem.message), classes=[f"{CLASS}-missing"])
    if drawn.picture is None:
        yield _literal(drawn.plan.tree, "tree")
        return
    if drawn.medium == "inline":
        prefix = block.prefix_of(place.expression)
        markup = svg.inline(drawn.picture, prefix=prefix, title=drawn.plan.title, description=alt)
        image: nodes.image = AutogradImage("", svg=_sized(markup, options.width), uri="", candidates={"?": ""})
        image["title"], image["file"], image["walk"] = drawn.plan.title, site.image(drawn), bool(drawn.plan.drawn)
    else:
        uri = site.image(drawn)
        image = nodes.image("", uri=uri, candidates={"*": uri})
        if options.width:
            image["width"] = options.width
    image["alt"] = alt
    image["classes"] += [f"{CLASS}-picture", *options.classes]
    image.source, image.line = block.at.file, block.at.line
    yield image


def _table(drawn: Drawn, graph: Graph, prefix: str, described: Callable[[str], str]) -> AutogradTable:
    """Return the nodes of a figure as a table."""
    wanted = drawn.wanted
    captured = wanted.figure.graph if isinstance(wanted.figure.graph, Graph) else graph
    boxes = drawn.medium == "inline"
    table = Table(graph, captured, prefix, wanted.place, wanted.line, boxes, translate=say, described=described)
    return AutogradTable("", html=table.html())


def _put_after(figure: nodes.Element, table: AutogradTable) -> None:
    """Put a table below its figure, and not into it: all that is in a caption is read out as the figure's name."""
    figure.parent.insert(figure.parent.index(figure) + 1, table)


def _sized(markup: str, width: str) -> str:
    """Return an `svg` element of another width; its height follows from its `viewBox`."""
    if not width:
        return markup
    start, end, rest = markup.partition(">")
    start = re.sub(r' height="[^"]*"', "", re.sub(r' width="[^"]*"', f' width="{width}"', start))
    return start + end + rest


def _end_caption(figure: nodes.Element | None) -> None:
    """End the line of a caption: in man pages docutils leaves it open, and what comes next would be text in it."""
    for caption in figure.findall(nodes.caption) if figure is not None else ():
        caption.append(nodes.Text("\n"))


def _legend(rows: Sequence[Row], figure: nodes.Element) -> nodes.legend:
    """Return the rows as a list: swatch, name, count, for some kinds those in the figure, and what it means."""
    entries = nodes.bullet_list(classes=[f"{CLASS}-legend"], bullet="*")
    for row in rows:
        swatch = nodes.inline("", "", classes=list(row.swatch))
        word = nodes.strong("", say(row.word))
        count = nodes.Text(f" × {row.count}: " if row.count > 1 else ": ")
        body = nodes.paragraph("", "", swatch, word, count, *_items(row), nodes.Text(say(row.sentence)))
        body.source, body.line = figure.source, figure.line
        entries += nodes.list_item("", body)
    return nodes.legend("", entries)


def _items(row: Row) -> Iterator[nodes.Node]:
    more = [nodes.Text(say(MORE).format(number=row.more))] if row.more else []
    for at, item in enumerate([*(nodes.literal(item, item) for item in row.items), *more]):
        yield nodes.Text(", " if at else "")
        yield item
    yield nodes.Text(". " if row.items else "")


def _literal(text: str, *kinds: str, language: str = "text") -> nodes.literal_block:
    """Return text as it is; `force` keeps Sphinx from warning that it is not the language that it looks like."""
    classes = [f"{CLASS}-{kind}" for kind in kinds]
    return nodes.literal_block(text, text, language=language, force=True, linenos=False, classes=classes)


def _marked(text: str) -> Iterator[nodes.Node]:
    """Yield the nodes of a message, in which backticks mark code."""
    for at, part in enumerate(text.split("`")):
        if part:
            yield nodes.literal(part, part) if at % 2 else nodes.Text(part)
