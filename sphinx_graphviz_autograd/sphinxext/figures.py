"""What a page needs of a figure, whatever the builder: DOT text, words, legend; and how it is laid out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from sphinx_graphviz_autograd.drawing import foreign, legend, passes, text
from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.passes import View
from sphinx_graphviz_autograd.execution.session import Drawing
from sphinx_graphviz_autograd.sphinxext.translation import CALL, ITERATION, LINE, LINE_ABOVE, TITLE, TITLE_ALONE, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sphinx.builders import Builder

    from sphinx_graphviz_autograd.drawing.legend import Row
    from sphinx_graphviz_autograd.execution.session import Figure
    from sphinx_graphviz_autograd.model import Graph, Place
    from sphinx_graphviz_autograd.sphinxext.config import Config
    from sphinx_graphviz_autograd.sphinxext.options import Options
    from sphinx_graphviz_autograd.sphinxext.pages import Block

Medium: TypeAlias = Literal["inline", "svg", "pdf", "png", "words"]
"""How a builder takes a picture: as SVG in the page, as a file, or as a tree of words."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A figure before it is laid out."""

    dot: str
    """What Graphviz is to lay out."""
    title: str
    """The name of the picture, in a few words."""
    description: str
    """What it shows, in a sentence."""
    legend: tuple[Row, ...]
    """The rows of its legend."""
    tree: str
    """The graph in words."""
    drawn: Graph | None = None
    """What is drawn of the graph; None for a drawing that the author's code made."""


def medium(builder: Builder, config: Config, *, pdf: bool) -> Medium:
    """Return how a builder takes pictures; `pdf` is whether PDF can be made."""
    types = builder.supported_image_types
    if builder.format in {"text", "man", "texinfo"} or not types:
        return "words"
    if builder.format == "latex":
        return "pdf" if pdf else "png"
    if "image/svg+xml" not in types:
        return "png" if "image/png" in types else "words"
    # a page of an EPUB with SVG in it must be declared so in the package, which Sphinx does not do
    return "inline" if builder.format == "html" and builder.name != "epub" and config.html_format == "inline" else "svg"


def plan(figure: Figure, view: View, place: Callable[[Place], str]) -> Plan:
    """Return what to draw of a captured graph, or of a drawing that the author's code made."""
    title = say(TITLE).format(expression=figure.expression) if figure.expression else say(TITLE_ALONE)
    graph = figure.graph
    if isinstance(graph, Drawing):
        source = graph.source
        words = foreign.sentence(source) or title
        return Plan(source, title, words, foreign.rows(source), foreign.tree(source) or words)
    graph = passes.apply(graph, view)
    return Plan(
        to_dot(graph, view, place),
        title,
        text.sentence(graph, say),
        legend.rows(graph, view, place),
        text.tree(graph, view, place),
        graph,
    )


def view_of(options: Options, config: Config) -> View:
    """Return the view that a directive asks for, and where it does not, `conf.py`."""
    direction = options.direction or config.direction
    view = View(
        show=shown_words(options, config),
        direction="" if direction == "auto" else cast("Literal['TB', 'BT', 'LR', 'RL']", direction),
        depth=options.depth,
        expand=options.expand,
        max_nodes=options.max_nodes or config.max_nodes,
        labels=cast("Literal['backward', 'forward']", options.labels or config.labels),
    )
    chosen = {name: value for name in ("view", "fold", "split") if (value := getattr(options, name))}
    return replace(view, **chosen)


def shown_words(options: Options, config: Config) -> frozenset[str]:
    """Return what a figure shows, as words of `SHOW`."""
    return (config.shown | set(options.show)) - set(options.hide)


def coarser(view: View) -> Iterator[tuple[View, str]]:
    """Yield ever coarser views than this one, to be tried when it takes too long, and what each does in words."""
    view = replace(view, split="split", fold="auto")
    yield view, "repetitions are folded, and shared leaves are drawn once per use"
    view = replace(view, max_nodes=min(view.max_nodes, 60))
    yield view, f"at most {view.max_nodes} boxes are drawn"
    yield replace(view, depth=1, expand=()), "each module is drawn as one box"


def place_words(blocks: Sequence[Block], own: int) -> Callable[[Place], str]:
    """Return what says in words where a line is, for a figure of block `own` of a session.

    Lines are counted as the shown code counts them. A line of an earlier block is said to be above: blocks have no
    numbers that a reader could see. A figure without code belongs to the last block before it that has some.
    """
    nearest = next((number for number in range(own, -1, -1) if blocks[number].code.strip()), own)

    def words(place: Place) -> str:
        again = f", {say(ITERATION).format(iteration=place.iteration)}" if place.iteration > 1 else ""
        again += f", {say(CALL).format(call=place.call)}" if place.call > 1 else ""
        if place.file or not 0 <= place.block < len(blocks):
            return f"{place.file} {say(LINE).format(line=place.line)}{again}".lstrip()
        line = place.line + (blocks[place.block].options.lineno_start or 1) - 1
        template = LINE_ABOVE if place.block != nearest else LINE
        return f"{say(template).format(line=line)}{again}"

    return words


def line_ids(blocks: Sequence[Block], config: Config) -> Callable[[Place], str]:
    """Return what gives the id of a line's element in the page; empty if the line is not shown."""

    def id_(place: Place) -> str:
        if place.file or not 0 <= place.block < len(blocks):
            return ""
        block = blocks[place.block]
        hidden = config.hide_code if block.options.hide_code is None else block.options.hide_code
        # Pygments counts from the number that is shown beside the first line
        return "" if hidden else f"{block.prefix}-line-{place.line + (block.options.lineno_start or 1) - 1}"

    return id_
