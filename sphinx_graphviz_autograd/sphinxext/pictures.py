"""Laying out the figures of a site, in ever coarser views if it takes too long, and in words if all else fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing import svg
from sphinx_graphviz_autograd.errors import LayoutFailedError, LayoutTimeoutError
from sphinx_graphviz_autograd.sphinxext.figures import Medium, Plan, coarser, plan
from sphinx_graphviz_autograd.sphinxext.problems import Problem, Subtype

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx_graphviz_autograd.drawing.passes import View
    from sphinx_graphviz_autograd.execution.session import Figure
    from sphinx_graphviz_autograd.model import Place
    from sphinx_graphviz_autograd.sphinxext.layouts import Layouts
    from sphinx_graphviz_autograd.sphinxext.locations import Position


@dataclass(frozen=True, slots=True)
class Wanted:
    """A figure to be drawn."""

    figure: Figure
    """What was captured."""
    view: View
    """What to draw of it."""
    place: Callable[[Place], str]
    """Says in words where a line is."""
    at: Position
    """Where to warn."""
    line: Callable[[Place], str]
    """The id of a line's element in the page; empty if it has none."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure as far as it could be drawn."""

    wanted: Wanted
    """What was to be drawn."""
    plan: Plan
    """Its words and legend."""
    medium: Medium
    """What the picture is; `words` if there is none."""
    picture: bytes | None = None
    """What Graphviz made."""
    problem: Problem | None = None
    """What kept it from being drawn as wanted."""

    def standalone(self) -> bytes:
        """Return the picture as the content of a file."""
        if self.picture is None:
            raise ValueError("there is no picture")
        if self.medium in {"inline", "svg"}:
            text = svg.standalone(self.picture, title=self.plan.title, description=self.plan.description)
            return text.encode()
        return self.picture


def draw(wanted: Wanted, medium: Medium, layouts: Layouts | Problem) -> Drawn:
    """Return a figure drawn in the first view whose layout does not take too long.

    `layouts` is a problem if there is nothing to lay out with.
    """
    first = plan(wanted.figure, wanted.view, wanted.place)
    if medium == "words":
        return Drawn(wanted, first, "words")
    if isinstance(layouts, Problem):
        return Drawn(wanted, first, "words", problem=Problem(layouts.subtype, layouts.message, wanted.at))
    message = ""
    tried: set[str] = set()
    for view, words in ((wanted.view, ""), *coarser(wanted.view)):
        now = plan(wanted.figure, view, wanted.place) if words else first
        if now.dot in tried:
            continue
        tried.add(now.dot)
        try:
            picture = layouts.get(now.dot, "svg" if medium == "inline" else medium)
        except LayoutTimeoutError as error:
            message = message or str(error)
            continue
        except LayoutFailedError as error:
            return Drawn(wanted, first, "words", problem=Problem(Subtype.LAYOUT, str(error), wanted.at))
        note = f"{message}, so a coarser view is drawn: {words}" if message else picture.note
        return Drawn(wanted, now, medium, picture.data, Problem(Subtype.LAYOUT, note, wanted.at) if note else None)
    return Drawn(wanted, first, "words", problem=Problem(Subtype.LAYOUT, f"{message}, nor any coarser view", wanted.at))
