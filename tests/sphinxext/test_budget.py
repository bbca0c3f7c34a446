"""Layouts have a budget: what takes longer is drawn more coarsely, and the author is told."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from sphinx_graphviz_autograd.drawing import layout
from sphinx_graphviz_autograd.drawing.passes import View
from sphinx_graphviz_autograd.execution.session import Figure
from sphinx_graphviz_autograd.sphinxext.figures import coarser
from sphinx_graphviz_autograd.sphinxext.layouts import Layouts
from sphinx_graphviz_autograd.sphinxext.locations import Position
from sphinx_graphviz_autograd.sphinxext.pictures import Wanted, draw
from sphinx_graphviz_autograd.tracing.capture import capture
from tests.benchmarks import models

if TYPE_CHECKING:
    from pathlib import Path

    from sphinx_graphviz_autograd.model import Place

UNREADABLE = View(split="merge", fold="off", max_nodes=10_000)
"""A view in which shared weights are hubs of hundreds of arrows."""


_SLOW: Final = """#!/bin/sh
graph=$(cat)
case "$graph $1" in
    *n100*-Tsvg) exec sleep 600 ;;
    *) printf '%s' "$graph" | exec {program} "$@" ;;
esac
"""
"""An engine that is as the real one, but never done with a graph of more than a hundred nodes."""


def wanted(steps: int, view: View) -> Wanted:
    """Return the figure of a recurrent network that shares its weights among all steps."""
    namespace, recorder = models.recorded(models.SHARED.format(nodes=steps))
    graph = capture({"loss": namespace["loss"]}, recorder=recorder, namespace=namespace).graph
    assert graph is not None
    return Wanted(Figure("loss", graph), view, _words, Position("page.rst", 3), _words)


def _words(place: Place) -> str:
    return f"line {place.line}"


def layouts(folder: Path, timeout: float) -> Layouts:
    """Return layouts with a limit, in seconds."""
    return Layouts(folder, layout.engine(), None, timeout)


@pytest.mark.skipif(sys.platform == "win32", reason="the slow engine is a script for a POSIX shell")
def test_too_long_a_layout_gives_way_to_a_coarser_view(tmp_path: Path) -> None:
    """A layout that would take too long is ended; a coarser one is drawn, and the warning says which and why."""
    slow = tmp_path / "slow-engine"
    slow.write_text(_SLOW.format(program=shlex.quote(layout.engine().program)), encoding="utf-8")
    slow.chmod(0o755)
    limited = Layouts(tmp_path, replace(layout.engine(), program=str(slow)), None, 5)

    drawn = draw(wanted(40, UNREADABLE), "inline", limited)

    assert drawn.picture is not None
    assert drawn.plan.drawn is not None
    assert len(drawn.plan.drawn.nodes) < 60
    assert drawn.problem is not None
    assert str(drawn.problem.at) == "page.rst:3"
    assert drawn.problem.message.endswith(
        "so a coarser view is drawn: repetitions are folded, and shared leaves are drawn once per use"
    )
    assert "5 seconds" in drawn.problem.message


def test_without_time_the_graph_is_told_in_words(tmp_path: Path) -> None:
    """If no view is quick enough, the page has the words of the view that was asked for, and a warning."""
    drawn = draw(wanted(12, View()), "inline", layouts(tmp_path, 1e-6))

    assert drawn.picture is None
    assert drawn.medium == "words"
    assert drawn.problem is not None
    assert drawn.problem.message.endswith("nor any coarser view")


def test_a_quick_layout_is_drawn_as_asked(tmp_path: Path) -> None:
    """Within the limit there is nothing to tell."""
    drawn = draw(wanted(12, View()), "inline", layouts(tmp_path, 60))

    assert drawn.picture is not None
    assert drawn.problem is None


def test_views_get_ever_coarser() -> None:
    """Each coarser view draws as few boxes as the one before it, or fewer, and says in words what it does."""
    views = [View(depth=3, expand=("net",)), *(view for view, _ in coarser(View(depth=3, expand=("net",))))]

    assert [view.max_nodes for view in views] == [200, 200, 60, 60]
    assert views[-1].depth == 1
    assert views[-1].expand == ()
    assert all(words for _, words in coarser(View()))
