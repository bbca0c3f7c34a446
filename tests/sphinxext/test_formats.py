"""One chapter in reStructuredText, in MyST and as a MyST-NB notebook, for every builder."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.sphinxext import sites

BUILDERS = [
    *("html", "dirhtml", "singlehtml", "epub", "latex", "text", "man", "texinfo", "xml", "pseudoxml", "json"),
    *("linkcheck", "changes", "dummy", "gettext"),
]

CHAPTERS = ("rst", "md", "nb")


def chapter(folder: Path) -> Path:
    """Copy the site into a folder, with its MyST page as a notebook as well."""
    source = sites.copy("formats", folder)
    text = (source / "md.md").read_text(encoding="utf-8").replace("md-", "nb-").replace("in md", "in nb")
    (source / "nb.md").write_text(sites.NOTEBOOK + text, encoding="utf-8")
    return source


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the output of every builder, none of which warned of anything."""
    source = chapter(tmp_path_factory.mktemp("formats"))
    return sites.build_for(source, BUILDERS, env={"PYTHONHASHSEED": "1", "TZ": "UTC"})


class Ids(HTMLParser):
    """The ids of a page, and how often each occurs."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count the id of an element."""
        del tag
        self.found.update(value or "" for name, value in attrs if name == "id")


def body(html: str) -> str:
    """Return the part of a page that its source makes."""
    found = re.search(r'<div class="body" role="main">(.*?)<div class="sphinxsidebar"', html, re.DOTALL)
    assert found
    return found[1]


def test_three_formats_make_one_page(outputs: Path) -> None:
    """Pages are equal whatever markup they are written in, but for names, numbers and ids made of the page's name."""
    pages = []
    for name in CHAPTERS:
        text = body((outputs / "html" / f"{name}.html").read_text(encoding="utf-8"))
        text = re.sub(r"ag-[0-9a-f]{8}-", "ag-", text)
        text = re.sub(rf'(["#]|<span id="){name}-', r"\1page-", text).replace(f"chapter in {name}", "chapter")
        text = text.replace(f"chapter-in-{name}", "chapter")
        pages.append(re.sub(r"(Fig\.|Listing) \d+", r"\1", text))

    assert pages[0] == pages[1]
    assert pages[0] == pages[2]


@pytest.mark.parametrize("builder", ["html", "dirhtml", "singlehtml"])
def test_no_id_occurs_twice(outputs: Path, builder: str) -> None:
    """Every id of every page is there once, also if all pages are put into one."""
    pages = sorted((outputs / builder).rglob("*.html"))
    twice = {}
    for page in pages:
        ids = Ids()
        ids.feed(page.read_text(encoding="utf-8"))
        twice[page.name] = [id_ for id_, times in ids.found.items() if times > 1]

    assert pages
    assert not [(name, ids) for name, ids in twice.items() if ids]


def test_names_are_text(outputs: Path) -> None:
    """Markup, quotes, backslashes, braces, emoji and Chinese characters in an author's names come out as written."""
    html = (outputs / "html" / "rst.html").read_text(encoding="utf-8")

    assert "<script>alert" not in html
    assert "things[&quot;&lt;script&gt;alert(1)&lt;/script&gt;&quot;]" in html
    assert r"\\{}|🔥 損失" in html
    assert "Names that are &quot;hard&quot; to &lt;write&gt;</desc>" in html


def test_figures_are_numbered_and_referred_to(outputs: Path) -> None:
    """A figure with a caption has a number, a name is its id, and `separate` numbers the names."""
    html = (outputs / "html" / "rst.html").read_text(encoding="utf-8")

    assert '<a class="reference internal" href="#rst-yhat"><span class="std std-numref">Fig. 1</span></a>' in html
    assert '<a class="reference internal" href="#rst-loss-2">' in html
    assert re.findall(r'<figure class="([^"]*)" id="([^"]*)"', html)[:3] == [
        ("autograd-graph align-default", "rst-yhat"),
        ("autograd-graph ours align-center", "rst-loss-1"),
        ("autograd-graph ours align-center", "rst-loss-2"),
    ]
    assert "The graph of <em>yhat</em>, and “more”" in html


