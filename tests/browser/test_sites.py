"""Pages as sites serve them: in six themes, under a strict policy, as one page, and valid as HTML."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import pytest
from playwright.sync_api import expect

import sphinx_graphviz_autograd
from tests.browser.test_figures import FAINT, REPEATED_IDS, SPILLED, WIDTHS
from tests.sphinxext.sites import build

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.conftest import Site
    from tests.sphinxext.sites import Built

THEMES = ("furo", "sphinx_book_theme", "pydata_sphinx_theme", "sphinx_rtd_theme", "alabaster", "sphinx_immaterial")
STATIC = Path(sphinx_graphviz_autograd.__file__).parent / "static"

# Boxes of a picture that overlap.
OVERLAPS = """() => [...document.querySelectorAll(".autograd-graph-svg")].flatMap(svg => {
  const boxes = [...svg.querySelectorAll(".autograd-graph-node")].map(node => [node.id, node.getBoundingClientRect()]);
  return boxes.flatMap(([id, a], at) => boxes.slice(at + 1)
    .filter(([, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
    .map(([other]) => `${id} ${other}`));
})"""

# How far the page scrolls sideways, and figures that stick out of the window.
OUT = """() => ({
  scroll: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  figures: [...document.querySelectorAll("figure.autograd-graph")].filter(figure => {
    const box = figure.getBoundingClientRect();
    return box.left < -0.5 || box.right > innerWidth + 0.5;
  }).map(figure => figure.id),
})"""


class Out(TypedDict):
    """What is wider than the window."""

    scroll: int
    figures: list[str]


class Strict(SimpleHTTPRequestHandler):
    """Serves files that may load nothing but files of the same site."""

    def end_headers(self) -> None:
        """Add the policy."""
        self.send_header("Content-Security-Policy", "default-src 'self'")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Say nothing."""


@pytest.fixture(scope="module", params=THEMES)
def theme(request: pytest.FixtureRequest, figures: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages with figures in a theme, drawn from the results that are stored by now."""
    name: str = request.param
    pytest.importorskip(name, reason="needs what the extra `test` installs")
    source = tmp_path_factory.mktemp(name) / "source"
    shutil.copytree(figures.out.parent / "source", source)
    store = figures.out.parent / "doctrees" / "autograd_graph" / "results"
    shutil.copytree(store, source / "results")
    settings: dict[str, object] = {
        "html_theme": name,
        "autograd_graph_store": "results",
        "autograd_graph_execute": "never",
    }
    if name == "sphinx_immaterial":
        settings |= {"extensions": ["sphinx_graphviz_autograd", name], "html_theme_options": {"font": False}}
    with (source / "conf.py").open("a", encoding="utf-8") as conf:
        conf.writelines(f"{key} = {value!r}\n" for key, value in settings.items())
    built = build(source)
    assert (built.status, built.subtypes) == (0, []), built.errors
    return built.out


@pytest.fixture(scope="module")
def server(figures: Built) -> Iterator[str]:
    """The address of a server of the site of figures with a strict policy."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Strict, directory=str(figures.out))) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()
        thread.join()


def opened(browser: Browser, address: str, scheme: str = "light") -> Page:
    """Open a page as a reader's system shows it."""
    page = browser.new_page(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
    page.route("http*://**", lambda route: route.abort() if "127.0.0.1" not in route.request.url else route.continue_())
    page.goto(address)
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_are_whole_in_every_theme(browser: Browser, theme: Path, scheme: str) -> None:
    """On a telephone, a tablet and a desk: labels in their boxes, no overlaps, readable, nothing sticks out."""
    page = opened(browser, "about:blank", scheme)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto((theme / "index.html").as_uri())
        out: Out = page.evaluate(OUT)

        assert (page.evaluate(SPILLED), page.evaluate(OVERLAPS), page.evaluate(FAINT)) == ([], [], [])
        assert out["figures"] == []
        page.evaluate("document.querySelectorAll('.autograd-graph, .autograd-graph-code').forEach(one => one.remove())")
        without: Out = page.evaluate(OUT)
        assert out["scroll"] == without["scroll"]  # one theme is itself wider than a telephone
    page.close()


def test_figures_work_in_every_theme(browser: Browser, theme: Path) -> None:
    """Card, step, legend and full view."""
    page = opened(browser, (theme / "index.html").as_uri())
    page.set_default_timeout(5000)

    page.locator("#fig-loss .autograd-graph-node").first.click()
    assert page.locator(".autograd-graph-card").count() == 1
    page.keyboard.press("Escape")
    page.get_by_title("Next step of backward").first.click()
    assert page.locator("#fig-loss .autograd-graph-status").inner_text().startswith("Step 1 of 6")
    page.get_by_title("Full view").first.click()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator(".autograd-graph-full-view")).to_have_count(0)
    page.locator("#fig-loss .autograd-graph-legend strong").nth(2).click()
    assert page.locator("#fig-loss .autograd-graph-main").count() == 2
    page.close()


def test_nothing_of_ours_breaks_a_strict_policy(browser: Browser, server: str) -> None:
    """With no inline script and no inline style allowed, nothing is refused, also while figures are used."""
    page = browser.new_page()
    page.add_init_script(
        "window.refused = []; document.addEventListener('securitypolicyviolation', event => "
        "refused.push(`${event.violatedDirective} ${event.sample} ${event.sourceFile}`))"
    )
    page.goto(f"{server}/genindex.html")
    refused_of_theme: list[str] = page.evaluate("refused")

    page.goto(f"{server}/index.html")
    page.locator("#fig-loss .autograd-graph-node").first.click()
    page.get_by_title("Zoom in").first.click()
    page.get_by_title("Full view").first.click()
    page.get_by_title("Next step of backward").first.click()

    assert page.locator("#fig-loss .autograd-graph-svg").evaluate("svg => getComputedStyle(svg).display") == "block"
    refused: list[str] = page.evaluate("refused")
    assert [line.replace("index", "genindex") for line in refused] == refused_of_theme
    page.close()


def test_site_as_one_page_has_no_id_twice_and_works(browser: Browser, figures: Built) -> None:
    """Several pages with figures in one."""
    built = build(figures.out.parent / "source", "-nW", builder="singlehtml")
    assert built.status == 0, built.errors
    page = opened(browser, (built.out / "index.html").as_uri())

    assert page.evaluate(REPEATED_IDS) == []
    page.locator("#fig-large .autograd-graph-node").first.click()
    assert page.locator(".autograd-graph-card").get_attribute("aria-label") == "total output"
    page.get_by_role("link", name="the weight").click()
    assert page.locator(".autograd-graph-card").get_attribute("aria-label") == "w leaf tensor"
    page.close()


def test_script_and_style_are_small_and_only_where_there_is_a_figure(figures: Built, documentation: Site) -> None:
    """Under 20 and 12 kB, linked from pages with figures alone, the script so that it delays nothing."""
    assert (STATIC / "autograd-graph.js").stat().st_size < 20_000
    assert (STATIC / "autograd-graph.css").stat().st_size < 12_000
    page = figures.page("index.html")
    assert page.count("autograd-graph.js") == page.count("autograd-graph.css") == 1
    script = next(line for line in page.splitlines() if "autograd-graph.js" in line)
    assert "defer" in script
    assert "autograd-graph.js" not in (documentation.html / "changelog.html").read_text(encoding="utf-8")


def test_table_is_smaller_than_the_picture(figures: Built) -> None:
    """What a table adds to a page does not exceed what the picture takes, however many nodes there are."""
    page = figures.page("large.html")
    picture = page[page.index('<svg class="autograd-graph-svg"') : page.index("</svg>\n</div>")]
    table = page[page.index("<details") : page.index("</details>")]

    assert len(table) < len(picture)


def test_pages_are_valid_html(documentation: Site) -> None:
    """The Nu HTML checker finds no error in what is ours on any page of the documentation."""
    jar, java = os.environ.get("VNU_JAR"), shutil.which("java")
    if not jar or not java:
        pytest.skip("needs Java, and the path of vnu.jar in VNU_JAR")
    pages = sorted(documentation.html.rglob("*.html"))
    command = [java, "-jar", jar, "--errors-only", "--format", "gnu", *map(str, pages)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert [line for line in done.stderr.splitlines() if "autograd-graph" in line] == []


def test_epub_is_valid(figures: Built) -> None:
    """Epubcheck finds no error in an EPUB with figures and tables."""
    jar, java = os.environ.get("EPUBCHECK_JAR"), shutil.which("java")
    if not jar or not java:
        pytest.skip("needs Java, and the path of epubcheck.jar in EPUBCHECK_JAR")
    # what Sphinx leaves empty otherwise, which is not valid
    about = ("-D", "copyright=2026, The authors", "-D", "author=The authors", "-D", "version=1")
    built = build(figures.out.parent / "source", *about, builder="epub")
    book = next(built.out.glob("*.epub"))
    done = subprocess.run([java, "-jar", jar, "-q", str(book)], capture_output=True, text=True, check=False)

    assert [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("ERROR")] == []
