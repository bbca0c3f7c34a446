"""From a graph to DOT text: what Graphviz is to lay out, and under which ids and classes its parts are found again.

Colours and borders in it are those of a light page, for formats without style sheets. The size of every box is
given, so that it does not depend on the fonts that an engine knows.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing import style
from sphinx_graphviz_autograd.drawing.columns import Columns, columns
from sphinx_graphviz_autograd.drawing.frames import frames, stacked
from sphinx_graphviz_autograd.drawing.labels import edge_label, kind, label, slot_label
from sphinx_graphviz_autograd.drawing.metrics import text_width
from sphinx_graphviz_autograd.drawing.plain import xml_text
from sphinx_graphviz_autograd.drawing.spine import spine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sphinx_graphviz_autograd.drawing.frames import Frame
    from sphinx_graphviz_autograd.drawing.labels import Label
    from sphinx_graphviz_autograd.drawing.passes.view import View
    from sphinx_graphviz_autograd.model import Edge, Graph, Node, Place

LINE = 17.0
"""Height of a line of names, in points."""

SMALL_LINE = 14.0
"""Height of any other line, in points."""

_SPARE = 1.13
"""How much wider than measured a text may come out in the font that a reader has."""

_SPARE_BOLD = 1.22
"""The same for bold text, in which fonts differ more."""

_STRAIGHT = 4
"""Weight of the arrows of the longest chain: with less it bends, with more it pushes all else aside."""


def to_dot(graph: Graph, view: View, place: Callable[[Place], str]) -> str:
    """Return the DOT text of a graph that the passes have made ready.

    Args:
        graph: what to draw, all of it.
        view: what to write into the boxes, and which way the arrows run.
        place: says in words where a line is, as `line 2`.
    """
    labels = {node.id: label(node, graph, view, place) for node in graph.nodes}
    sizes = {node.id: _size(labels[node.id], style.BY_KIND[kind(node)]) for node in graph.nodes}
    framed = "modules" in view.show
    wrapped = columns(graph, sizes) if not view.direction and not framed else ()
    nodes = {node.id: _node_statement(node, labels[node.id], sizes[node.id]) for node in graph.nodes}
    straight = spine(graph)
    edges = [
        _edge_statement(
            edge,
            id_,
            (edge_label(edge, view), slot_label(edge, graph, view)),
            wrapped,
            straight=(edge.source, edge.target) in straight,
        )
        for edge, id_ in zip(graph.edges, _edge_ids(graph), strict=True)
    ]
    if framed:
        edges += [f"{above} -> {below} [style=invis]" for above, below in stacked(graph)]
    defaults = _defaults("BT" if wrapped else view.direction or "TB")
    boxes = _in_columns(nodes, wrapped) if wrapped else _in_frames(nodes, graph) if framed else nodes.values()
    return "\n".join(("digraph {", *defaults, *boxes, *edges, "}\n"))


def _in_columns(nodes: Mapping[str, str], wrapped: Columns) -> Iterator[str]:
    """Yield the statements of nodes, those of a column in a cluster, which keeps it apart from the others.

    A graph in columns is laid out upside down: rank by rank from the ends of the columns, from below. So Graphviz leads
    the arrow from the end of a column to the start of the next between the two, and not around all of them.
    """
    for number, column in enumerate(wrapped):
        yield f"subgraph cluster_column_{number} {{"
        yield "peripheries=0 margin=14"
        yield from (statement for node, statement in nodes.items() if node in column)
        yield "}"


def _in_frames(nodes: Mapping[str, str], graph: Graph) -> Iterator[str]:
    """Yield the statements of nodes, those of a module's operations in a frame with its name."""
    free, outer = frames(graph)
    yield from (nodes[node] for node in free)
    look = style.LIGHT_FRAME
    shown = f'style="rounded,filled" fillcolor="{look.fill}" color="{look.stroke}" fontcolor="{look.text}" margin=10'
    waiting: list[Frame | None] = list(reversed(outer))
    while waiting:
        frame = waiting.pop()
        if frame is None:
            yield "}"
            continue
        yield f"subgraph cluster_{frame.call} {{"
        yield f'id="m{frame.call}" class="{style.PREFIX}frame" {shown} labeljust=l label=<{_escaped(frame.title)}>'
        yield from (nodes[node] for node in frame.nodes)
        waiting += [None, *reversed(frame.frames)]


def _edge_ids(graph: Graph) -> Iterator[str]:
    """Yield the ids of edges: `n3-n1`, and `n3-n1-2` for a second one between the same nodes."""
    times: Counter[str] = Counter()
    for edge in graph.edges:
        pair = f"{edge.source}-{edge.target}"
        times[pair] += 1
        yield pair if times[pair] == 1 else f"{pair}-{times[pair]}"