def test_the_code_is_an_ordinary_block(outputs: Path) -> None:
    """Code is highlighted, captioned, numbered and emphasized as Sphinx does it, and each line has an id."""
    html = (outputs / "html" / "rst.html").read_text(encoding="utf-8")

    assert '<span class="caption-text">A linear model</span>' in html
    assert re.search(r'<span id="ag-[0-9a-f]{8}-1-line-10"><span class="linenos">10</span>', html)
    assert '<span class="hll">' in html
    assert "linspace" not in html  # is run, and not shown
    assert "never_runs" in re.sub("<.*?>", "", html)  # is shown, and not run
    assert html.index("Separately") < html.index('-2-line-1"')  # stands below its figure


def test_output_is_shown(outputs: Path) -> None:
    """What the code prints stands below it, and so does the exception that was expected."""
    text = (outputs / "text" / "rst.txt").read_text(encoding="utf-8")

    assert "\n   printed: torch.Size([80, 1])\n" in text
    assert "\n   ValueError: expected\n" in text
    assert "\n   from a file: torch.Size([1])\n" in text


def test_options_of_a_figure_reach_it(outputs: Path) -> None:
    """Direction, width, classes and what is to be shown change the picture; without a legend there is none."""
    html = (outputs / "html" / "rst.html").read_text(encoding="utf-8")
    figures = re.findall(r"<figure.*?</figure>", html, re.DOTALL)
    start = re.search(r"<svg [^>]*>", figures[1])

    assert len(figures) == 6
    assert start
    assert 'width="60%"' in start[0]
    assert "height=" not in start[0]
    assert 'class="autograd-graph-picture mine"' in figures[1]
    assert "float32" in figures[1]
    assert "line" not in re.sub("<.*?>", "", figures[1]).replace("along this line", "")
    assert "saved tensor" in figures[1]
    assert "autograd-graph-legend" in figures[2]
    assert "autograd-graph-legend" not in figures[3]


def test_legends_count_what_is_in_the_figure(outputs: Path) -> None:
    """Behind the name of a kind stands how many there are, if there are several."""
    html = (outputs / "html" / "rst.html").read_text(encoding="utf-8")
    legend = re.findall(r"<figure.*?</figure>", html, re.DOTALL)[0].partition("<figcaption>")[2]
    said = [re.sub("<.*?>", "", row).partition(": ")[0] for row in re.findall("<li>.*?</li>", legend, re.DOTALL)]

    assert said == ["output", "function × 2", "leaf tensor × 2"]


def test_assets_only_where_there_is_a_figure(outputs: Path) -> None:
    """Only pages with something of ours link the style sheet, and none of our markup holds style or script."""
    for builder in ("html", "dirhtml"):
        pages = {path: path.read_text(encoding="utf-8") for path in (outputs / builder).rglob("*.html")}
        linking = {
            path.relative_to(outputs / builder).parts[0] for path, text in pages.items() if "autograd-graph.css" in text
        }

        assert {Path(name).stem for name in linking} == set(CHAPTERS)
    figures = re.findall(r"<figure.*?</figure>", (outputs / "html" / "rst.html").read_text(encoding="utf-8"), re.DOTALL)
    assert not [figure for figure in figures if "style=" in figure or "<script" in figure or "<style" in figure]
    assert not list((outputs / "latex").rglob("*.css"))


def test_epub_gets_files(outputs: Path) -> None:
    """An EPUB refers to SVG files that are complete by themselves, and lists them."""
    page = (outputs / "epub" / "rst.xhtml").read_text(encoding="utf-8")
    names = re.findall(r'<img [^>]*src="_images/(autograd-graph-[0-9a-f]{16}\.svg)"', page)

    assert len(names) == 6
    assert sites.PICTURE not in page
    package = (outputs / "epub" / "content.opf").read_text(encoding="utf-8")
    for name in names:
        assert f'href="_images/{name}"' in package
        assert "<style>" in (outputs / "epub" / "_images" / name).read_text(encoding="utf-8")


