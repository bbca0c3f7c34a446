"""From code to picture: every case is drawn, with everything that can be shown and with what is shown by default."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.layout import engine, lay_out
from sphinx_graphviz_autograd.drawing.legend import rows
from sphinx_graphviz_autograd.drawing.passes import View, apply
from sphinx_graphviz_autograd.drawing.passes.view import SHOW
from sphinx_graphviz_autograd.drawing.svg import standalone
from sphinx_graphviz_autograd.drawing.text import sentence, tree
from sphinx_graphviz_autograd.model import CaptureOptions
from tests.cases import CASES
from tests.tracing.running import run

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.model import Graph, Place

VIEWS = {"default": View(), "everything": View(show=frozenset(SHOW))}
"""What is asked for."""

REFUSED = {"P13_leaf_only", "P14_no_grad_output", "P49_invalid_view"}
"""The cases that have no graph."""


@cache
def captured(name: str) -> Graph:
    """Return the graph of a case with all that can be captured."""
    case = CASES[name]
    return run(case.code, *case.draws, options=CaptureOptions(data=True, gradients=True)).graph


def place(at: Place) -> str:
    """Say where a line is."""
    return f"line {at.line}"


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_case_is_drawn(name: str, view: str) -> None:
    """Every case becomes a picture with a box for each node of its view, a legend, and words."""
    drawn = apply(captured(name), VIEWS[view])

    svg = standalone(lay_out(to_dot(drawn, VIEWS[view], place), engine(), "svg", 60).data, title="t", description="d")

    assert all(f'id="{node.id}"' in svg for node in drawn.nodes)
    assert rows(drawn, VIEWS[view], place)
    assert len(tree(drawn, VIEWS[view], place).splitlines()) >= len(drawn.outputs)
    assert sentence(drawn)
