"""What figures do: details, marks, backward step by step, zoom and full view, by mouse, by touch and by keyboard."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page

    from tests.conftest import Site
    from tests.sphinxext.sites import Built

SHIFTS = """() => new Promise(resolve => {
  const shifts = [];
  new PerformanceObserver(list => shifts.push(...list.getEntries().map(entry => entry.value)))
    .observe({type: "layout-shift", buffered: true});
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(shifts)));
})"""


@pytest.fixture
def page(browser: Browser, figures: Built) -> Iterator[Page]:
    """The page with figures, without an error in its scripts."""
    opened = browser.new_page(viewport={"width": 1200, "height": 900})
    opened.set_default_timeout(5000)
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto((figures.out / "index.html").as_uri())
    yield opened
    opened.close()
    assert errors == []


@pytest.fixture
def large(page: Page, figures: Built) -> Page:
    """The page with a large figure."""
    page.goto((figures.out / "large.html").as_uri())
    return page


def node(page: Page, words: str, figure: str = "fig-loss") -> Locator:
    """Return the box of a figure whose first words are these."""
    return page.locator(f"#{figure} .autograd-graph-node[aria-label^='{words}']")


def card(page: Page) -> Locator:
    """Return the card that is open."""
    return page.locator(".autograd-graph-card")


def marked(page: Page, figure: str = "fig-loss") -> list[str]:
    """Return the names of the boxes that are marked."""
    found = page.locator(f"#{figure} .autograd-graph-node.autograd-graph-main")
    return sorted((one.get_attribute("aria-label") or "").split(",")[0] for one in found.all())


def shown_step(page: Page) -> str:
    """Return what is said of the step of backward."""
    return page.locator("#fig-loss .autograd-graph-status").inner_text()


def width(page: Page) -> float:
    """Return how wide the large picture is shown."""
    box = page.locator("#fig-large .autograd-graph-svg").bounding_box()
    assert box
    return box["width"]


def test_click_opens_the_card_of_a_node_and_escape_closes_it(page: Page) -> None:
    """The card tells what the table tells, what feeds the node is marked, and the keyboard is back at the node."""
    node(page, "yhat AddBackward0").click()

    told = dict(
        zip(card(page).locator("dt").all_inner_texts(), card(page).locator("dd").all_inner_texts(), strict=True)
    )
    assert told["Operation"] == "add"
    assert told["Shape"] == "()"
    assert told["Made at"] == "line 5"
    assert told["Gradient"].startswith("14")
    assert told["Fed by"] == "MulBackward0, b"
    assert marked(page) == ["yhat AddBackward0"]
    expect(node(page, "b leaf tensor")).to_have_class(re.compile("autograd-graph-near"))
    expect(node(page, "w leaf tensor")).not_to_have_class(re.compile("autograd-graph-near"))
    expect(page.locator('[id$="-0-line-5"]')).to_have_class(re.compile("autograd-graph-made"))

    page.keyboard.press("Escape")

    expect(card(page)).to_have_count(0)
    expect(node(page, "yhat AddBackward0")).to_be_focused()


def test_card_tells_what_a_function_keeps_and_where_it_is_described(page: Page) -> None:
    """Saved tensors are told with what they are, and the operation is linked to PyTorch's page."""
    node(page, "loss PowBackward0").click()

    assert "exponent = 2" in card(page).inner_text()
    assert "is yhat" in card(page).inner_text()
    link = card(page).get_by_role("link", name="pow", exact=True)
    expect(link).to_have_attribute("href", "https://docs.pytorch.org/docs/stable/generated/torch.pow.html#torch.pow")


def test_links_in_a_card_lead_to_the_cards_of_neighbours(page: Page) -> None:
    """From the loss one gets to what feeds it."""
    node(page, "loss PowBackward0").click()

    card(page).get_by_role("link", name="yhat", exact=True).click()

    expect(card(page)).to_have_attribute("aria-label", "yhat AddBackward0")
    expect(node(page, "yhat AddBackward0")).to_be_focused()


def test_click_beside_closes_the_card(page: Page) -> None:
    """As does its own button."""
    node(page, "b leaf tensor").click()
    card(page).get_by_role("button", name="Close").click()
    expect(card(page)).to_have_count(0)

    node(page, "b leaf tensor").click()
    page.locator("h1").first.click()
    expect(card(page)).to_have_count(0)