def test_latex_gets_files(outputs: Path) -> None:
    """LaTeX refers to files that are there: PDF where `dot` can make it, else PNG."""
    text = (outputs / "latex" / "formats.tex").read_text(encoding="utf-8")
    names = re.findall(r"includegraphics(?:\[[^]]*\])?\{\{(autograd-graph-[0-9a-f]+)\}\.(pdf|png)\}", text)

    assert len(names) == 18
    for stem, suffix in names:
        data = (outputs / "latex" / f"{stem}.{suffix}").read_bytes()
        assert data.startswith(b"%PDF" if suffix == "pdf" else b"\x89PNG")
        assert b"CreationDate" not in data or b"(D:1970" in data


@pytest.mark.parametrize("name", ["text/rst.txt", "man/formats.1", "texinfo/formats.texi", "xml/rst.xml"])
def test_graph_in_words(outputs: Path, name: str) -> None:
    """Builders without pictures get the graph as a tree of words, with caption and legend."""
    text = re.sub(r"[\\\n ]+", " ", (outputs / name).read_text(encoding="utf-8"))

    assert "yhat: AddBackward0, (80, 1), line 12" in text
    assert "leaf tensor" in text
    assert "Drawn by torchviz" in text


def test_captions_end_in_man_pages(outputs: Path) -> None:
    """In a man page, the legend is a list below the caption, and no request stands in the caption as text."""
    lines = (outputs / "man" / "formats.1").read_text(encoding="utf-8").splitlines()

    assert "A linear model" in lines
    assert not [line for line in lines if "INDENT" in line and not line.startswith(".")]


def test_translators_get_captions(outputs: Path) -> None:
    """The message catalogue has captions with their places, and no word that came of running code."""
    text = (outputs / "gettext" / "rst.pot").read_text(encoding="utf-8")

    assert 'msgid "The graph of *yhat*, and \\"more\\""' in text
    assert 'msgid "A linear model"' in text
    assert "AddBackward0" not in text
    assert "leaf tensor" not in text


def test_sphinx_does_not_load_torch(outputs: Path) -> None:
    """The process that built all this has not imported PyTorch."""
    modules = json.loads((outputs / "modules.json").read_text(encoding="utf-8"))

    assert "sphinx_graphviz_autograd.sphinxext.build" in modules
    assert "torch" not in modules
    assert "numpy" not in modules


def test_the_same_bytes_elsewhere(outputs: Path, tmp_path: Path) -> None:
    """Another folder, hash seed and time zone, and four processes instead of one, change no page and no picture."""
    source = chapter(tmp_path / "elsewhere" / "deeper")
    again = sites.build_for(source, ["html", "epub", "latex"], "-j4", env={"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo"})

    for folder, pattern in (("html", "*.html"), ("epub/_images", "*"), ("latex", "autograd-graph-*")):
        assert sites.files(outputs / folder, pattern) == sites.files(again / folder, pattern), folder
    pages = {name.replace(".xhtml", ""): data for name, data in sites.files(again / "epub", "*.xhtml").items()}
    assert pages["rst"] == (outputs / "epub" / "rst.xhtml").read_bytes()
    assert "torch" not in json.loads((again / "modules.json").read_text(encoding="utf-8"))


def test_nothing_changed(outputs: Path) -> None:
    """A second build runs nothing, reads nothing and writes no page again, in one process or in several."""
    kept = [*(outputs / "html").glob("*.html"), *(outputs / "html" / "_static").glob("autograd*")]
    kept = [path for path in kept if path.stem in {*CHAPTERS, "index", "plain", "autograd-graph"}]
    times = {path: path.stat().st_mtime_ns for path in kept}

    for options in ([], ["-j2"]):
        log = sites.build(outputs / "source", "-v", *options).log

        assert "0 added, 0 changed, 0 removed" in log
        assert "running" not in log
    assert {path: path.stat().st_mtime_ns for path in kept} == times
