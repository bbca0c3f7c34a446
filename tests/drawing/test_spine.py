"""The longest chain is drawn straight, and frames stand below each other, so that figures stay narrow."""

from __future__ import annotations

import re
from itertools import combinations

from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.layout import engine, lay_out
from sphinx_graphviz_autograd.drawing.passes import DEFAULT_SHOW, View, apply
from sphinx_graphviz_autograd.drawing.spine import spine
from sphinx_graphviz_autograd.drawing.svg import inline
from sphinx_graphviz_autograd.model import Graph
from tests.drawing.graphs import blocks, loss, place, recurrent


def boxes(graph: Graph, view: View) -> dict[str, tuple[float, float, float, float]]:
    """Return left, top, width and height of each rectangular box or frame of a figure, by its id."""
    picture = lay_out(to_dot(apply(graph, view), view, place), engine("auto"), "svg", 30).data
    markup = inline(picture, prefix="p", title="t", description="d")
    found = re.findall(r'<g id="p-(\w+)"[^>]*><rect x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"', markup)
    return {id_: (float(x), float(y), float(width), float(height)) for id_, x, y, width, height in found}


def test_spine_is_the_longest_chain_to_an_output() -> None:
    """From the output up to a leaf, arrow by arrow; in the loss it goes by `yhat`, which is further from the leaf."""
    chain = dict(sorted(spine(loss()), reverse=True))

    assert len(chain) == 7
    assert set(chain.values()) - set(chain) == {"n0"}
    assert spine(Graph()) == frozenset()


def test_spine_is_straight() -> None:
    """The centres of its boxes lie on a line, also where at each step inputs come from one side."""
    view = View(direction="TB", fold="off")
    graph = apply(recurrent(6), view)
    at = boxes(graph, view)

    centres = [at[box][0] + at[box][2] / 2 for pair in spine(graph) for box in pair if box in at]

    assert len(centres) > 40
    assert max(centres) - min(centres) < 12


def test_frames_stand_below_those_that_feed_them() -> None:
    """A chain of modules is a stack of frames and no flight of stairs."""
    at = boxes(blocks(4), View(show=DEFAULT_SHOW | {"modules"}, fold="off"))

    frames = sorted((top, top + height) for id_, (_, top, _, height) in at.items() if re.fullmatch(r"m\d+", id_))
    beside = [
        (one, other)
        for one, other in combinations(frames, 2)
        if other[0] < one[1] < other[1]  # neither below the first nor in it
    ]

    assert len(frames) == 9
    assert beside == []