def test_nodes_are_reached_by_keyboard_alone(page: Page) -> None:
    """A figure is one stop of the Tab key; arrows lead from box to box, Enter opens the card, which moves along."""
    node(page, "loss output").focus()

    page.keyboard.press("ArrowUp")
    expect(node(page, "loss PowBackward0")).to_be_focused()
    assert marked(page) == ["loss PowBackward0"]

    page.keyboard.press("Enter")
    expect(card(page)).to_have_attribute("aria-label", "loss PowBackward0")
    expect(node(page, "loss PowBackward0")).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowUp")
    expect(card(page)).to_have_attribute("aria-label", "yhat AddBackward0")
    page.keyboard.press("Home")
    expect(node(page, "loss output")).to_be_focused()
    page.keyboard.press("Tab")
    expect(card(page).get_by_role("button", name="Close")).to_be_focused()
    assert page.locator("#fig-loss .autograd-graph-node[tabindex='0']").count() == 1


def test_everything_of_a_figure_is_a_stop_of_the_tab_key(page: Page) -> None:
    """In the order of the page: code, boxes, controls, legend, table; and each stop is seen."""
    page.locator('[id$="-0-line-5"]').focus()

    stops: list[str] = []
    for _ in range(13):
        stops.append(
            page.evaluate("""() => {
              const at = document.activeElement, style = getComputedStyle(at);
              const seen = parseFloat(style.outlineWidth) >= 2 && style.outlineStyle !== "none";
              return (at.ariaLabel || at.title || at.innerText).split(/[,:(\\n]/)[0].trim() + (seen ? "" : " UNSEEN");
            }""")
        )
        page.keyboard.press("Tab")

    assert stops[1:] == [
        "loss output",
        "Previous step of backward",
        "Play backward",
        "Next step of backward",
        "Zoom out",
        "Zoom in",
        "Fit to the page",
        "Full view",
        "Picture alone",
        "output",
        "function",
        "leaf tensor",
    ]


def test_line_marks_the_nodes_that_it_made(page: Page) -> None:
    """In each figure of them, by mouse and by keyboard."""
    line = page.locator('[id$="-0-line-5"]')

    line.hover()
    assert marked(page) == ["MulBackward0", "yhat AddBackward0"]
    assert marked(page, "fig-again") == ["MulBackward0", "yhat AddBackward0"]

    page.mouse.move(0, 0)
    assert marked(page) == []

    line.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator('[id$="-0-line-8"]')).to_be_focused()
    assert marked(page) == ["loss PowBackward0"]
    page.keyboard.press("Enter")
    expect(card(page)).to_have_attribute("aria-label", "loss PowBackward0")


def test_line_that_did_not_run_is_dim_without_any_script(page: Page) -> None:
    """The branch not taken has the colour of what is less important."""
    dim, plain = (
        page.locator(f'[id$="-0-line-{at}"] .n').first.evaluate("word => getComputedStyle(word).color") for at in (7, 8)
    )

    assert dim == "rgb(95, 102, 114)"
    assert plain != dim


def test_row_of_the_legend_marks_its_nodes_and_can_be_pinned(page: Page) -> None:
    """Hover and focus mark them; a click or Enter keeps the mark until the next."""
    word = page.locator("#fig-loss .autograd-graph-legend strong", has_text="leaf tensor")

    word.hover()
    assert marked(page) == ["b leaf tensor", "w leaf tensor"]
    page.mouse.move(0, 0)
    assert marked(page) == []

    word.focus()
    page.keyboard.press("Enter")
    page.locator("#fig-again .autograd-graph-node").first.focus()
    assert marked(page) == ["b leaf tensor", "w leaf tensor"]
    expect(word).to_have_attribute("aria-pressed", "true")
    word.click()
    page.mouse.move(0, 0)
    page.locator("#fig-again .autograd-graph-node").first.focus()
    assert marked(page) == []


def test_steps_follow_the_engine_and_carry_gradients(page: Page) -> None:
    """From the output to the leaves; the arrows that carry the gradient are marked, and its value is said."""
    following = page.get_by_title("Next step of backward").first
    seen = []
    for _ in range(6):
        following.click()
        seen += marked(page)

    assert seen == [
        "loss output",
        "loss PowBackward0",
        "yhat AddBackward0",
        "b leaf tensor",
        "MulBackward0",
        "w leaf tensor",
    ]
    assert shown_step(page).startswith("Step 6 of 6: the gradient of w, 42")
    expect(page.locator("#fig-loss .autograd-graph-edge.autograd-graph-flow")).to_have_count(0)

    page.get_by_title("Previous step of backward").first.click()
    assert shown_step(page).startswith("Step 5 of 6: the gradient of MulBackward0, 14")
    assert shown_step(page).endswith("It is passed on to w.")
    expect(page.locator("#fig-loss .autograd-graph-edge.autograd-graph-flow")).to_have_count(1)

    page.get_by_title("Previous step of backward").first.focus()
    page.keyboard.press("Escape")
    assert (marked(page), shown_step(page)) == ([], "")


def test_arrow_that_carries_a_gradient_bears_its_shape(page: Page) -> None:
    """Where the figure shows no gradients itself."""
    again = page.get_by_title("Next step of backward").nth(1)
    again.click()
    again.click()

    expect(page.locator("#fig-again .autograd-graph-carried")).to_have_text(["()"])


