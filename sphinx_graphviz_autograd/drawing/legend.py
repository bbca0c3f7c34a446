"""What a legend says: one row for each kind of box and each unusual kind of arrow that is really in the figure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from sphinx_graphviz_autograd.drawing import style
from sphinx_graphviz_autograd.drawing.labels import kind, label

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx_graphviz_autograd.drawing.passes.view import View
    from sphinx_graphviz_autograd.model import Graph, Node, Place

_LISTED: Final = frozenset({"output", "leaf", "saved-tensor", "data", "module", "fold", "cap"})
"""The kinds whose boxes are told one by one."""

_MOST: Final = 12
"""How many boxes a row lists that are not called alike."""

_UNSAID: Final = frozenset({"gradient", "output"})
"""The arrows that need no row."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a legend."""

    kind: str
    """What its swatch looks like: a CSS class without the prefix."""
    word: str
    """What it is called."""
    sentence: str
    """What it means."""
    count: int
    """How many are in the figure."""
    items: tuple[str, ...] = ()
    """The first of those in the figure, as `w (1)`, or `w (1) × 3` where they are called alike."""
    more: int = 0
    """How many are not among the items, though others are."""
    of: Literal["box", "arrow"] = "box"
    """Whether the swatch is a box or an arrow."""

    @property
    def swatch(self) -> tuple[str, ...]:
        """The CSS classes of its swatch."""
        line = (f"{style.PREFIX}swatch-line",) if self.of == "arrow" else ()
        return (f"{style.PREFIX}swatch", *line, f"{style.PREFIX}{self.kind}")


def rows(graph: Graph, view: View, place: Callable[[Place], str] = lambda _: "") -> tuple[Row, ...]:
    """Return the legend of a graph that the passes have made ready, in the order of the table of looks."""
    found: dict[str, list[Node]] = {}
    for node in graph.nodes:
        found.setdefault(kind(node), []).append(node)
    boxes = [
        Row(
            look.kind,
            look.word,
            look.sentence,
            len(nodes),
            *listed([_words(node, graph, view, place) for node in nodes] if look.kind in _LISTED else []),
        )
        for look in style.LOOKS
        if (nodes := found.get(look.kind))
    ]
    arrows = [
        Row(line.kind, line.word, line.sentence, count, of="arrow")
        for line in style.LINES
        if line.kind not in _UNSAID and (count := sum(edge.kind == line.kind for edge in graph.edges))
    ]
    return (*boxes, *arrows)


def listed(words: list[str]) -> tuple[tuple[str, ...], int]:
    """Return the first words of a list, equal ones counted, and how many of the list are not among them."""
    counts = list(Counter(words).items())[:_MOST]
    told = tuple(f"{word} × {count}" if count > 1 else word for word, count in counts)
    return told, len(words) - sum(count for _, count in counts)


def _words(node: Node, graph: Graph, view: View, place: Callable[[Place], str]) -> str:
    text = label(node, graph, view, place)
    return " ".join(part for part in (text.name, text.operation, ", ".join(text.details)) if part)
