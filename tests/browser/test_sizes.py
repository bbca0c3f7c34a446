"""How large figures are shown: type stays readable, small ones are whole on a telephone, large ones scroll."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.test_figures import WIDTHS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.conftest import Site
    from tests.sphinxext.sites import Built

# The height of the smallest type of a figure in pixels, and how far its box scrolls sideways and down.
SHOWN = """name => {
  const figure = document.querySelector(`#${name}`), scroll = figure.querySelector(".autograd-graph-scroll");
  const svg = figure.querySelector(".autograd-graph-svg"), page = document.documentElement;
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  const sizes = [...svg.querySelectorAll("text")].map(text => parseFloat(getComputedStyle(text).fontSize));
  return [
    scale * Math.min(...sizes), scroll.scrollWidth - scroll.clientWidth, scroll.scrollHeight - scroll.clientHeight,
    page.scrollWidth - page.clientWidth,
  ];
}"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty page."""
    opened = browser.new_page(viewport={"width": WIDTHS[-1], "height": 900})
    yield opened
    opened.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_wide_figure_scrolls_before_its_type_gets_tiny(page: Page, figures: Built, width: int) -> None:
    """Forty boxes beside each other are never shown with type below 9 pixels; the page does not scroll with them."""
    page.set_viewport_size({"width": width, "height": 900})
    page.goto((figures.out / "large.html").as_uri())

    size, sideways, _, of_page = page.evaluate(SHOWN, "fig-large")

    assert size == pytest.approx(9, abs=0.05)
    assert sideways > 1000
    assert of_page == 0


def test_small_figure_is_whole_on_a_telephone(page: Page, figures: Built) -> None:
    """Without scrolling, and with type that can be read."""
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto((figures.out / "index.html").as_uri())

    for name in ("fig-again", "fig-torchviz"):
        size, *scrolls = page.evaluate(SHOWN, name)

        assert size >= 9
        assert scrolls == [0, 0, 0]


def test_only_a_very_high_figure_scrolls_in_a_window_of_its_own(page: Page, figures: Built) -> None:
    """One that is a little higher than the window is shown whole."""
    page.goto((figures.out / "tall.html").as_uri())
    higher, tall = (
        page.locator(f"#{name} .autograd-graph-scroll").bounding_box() for name in ("fig-higher", "fig-tall")
    )

    assert higher
    assert tall
    assert 900 < higher["height"] < 1400
    assert page.evaluate(SHOWN, "fig-higher")[2] == 0
    assert tall["height"] < 900
    assert page.evaluate(SHOWN, "fig-tall")[2] > 1000


@pytest.mark.parametrize(("width", "beside"), [(360, False), (1440, True)])
def test_legend_stands_beside_the_picture_where_there_is_room(
    page: Page, figures: Built, width: int, *, beside: bool
) -> None:
    """And below it otherwise."""
    page.set_viewport_size({"width": width, "height": 900})
    page.goto((figures.out / "index.html").as_uri())
    picture, legend = (
        page.locator(f"#fig-again {part}").bounding_box() for part in (".autograd-graph-svg", ".autograd-graph-legend")
    )

    assert picture
    assert legend
    assert (legend["x"] > picture["x"] + picture["width"]) == beside
    assert (legend["y"] > picture["y"] + picture["height"]) != beside


def test_controls_do_not_take_the_room_beside_a_narrow_picture(page: Page, documentation: Site) -> None:
    """In a column of text of 46 em, the legend of a chain of boxes stands beside it; the controls wrap below it."""
    page.goto((documentation.html / "gallery.html").as_uri())
    picture, tools, legend = (
        page.locator(f"#fig-detach {part}").bounding_box()
        for part in (".autograd-graph-scroll", ".autograd-graph-tools", ".autograd-graph-legend")
    )

    assert picture
    assert tools
    assert legend
    assert legend["x"] > picture["x"] + picture["width"]
    assert tools["width"] <= picture["width"]
