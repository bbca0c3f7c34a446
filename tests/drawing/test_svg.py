"""SVG for pages and files: classes and ids, texts, and nothing that Graphviz adds for itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from sphinx_graphviz_autograd.drawing import svg
from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.layout import engine, lay_out
from sphinx_graphviz_autograd.drawing.passes import DEFAULT_SHOW, SHOW, View, apply
from sphinx_graphviz_autograd.model import Edge, Graph, Leaf, Output
from tests.drawing.graphs import BATCH, ONE, blocks, function, loss, place, recurrent

if TYPE_CHECKING:
    from collections.abc import Callable

EVERYTHING = View(show=frozenset(SHOW) - {"plumbing"})
NASTY = (
    "<script>alert(1)</script>",
    "a\"b'c",
    r"back\slash \n \N \\",
    "{a|b}<c>",
    "&amp; &#x41;",
    "損失関数の勾配",
    "👩\u200d🔬 ∇λ é Ж",
    "עברית العربية",
)


def laid_out(graph: Graph, view: View) -> bytes:
    """Return Graphviz's SVG of a graph."""
    return lay_out(to_dot(apply(graph, view), view, place), engine("auto"), "svg", 30).data


def page(graph: Graph, view: View, prefix: str = "fig") -> str:
    """Return a graph as an element for a page."""
    return svg.inline(laid_out(graph, view), prefix=prefix, title="Graph", description="What it shows.")


def named(*names: str) -> Graph:
    """Return a graph in which leaves and functions have these names."""
    nodes: list[Output | Leaf | object] = [Output("n0", "y", BATCH)]
    edges = []
    for at, name in enumerate(names):
        nodes += [function(f"f{at}", "mul", name=name), Leaf(f"w{at}", ONE, (name,))]
        edges += [Edge(f"f{at}", "n0", "output"), Edge(f"w{at}", f"f{at}")]
    return Graph(tuple(nodes), tuple(edges))  # type: ignore[arg-type]  # all are nodes


def texts(markup: str) -> list[str]:
    """Return the lines of text in a picture, as a reader sees them."""
    root = ET.fromstring(markup)  # noqa: S314 - our own
    return ["".join(text.itertext()) for text in root.iter() if text.tag.rpartition("}")[2] == "text"]


def test_picture_in_a_page(golden: Callable[[str, str], None]) -> None:
    """The whole markup of a small figure."""
    golden("loss.svg", page(loss(), View(show=DEFAULT_SHOW | {"data", "saved"})) + "\n")


def test_picture_has_role_name_and_description() -> None:
    """A screen reader is told what the picture is called and what it shows."""
    root = ET.fromstring(page(loss(), View(), prefix="p-1"))  # noqa: S314 - our own

    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "p-1-title"
    assert root.get("aria-describedby") == "p-1-desc"
    assert [(child.tag, child.get("id"), child.text) for child in root[:2]] == [
        ("title", "p-1-title", "Graph"),
        ("desc", "p-1-desc", "What it shows."),
    ]


@pytest.mark.parametrize("graph", [loss(), recurrent(9), blocks(2)])
def test_every_node_and_arrow_is_found_by_its_id(graph: Graph) -> None:
    """Boxes have the ids of their nodes, arrows those of their ends, all with the prefix, none twice."""
    drawn = apply(graph, EVERYTHING)

    ids = re.findall(r' id="([^"]*)"', page(graph, EVERYTHING))

    assert len(ids) == len(set(ids))
    wanted = {node.id for node in drawn.nodes} | {f"{edge.source}-{edge.target}" for edge in drawn.edges}
    assert {f"fig-{id_}" for id_ in wanted} <= set(ids)
    assert all(id_.startswith("fig-") for id_ in ids)


def test_nothing_of_graphviz_stays() -> None:
    """Comments, titles of nodes, namespaces and fonts of its own are gone, and no style is inline."""
    markup = page(loss(), EVERYTHING)

    assert not re.search(r"<!--|xlink|xmlns|xml:space|style=|&#45;|<title>", markup)


def test_colours_are_classes_and_attributes_only() -> None:
    """A box has the class of its kind; its colours are attributes, which any style sheet overrules."""
    markup = page(loss(), View())

    assert '<g id="fig-n8" class="autograd-graph-node autograd-graph-leaf" fill="#' in markup
    assert '<g id="fig-n8-n7" class="autograd-graph-edge autograd-graph-gradient" fill="#' in markup


@pytest.mark.parametrize("setting", ["graphviz-pure", "dot"])
def test_nasty_names_come_out_as_text(setting: str, dot: str) -> None:
    """Markup, quotes, backslashes, braces, emoji and all scripts are read as they were written."""
    assert dot
    view = View(show=frozenset({"names"}), split="merge")
    drawn = to_dot(apply(named(*NASTY), view), view, place)

    markup = svg.inline(lay_out(drawn, engine(setting), "svg", 30).data, prefix="p", title="<t>", description="&")

    for name in NASTY:
        assert name in texts(markup)
        assert f"{name}MulBackward0" in texts(markup)
    assert '<title id="p-title">&lt;t&gt;</title>' in markup
    assert "<script" not in markup


def test_control_characters_are_replaced() -> None:
    """What XML cannot hold is shown as a replacement character, and a line break as a space."""
    view = View(show=frozenset({"names"}))

    assert "a\ufffd\ufffdb c\ufffd" in texts(page(named("a\x00\x1bb\nc\ud800"), view))


def test_long_names_are_shortened_in_the_middle() -> None:
    """A box does not grow without end."""
    (longest,) = {text for text in texts(page(named("x" * 400), View(show=frozenset({"names"})))) if text[0] == "x"} - {
        text for text in texts(page(named("x" * 400), View(show=frozenset({"names"})))) if "Mul" in text
    }

    assert longest == f"{'x' * 20}…{'x' * 21}"


def test_picture_is_smaller_than_that_of_graphviz() -> None:
    """What is added for readers weighs less than what is left out."""
    drawn = laid_out(loss(), View())

    assert len(page(loss(), View()).encode()) < len(drawn)
    assert len(svg.standalone(drawn, title="Graph", description="What it shows.").encode()) < len(drawn)


def test_file_is_complete_by_itself() -> None:
    """A file has its own ground, name, and colours for light and dark."""
    markup = svg.standalone(laid_out(loss(), View()), title="Graph", description="What it shows.")

    root = ET.fromstring(markup)  # noqa: S314 - our own
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("aria-labelledby") == "title"
    assert "@media (prefers-color-scheme:dark)" in markup
    assert '<rect class="autograd-graph-canvas"' in markup
    assert "--autograd-graph-" not in markup


def test_modules_are_framed() -> None:
    """With modules shown, the operations of each call stand in a frame with its path and class."""
    markup = page(blocks(2), View(show=DEFAULT_SHOW | {"modules"}))

    assert 'id="fig-m1" class="autograd-graph-frame"' in markup
    assert "net.layers.0 Block" in texts(markup)
    assert "net.layers.1.linear Linear" in texts(markup)


def test_titles_of_frames_stand_above_the_arrows() -> None:
    """On a plate of the frame's colour, so that no arrow that runs into a frame strikes its title through."""
    markup = page(blocks(2), View(show=DEFAULT_SHOW | {"modules"}))

    last_arrow = markup.rindex('class="autograd-graph-edge')
    assert markup.index("net.layers.0 Block") > last_arrow
    assert markup.count('stroke="none"/><g fill') == 5
