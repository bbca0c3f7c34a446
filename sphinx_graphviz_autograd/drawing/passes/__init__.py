"""Graph to graph: what is drawn of a captured graph. Pure functions, applied in one order."""

from __future__ import annotations

from collections import Counter
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from sphinx_graphviz_autograd.drawing.passes.accumulate import accumulate
from sphinx_graphviz_autograd.drawing.passes.cap import cap
from sphinx_graphviz_autograd.drawing.passes.collapse import collapse, levels
from sphinx_graphviz_autograd.drawing.passes.fold import fold
from sphinx_graphviz_autograd.drawing.passes.hide import hide
from sphinx_graphviz_autograd.drawing.passes.named import named
from sphinx_graphviz_autograd.drawing.passes.split import split
from sphinx_graphviz_autograd.drawing.passes.structure import sequence
from sphinx_graphviz_autograd.drawing.passes.view import DEFAULT_SHOW, SHOW, View
from sphinx_graphviz_autograd.quick import collector_at_rest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx_graphviz_autograd.drawing.passes.structure import Sequence
    from sphinx_graphviz_autograd.model import Graph

__all__ = ["DEFAULT_SHOW", "SHOW", "View", "apply"]

_PAGE: Final = 40
"""Boxes up to which a figure is read at a glance, so that repetitions in it are drawn step by step."""

_TEXTBOOK: Final = 20
"""Boxes up to which parameters with names tell more than the modules that hold them."""


def apply(graph: Graph, view: View) -> Graph:
    """Return what the view draws of the graph.

    In this order: what is not shown is hidden, modules are collapsed, functions without names are taken out if only
    names are wanted, repetitions folded, functions that accumulate gradients put in, the rest capped, and shared leaves
    split.
    """
    with collector_at_rest():
        return _apply(graph, view)


def _apply(graph: Graph, view: View) -> Graph:
    graph = hide(graph, view.show)
    whole = _named(graph, view)
    coarser = _coarse_enough(graph, whole, view)
    uses = Counter(map(attrgetter("source"), whole.edges)) if coarser is not whole else {}
    graph = coarser
    if "accumulate" in view.show:
        graph = accumulate(graph)
    return _capped(graph, view, uses)


def _coarse_enough(graph: Graph, whole: Graph, view: View) -> Graph:
    """Collapse and fold the graph, of which `whole` is wanted.

    Modules are collapsed unasked if it would else be hard to take in, and opened only as deep as that will do.
    """
    if view.depth is not None:
        return _folded(_named(collapse(graph, view.depth, view.expand), view), view)
    ran = sequence(graph) if len(graph.nodes) > _PAGE else None
    drawn = _folded(whole, view, ran if whole is graph else None)
    for depth in range(levels(graph) - 1, -1, -1):
        if _can_be_taken_in(drawn, view):
            break
        coarser = _folded(_named(collapse(graph, depth, view.expand, ran), view), view)
        if (len(coarser.nodes), len(coarser.edges)) < (len(drawn.nodes), len(drawn.edges)):
            drawn = coarser
    return drawn


def _can_be_taken_in(drawn: Graph, view: View) -> bool:
    """Whether a figure has at most half as many boxes as may be drawn.

    If only names are wanted, whether it has no more than a textbook's figure, and is no tangle: where functions without
    names join two ways, each arrow into them leads on along each way out.
    """
    if view.view == "full":
        return len(drawn.nodes) <= view.max_nodes // 2
    return len(drawn.nodes) <= _TEXTBOOK and len(drawn.edges) <= 2 * len(drawn.nodes)


def _named(graph: Graph, view: View) -> Graph:
    return named(graph) if view.view == "names" else graph


def _folded(graph: Graph, view: View, ran: Sequence | None = None) -> Graph:
    return fold(graph, view, ran) if view.fold == "auto" and len(graph.nodes) > _PAGE else graph


def _capped(graph: Graph, view: View, uses: Mapping[str, int]) -> Graph:
    """Split shared leaves, and cap the graph so that with them no more boxes are drawn than may be."""
    most = view.max_nodes
    drawn = split(cap(graph, most), view.split, uses)
    while len(drawn.nodes) > view.max_nodes and most > 1:
        most = max(1, most - max(1, (len(drawn.nodes) - view.max_nodes) // 2))
        drawn = split(cap(graph, most), view.split, uses)
    return drawn
