"""What a reader sees: the figures of the built documentation in Chromium, light and dark, narrow and wide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict, cast

import pytest
from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.conftest import Site

PAGES = ("index", "tutorial/dynamic-graphs", "gallery", "torchviz")
WIDTHS = (360, 768, 1440)

# Every text of a box must lie inside each of the box's outlines; Chromium rounds to a fraction of a pixel.
SPILLED = """() => [...document.querySelectorAll(".autograd-graph-svg .autograd-graph-node")].flatMap(node => {
  const outlines = [...node.querySelectorAll("rect, path, polygon, ellipse")].map(form => form.getBoundingClientRect());
  const largest = Math.max(...outlines.map(box => box.width * box.height));
  const boxes = outlines.filter(box => box.width * box.height > largest / 2);
  return [...node.querySelectorAll("text")].filter(text => {
    const word = text.getBoundingClientRect();
    return boxes.some(box => word.left < box.left - 0.5 || word.right > box.right + 0.5
                          || word.top < box.top - 0.5 || word.bottom > box.bottom + 0.5);
  }).map(text => `${node.id}: ${text.textContent}`);
})"""

# The contrast of every text in a picture, against the box it lies in, or the page if it lies in none.
FAINT = """() => {
  const canvas = Object.assign(document.createElement("canvas"), {width: 1, height: 1});
  const context = canvas.getContext("2d", {willReadFrequently: true});
  const channels = colour => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const luminance = colour => {
    const [r, g, b] = channels(colour).map(part => part / 255)
      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const page = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (channels(colour)[3] === 255) return colour;
    }
    return "white";
  };
  const ground = text => {
    const box = text.closest(".autograd-graph-node, .autograd-graph-frame");
    const form = box?.querySelector("rect, path, polygon, ellipse");
    const fill = form && getComputedStyle(form).fill;
    return fill && fill !== "none" ? fill : page(text.closest("svg"));
  };
  return [...document.querySelectorAll(".autograd-graph-svg text")].flatMap(text => {
    const [dark, light] = [getComputedStyle(text).fill, ground(text)].map(luminance).sort((a, b) => a - b);
    const contrast = (light + 0.05) / (dark + 0.05);
    return contrast < 4.5 ? [`${text.textContent}: ${contrast.toFixed(2)}`] : [];
  });
}"""

# Pictures, or what they are scrolled in, that stick out of the column; how far the page can be scrolled sideways.
WIDE = """() => ({
  pictures: [...document.querySelectorAll(".autograd-graph-svg")].filter(picture => {
    const seen = picture.closest(".autograd-graph-scroll") ?? picture;
    const column = picture.closest("section").getBoundingClientRect(), box = seen.getBoundingClientRect();
    return box.left < column.left - 0.5 || box.right > column.right + 0.5;
  }).map(picture => picture.id),
  scroll: document.documentElement.scrollWidth - document.documentElement.clientWidth,
})"""

# The colour of every text in a picture.
TEXT_COLOURS = """() =>
  [...document.querySelectorAll(".autograd-graph-svg text")].map(text => getComputedStyle(text).fill)"""

REPEATED_IDS = """() => {
  const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
  return ids.filter((id, at) => ids.indexOf(id) !== at);
}"""


class Wide(TypedDict):
    """What is too wide in a page."""

    pictures: list[str]
    scroll: int


Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module", params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> Scheme:
    """What the reader's system is set to."""
    return cast("Scheme", request.param)


@pytest.fixture(scope="module", params=PAGES)
def opened(request: pytest.FixtureRequest, browser: Browser, documentation: Site, scheme: Scheme) -> Iterator[Page]:
    """A page of the documentation, as the reader's system shows it."""
    page = browser.new_page(color_scheme=scheme)
    page.goto((documentation.html / f"{request.param}.html").as_uri())
    yield page
    page.close()


@pytest.fixture
def page(opened: Page) -> Page:
    """The page on a wide screen, before the reader has chosen a theme."""
    opened.set_viewport_size({"width": WIDTHS[-1], "height": 900})
    opened.evaluate("() => { document.body.dataset.theme = 'auto' }")
    return opened


def test_page_has_pictures_and_no_id_twice(page: Page) -> None:
    """Every one of these pages has a picture, and no id occurs twice in any of them."""
    assert page.locator(".autograd-graph-svg").count() > 0
    assert page.evaluate(REPEATED_IDS) == []


def test_labels_lie_inside_their_boxes(page: Page) -> None:
    """Every label lies inside its box."""
    assert page.evaluate(SPILLED) == []


def test_texts_in_pictures_can_be_read(page: Page) -> None:
    """Every text of a picture has a contrast of 4.5 or more with what it stands on."""
    assert page.evaluate(FAINT) == []


def test_figures_have_no_accessibility_violations(page: Page) -> None:
    """Axe finds nothing to complain of in figures: picture, caption and legend."""
    results = Axe().run(page, context="figure")

    assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize("width", WIDTHS)
def test_figures_fit_their_column(page: Page, width: int) -> None:
    """On a telephone, a tablet and a desk, no picture is wider than the text, and no page scrolls sideways."""
    page.set_viewport_size({"width": width, "height": 900})

    wide: Wide = page.evaluate(WIDE)

    assert wide == {"pictures": [], "scroll": 0}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_follow_the_theme_that_a_reader_chose(page: Page, scheme: Scheme, theme: Scheme) -> None:
    """A reader's choice in the page counts for more than the system's setting."""
    before = page.evaluate(TEXT_COLOURS)

    page.evaluate("theme => { document.body.dataset.theme = theme }", theme)

    assert (page.evaluate(TEXT_COLOURS) == before) == (theme == scheme)
    assert page.evaluate(FAINT) == []