def _defaults(direction: str) -> tuple[str, ...]:
    look = style.BY_KIND["grad-fn"]
    line = style.LIGHT_LINE
    font = 'fontname="Helvetica"'
    # network simplex is bounded: on some graphs it would run for minutes to no visible gain
    spacing = "nodesep=0.3 ranksep=0.36 pad=0.06 nslimit=1 nslimit1=1"
    graph = f"rankdir={direction} bgcolor=transparent {spacing} {font} fontsize={style.SMALL}"
    node = f"shape=box {_look_attributes(look)} {font} fontsize={style.SIZE} margin=0 height=0"
    lines = f'color="{line.stroke}" fontcolor="{line.text}" {font} fontsize={style.SMALL}'
    edge = f"{lines} arrowsize=0.75 penwidth=1.2 labeldistance=1.5 labelangle=30"
    return (f"graph [{graph}]", f"node [{node}]", f"edge [{edge}]")


@cache
def _look_attributes(look: style.Look) -> str:
    light = look.light
    parts = [f'style="{look.style}" fillcolor="{light.fill}" color="{light.stroke}" fontcolor="{light.text}"']
    if look.shape != "box":
        parts.append(f"shape={look.shape}")
    if look.borders != 1:
        parts.append(f"peripheries={look.borders}")
    if look.width != 1:
        parts.append(f"penwidth={look.width:g}")
    return " ".join(parts)


def _node_statement(node: Node, text: Label, size: tuple[float, float]) -> str:
    look = style.BY_KIND[kind(node)]
    width, height = size
    name = f'id="{node.id}" class="{style.PREFIX}{look.kind}"'
    box = f"width={width / 72:.3f} height={height / 72:.3f}"
    special = "" if look.kind == "grad-fn" else f" {_look_attributes(look)}"
    return f"{node.id} [{name} label=<{_html(text)}> {box}{special}]"


def _edge_statement(edge: Edge, id_: str, texts: tuple[str, str], wrapped: Columns, *, straight: bool) -> str:
    """Return the statement of an edge with the texts on it and at its head; backwards if the graph is in columns."""
    look = style.LINE_BY_KIND[edge.kind]
    ends = (edge.target, edge.source) if wrapped else (edge.source, edge.target)
    head = "tail" if wrapped else "head"
    parts = [f'id="{id_}" class="{style.PREFIX}edge {style.PREFIX}{look.kind}"']
    if wrapped:
        parts.append("dir=back")
        if not any(edge.source in column and edge.target in column for column in wrapped):
            parts.append("constraint=false")
    if straight:
        parts.append(f"weight={_STRAIGHT}")
    if look.style != "solid":
        parts.append(f"style={look.style}")
    if look.head != "normal":
        parts.append(f"arrow{head}={look.head}")
    if texts[0]:
        parts.append(f"label=<&nbsp;{_escaped(texts[0])}&nbsp;>")
    if texts[1]:
        parts.append(f"{head}label=<{_escaped(texts[1])}>")
    return f"{ends[0]} -> {ends[1]} [{' '.join(parts)}]"


def _html(text: Label) -> str:
    """Return the label as HTML-like text of Graphviz."""
    name = f"<B>{_escaped(text.name)}</B>" if text.name else ""
    first = "&nbsp; ".join(part for part in (name, _escaped(text.operation)) if part)
    small = "".join(
        f'<BR/><FONT POINT-SIZE="{style.SMALL}">{_escaped(detail)}</FONT>' for detail in text.details if detail.strip()
    )
    return f"{first or ' '}{small}"


def _escaped(text: str) -> str:
    r"""Return text for an HTML-like label, in which a backslash has a meaning too: `\N` is the name of the node."""
    return xml_text(text).replace("\\", r"\\")


def _size(text: Label, look: style.Look) -> tuple[float, float]:
    """Return width and height of the box that a label needs, in points."""
    gap = 8.0 if text.name and text.operation else 0.0
    name = text_width(text.name, style.SIZE, bold=True) * _SPARE_BOLD
    first = name + gap + text_width(text.operation, style.SIZE) * _SPARE
    widest = max((first, *(text_width(detail, style.SMALL) * _SPARE for detail in text.details)))
    high = 12 if f"{text.name}{text.operation}".isascii() else 18  # letters of some scripts are taller
    return max(widest + look.room, 44.0), LINE + SMALL_LINE * len(text.details) + high