def test_backward_plays_by_itself_and_can_be_paused(page: Page) -> None:
    """One step follows the other until a reader stops them."""
    page.clock.install()
    page.reload()
    play = page.get_by_title("Play backward").first

    play.click()
    assert shown_step(page).startswith("Step 1 of 6")
    page.clock.run_for(1700)
    assert shown_step(page).startswith("Step 2 of 6")
    page.get_by_title("Pause").click()
    page.clock.run_for(5000)
    assert shown_step(page).startswith("Step 2 of 6")
    play.click()
    page.clock.run_for(60000)
    assert shown_step(page).startswith("Step 6 of 6")
    expect(page.get_by_title("Pause")).to_have_count(0)


def test_nothing_moves_for_readers_who_do_not_want_it(page: Page) -> None:
    """With reduced motion there are steps, but no play button and no animation."""
    page.emulate_media(reduced_motion="reduce")
    page.get_by_title("Next step of backward").first.click()
    page.get_by_title("Next step of backward").first.click()

    expect(page.get_by_title("Play backward").first).to_be_hidden()
    assert page.evaluate("document.getAnimations().length") == 0
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate("document.getAnimations().length") > 0


def test_words_of_the_role_mark_their_node_and_lead_to_it(page: Page) -> None:
    """Hover and focus mark it; a click goes there and opens its card."""
    link = page.get_by_role("link", name="the weight")

    link.hover()
    assert marked(page) == ["w leaf tensor"]
    page.mouse.move(0, 0)
    link.focus()
    assert marked(page) == ["w leaf tensor"]
    link.click()
    expect(card(page)).to_have_attribute("aria-label", "w leaf tensor")
    expect(node(page, "w leaf tensor")).to_be_in_viewport()


