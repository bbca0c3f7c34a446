"""Kinds of boxes and arrows are told apart without their colours, in the picture and in the legend."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from sphinx_graphviz_autograd.drawing import style, svg
from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.layout import engine, lay_out
from sphinx_graphviz_autograd.drawing.passes import View
from tests.browser.test_sites import STATIC
from tests.drawing.graphs import every_kind, place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

# What is drawn of a box beside its label, without any colour.
FORM = """kind => [...document.querySelectorAll(`.autograd-graph-node.autograd-graph-${kind} > :not(g)`)].map(form => {
  const {strokeDasharray, strokeWidth} = getComputedStyle(form);
  const corners = form.getAttribute("points")?.split(" ").length;
  return [form.tagName, form.getAttribute("rx"), strokeDasharray, strokeWidth, corners];
}).join("; ")"""

# What is drawn of a swatch, without any colour.
SWATCH = """kind => {
  const swatch = document.querySelector(`span.autograd-graph-${kind}`);
  const {borderStyle, borderWidth, borderRadius, backgroundImage, boxShadow} = getComputedStyle(swatch);
  const tab = getComputedStyle(swatch, "::before").content;
  const cuts = backgroundImage.split("gradient").length;
  return [borderStyle, borderWidth, borderRadius, cuts, boxShadow !== "none", tab].join("; ");
}"""

# What is drawn of the swatch of an arrow, without any colour; and what fills the gaps of its line.
LINE_SWATCH = """kind => {
  const swatch = document.querySelector(`.autograd-graph-swatch-line.autograd-graph-${kind}`);
  const {borderTopStyle, backgroundColor} = getComputedStyle(swatch);
  const {width, borderWidth, borderRadius, rotate} = getComputedStyle(swatch, "::after");
  return {form: [borderTopStyle, width, borderWidth, borderRadius, rotate].join("; "), gaps: backgroundColor};
}"""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """A page with a box of every kind, and a swatch for each."""
    picture = lay_out(to_dot(every_kind(), View(), place), engine("auto"), "svg", 30).data
    markup = svg.inline(picture, prefix="kinds", title="Kinds", description="A box of every kind.")
    swatches = "".join(
        f'<span class="autograd-graph-swatch autograd-graph-{look.kind}"></span> ' for look in style.LOOKS
    ) + "".join(
        f'<span class="autograd-graph-swatch autograd-graph-swatch-line autograd-graph-{line.kind}"></span> '
        for line in style.LINES
    )
    sheet = (STATIC / "autograd-graph.css").read_text(encoding="utf-8")
    opened = browser.new_page()
    opened.set_content(f"<style>{sheet}</style><div>{markup}</div><p>{swatches}</p>")
    yield opened
    opened.close()


@pytest.mark.parametrize("drawn", [FORM, SWATCH], ids=["box", "swatch"])
def test_no_two_kinds_of_boxes_differ_by_colour_alone(page: Page, drawn: str) -> None:
    """Each pair differs in form, border or corners, both in the picture and in the legend."""
    seen = {look.kind: page.evaluate(drawn, look.kind) for look in style.LOOKS}

    assert "" not in seen.values()
    assert [pair for pair in combinations(seen, 2) if seen[pair[0]] == seen[pair[1]]] == []


@pytest.mark.parametrize(
    ("kind", "swatch"),
    [
        ("output", "double"),
        ("data", "dashed"),
        ("cap", "dotted"),
        ("grad-fn", "solid; 1px; 2px; 1; false; none"),  # nothing but a border
        ("second-order", "solid; 1px; 2px; 5"),  # a line across each corner
        ("saved-tensor", "solid; 1px; 2px; 2"),  # one corner folded
        ("leaf", "solid; 2px"),
        ("module", 'solid; 1px; 2px; 1; false; ""'),  # a tab
        ("fold", "solid; 1px; 2px; 1; true"),  # an edge behind
    ],
)
def test_swatches_look_like_their_boxes(page: Page, kind: str, swatch: str) -> None:
    """What tells a box tells its swatch, too."""
    seen: str = page.evaluate(SWATCH, kind)

    assert seen.startswith(swatch)


def test_swatches_of_arrows_differ_in_line_or_head(page: Page) -> None:
    """Dashes and dots have gaps, and each unusual kind of arrow that a legend tells of has its own line or head."""
    seen = {line.kind: page.evaluate(LINE_SWATCH, line.kind) for line in style.LINES if line.style != "solid"}

    assert {swatch["gaps"] for swatch in seen.values()} == {"rgba(0, 0, 0, 0)"}
    assert len({swatch["form"] for swatch in seen.values()}) == len(seen) == 4
