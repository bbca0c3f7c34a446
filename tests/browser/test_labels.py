"""Labels in any font: a box holds its label whatever sans-serif font stands in for Helvetica, in any script."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sphinx_graphviz_autograd.drawing import svg
from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.layout import engine, lay_out
from sphinx_graphviz_autograd.drawing.passes import SHOW, View, apply
from sphinx_graphviz_autograd.model import Edge, Graph, Leaf, Output
from tests.browser.test_figures import SPILLED
from tests.drawing.graphs import BATCH, ONE, blocks, function, loss, place, recurrent

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from sphinx_graphviz_autograd.model import Node

NAMES = (
    *("i" * 30, "W" * 20, "損失関数の勾配", "경사하강법", "градиент", "κλίση", "عربية", "😀🎉👩\u200d🔬", "∇λ·½é"),
    *("<script>alert(1)</script>", "weights[12]['query']", "encoder.layers.11.self_attn.out_proj.weight"),
)


def nasty() -> Graph:
    """Return a graph whose leaves and functions have names of every sort."""
    nodes: list[Node] = [Output("n0", "y", BATCH)]
    edges = []
    for at, name in enumerate(NAMES):
        nodes += [function(f"f{at}", "native_layer_norm", name=name, line=10), Leaf(f"w{at}", ONE, (name,))]
        edges += [Edge(f"f{at}", "n0", "output"), Edge(f"w{at}", f"f{at}")]
    return Graph(tuple(nodes), tuple(edges))


@pytest.mark.parametrize("font", ["Liberation Sans", "DejaVu Sans", "Noto Sans CJK JP", "sans-serif"])
def test_labels_lie_inside_their_boxes_in_any_font(browser: Browser, font: str) -> None:
    """Where a font is missing, whatever Chromium takes instead will do too."""
    views = (View(), View(show=frozenset(SHOW)), View(labels="forward", depth=1), View(max_nodes=10, fold="off"))
    pictures = [
        svg.inline(
            lay_out(to_dot(apply(graph, view), view, place), engine("auto"), "svg", 30).data,
            prefix=f"g{at}v{number}",
            title="Graph",
            description="A graph.",
        )
        for at, graph in enumerate((nasty(), loss(), recurrent(50), blocks(12)))
        for number, view in enumerate(views)
    ]
    page = browser.new_page()

    page.set_content(f"<style>text {{ font-family: '{font}', sans-serif }}</style>{''.join(pictures)}")

    assert page.evaluate(SPILLED) == []
    page.close()