def test_zoom_by_buttons_wheel_and_fingers(large: Page) -> None:
    """Each makes the picture larger around where it is, within a box that scrolls; fit undoes it."""
    scroll = large.locator("#fig-large .autograd-graph-scroll")
    fitted = width(large)

    large.get_by_title("Zoom in").click()
    assert width(large) == pytest.approx(fitted * 1.25, rel=0.01)
    large.get_by_title("Zoom out").click()
    assert width(large) == pytest.approx(fitted, rel=0.01)

    scroll.hover()
    large.keyboard.down("Control")
    large.mouse.wheel(0, -50)
    large.keyboard.up("Control")
    large.wait_for_function(f"document.querySelector('#fig-large svg').getBoundingClientRect().width > {fitted * 1.1}")
    expect(scroll).to_have_attribute("tabindex", "0")

    wheeled = width(large)
    box = scroll.bounding_box() or {"x": 0, "y": 0, "width": 0, "height": 0}
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    session = large.context.new_cdp_session(large)
    for kind, apart in (("touchStart", 40), ("touchMove", 80)):
        points = [{"x": x - apart, "y": y}, {"x": x + apart, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert width(large) == pytest.approx(wheeled * 2, rel=0.01)

    large.get_by_title("Fit to the page").click()
    assert width(large) == pytest.approx(fitted, rel=0.01)


def test_full_view_is_a_dialog_and_nothing_moves_behind_it(large: Page) -> None:
    """It holds picture, controls and cards; the first Escape closes the card, the second the view."""
    before = large.locator("#fig-large figcaption").bounding_box()
    large.get_by_title("Full view").click()

    dialog = large.get_by_role("dialog", name="Autograd graph of total")
    expect(dialog).to_be_visible()
    assert large.locator("#fig-large figcaption").bounding_box() == before
    dialog.locator(".autograd-graph-node").first.click()
    expect(dialog.locator(".autograd-graph-card")).to_be_visible()
    large.keyboard.press("Escape")
    expect(card(large)).to_have_count(0)
    expect(dialog).to_be_visible()
    large.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert large.locator("#fig-large figcaption").bounding_box() == before
    expect(large.get_by_title("Full view")).to_be_focused()


def test_picture_alone_is_complete(large: Page) -> None:
    """The link leads to an SVG file with title, style sheet, and all boxes."""
    href = large.get_by_role("link", name="Picture alone").get_attribute("href") or ""

    large.goto(f"{large.url.rpartition('/')[0]}/{href}")

    assert large.locator("svg > title").text_content() == "Autograd graph of total"
    assert large.locator("svg > style").count() == 1
    assert large.locator(".autograd-graph-node").count() > 80


def test_table_has_every_node_and_its_rows_lead_to_boxes(page: Page) -> None:
    """The disclosure below a figure, in the order of backward, with what gradients do not reach at the end."""
    page.get_by_text("The graph as a table").first.click()
    table = page.get_by_role("table").first

    names = table.locator("tbody th").all_inner_texts()
    assert names == [
        "loss output",
        "loss PowBackward0",
        "yhat AddBackward0",
        "b leaf tensor",
        "MulBackward0",
        "w leaf tensor",
        "self saved tensor",
        "other saved tensor",
    ]
    table.get_by_role("link", name="b leaf tensor").hover()
    assert marked(page) == ["b leaf tensor"]
    table.get_by_role("link", name="b leaf tensor").click()
    expect(card(page)).to_have_attribute("aria-label", "b leaf tensor")


def test_drawing_of_somebody_else_can_be_looked_at_closely(page: Page) -> None:
    """It has zoom, full view and legend, but nothing to step through."""
    figure = page.locator("#fig-torchviz")

    expect(figure.get_by_title("Zoom in")).to_be_visible()
    expect(figure.get_by_title("Play backward")).to_have_count(0)
    figure.locator("strong", has_text="leaf tensor").hover()
    assert figure.locator(".autograd-graph-node.autograd-graph-main").count() == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_with_every_panel_open(browser: Browser, figures: Built, scheme: str) -> None:
    """Card, step, pinned row and table at once, in the page and in full view."""
    page = browser.new_page(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
    page.goto((figures.out / "index.html").as_uri())
    for summary in page.locator(".autograd-graph-table summary").all():
        summary.click()
    page.get_by_title("Next step of backward").first.click()
    node(page, "yhat AddBackward0").click()
    context = {"include": [["figure"], [".autograd-graph-table"]]}

    results = Axe().run(page, context=context)
    assert results.violations_count == 0, results.generate_report()

    page.get_by_title("Full view").first.click()
    results = Axe().run(page, context="dialog")
    assert results.violations_count == 0, results.generate_report()
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_chapter(browser: Browser, documentation: Site, scheme: str) -> None:
    """Every table open, a card and a step in each figure, and lines that did not run."""
    page = browser.new_page(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
    page.goto((documentation.html / "tutorial" / "dynamic-graphs.html").as_uri())
    page.evaluate("document.querySelectorAll('.autograd-graph-table').forEach(table => { table.open = true })")
    for button in page.get_by_title("Next step of backward").all():
        button.click()
    page.locator("#fig-loss .autograd-graph-node").nth(2).click()

    results = Axe().run(page, context="article")

    assert results.violations_count == 0, results.generate_report()
    page.close()


def test_script_moves_nothing(browser: Browser, figures: Built) -> None:
    """The room of the controls is kept from the start, so that no layout shifts when they appear."""
    page = browser.new_page(viewport={"width": 360, "height": 900})
    page.goto((figures.out / "index.html").as_uri())

    assert page.evaluate(SHIFTS) == []
    page.close()


def test_page_without_script_has_picture_and_table_but_no_dead_controls(browser: Browser, figures: Built) -> None:
    """The picture is there, the table opens, the link to the picture works; nothing invites in vain."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((figures.out / "index.html").as_uri())

    expect(page.locator("#fig-loss .autograd-graph-svg")).to_be_visible()
    expect(page.locator("#fig-loss").get_by_role("button")).to_have_count(0)
    expect(page.get_by_role("link", name="Picture alone").first).to_be_visible()
    page.get_by_text("The graph as a table").first.click()
    expect(page.get_by_role("table").first).to_be_visible()
    context.close()


def test_fingers_find_large_enough_targets(browser: Browser, figures: Built) -> None:
    """On a touch screen each button is at least 44 pixels wide and high, and a tap opens a card."""
    context = browser.new_context(has_touch=True, is_mobile=True, viewport={"width": 360, "height": 740})
    page = context.new_page()
    page.goto((figures.out / "index.html").as_uri())

    sizes = page.locator(".autograd-graph-tools button:visible").evaluate_all(
        "buttons => buttons.map(button => Math.min(button.offsetWidth, button.offsetHeight))"
    )
    assert min(sizes) >= 44
    node(page, "b leaf tensor").tap()
    box = card(page).bounding_box() or {"x": -1.0, "width": 1000.0}
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    context.close()


def test_marks_are_seen_in_forced_colours_and_nothing_of_the_controls_is_printed(page: Page) -> None:
    """Forced colours give a mark the colour of what is selected; paper has picture and legend alone."""
    page.emulate_media(forced_colors="active")
    node(page, "b leaf tensor").click()
    stroke = node(page, "b leaf tensor").evaluate("box => getComputedStyle(box).stroke")
    other = node(page, "w leaf tensor").evaluate("box => getComputedStyle(box).stroke")
    assert stroke != other

    page.emulate_media(media="print", forced_colors="none")
    expect(page.locator("#fig-loss .autograd-graph-tools")).to_be_hidden()
    expect(page.locator("#fig-loss .autograd-graph-legend")).to_be_visible()
