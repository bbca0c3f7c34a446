"""Graph to graph: what is drawn of a captured graph. Pure functions, applied in one order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing.passes.hide import hide
from sphinx_graphviz_autograd.drawing.passes.split import split
from sphinx_graphviz_autograd.drawing.passes.view import DEFAULT_SHOW, SHOW, View

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.model import Graph

__all__ = ["DEFAULT_SHOW", "SHOW", "View", "apply"]


def apply(graph: Graph, view: View) -> Graph:
    """Return what the view draws of the graph: hidden things taken out, then shared leaves split."""
    graph = hide(graph, view.show)
    return split(graph, view.split)
