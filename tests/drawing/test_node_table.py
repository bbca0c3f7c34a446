"""The table of a figure's nodes, and how an author's words find a node."""

from __future__ import annotations

import operator
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
import torch

from sphinx_graphviz_autograd.drawing import book, controls
from sphinx_graphviz_autograd.drawing.described import _ALSO, names_of
from sphinx_graphviz_autograd.drawing.finding import find, findable
from sphinx_graphviz_autograd.drawing.node_table import Table
from sphinx_graphviz_autograd.drawing.passes import View, apply
from sphinx_graphviz_autograd.model import Data, Edge, Gradient, Graph, Leaf, Output, SavedTensor
from tests.drawing.graphs import SCALAR, function, place, prediction, recurrent


class Cells(HTMLParser):
    """The texts of the cells of a table, row by row."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the base class's
        """Begin a row or a cell."""
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        """Add to a cell."""
        if self.rows and self.rows[-1] and data.strip():
            self.rows[-1][-1] += data


def table(graph: Graph, captured: Graph | None = None, *, boxes: bool = True) -> str:
    """Return the table of a graph."""
    return Table(graph, captured or graph, "ag", place, lambda where: f"ag-line-{where.line}", boxes=boxes).html()


def test_rows_tell_each_node_in_the_order_of_backward() -> None:
    """Columns in which nothing would stand are left out."""
    rows = Cells(table(prediction())).rows

    assert rows == [
        ["Node", "Operation", "Shape", "Type", "Made at", "Feeds"],
        ["yhat output", "", "(80, 1)", "float32", "", ""],
        ["yhat AddBackward0", "add", "(80, 1)", "float32", "line 2", "yhat"],
        ["b leaf tensor", "", "(1)", "float32", "", "yhat"],
        ["MulBackward0", "mul", "(80, 1)", "float32", "line 2", "yhat"],
        ["w leaf tensor", "", "(1)", "float32", "", "MulBackward0"],
    ]


def test_rows_lead_to_boxes_lines_and_rows() -> None:
    """Ids are those of the boxes, so that a script finds the row of a node."""
    html = table(prediction())

    assert re.findall(r'<tr id="([^"]+)"', html) == [f"ag-n{at}-row" for at in range(5)]
    row = html[html.index('<tr id="ag-n3-row"') : html.index('<tr id="ag-n4-row"')]
    links = re.findall(r'href="([^"]+)"', row)
    assert links == ["#ag-n3", "#ag-line-2", "#ag-n1-row"]
    assert 'href="#ag-n3"' not in table(prediction(), boxes=False)


def test_a_leaf_that_is_drawn_once_for_each_use_feeds_all_of_them() -> None:
    """The row of its full box leads to every function that uses it, not only to the one below that box."""
    whole = recurrent(6)
    split = apply(whole, View(split="split", fold="off"))
    fed = {at: sorted({edge.target for edge in whole.edges if edge.source == at}) for at in whole.by_id}

    rows = re.findall(r'<tr id="ag-(\w+)-row">(.*)</tr>', table(split, whole))

    leaves = [(at, row) for at, row in rows if isinstance(split.by_id[at], Leaf)]
    assert leaves
    assert all(sorted(re.findall(r'href="#ag-(\w+)-row"', row)) == fed[at] for at, row in leaves)


def test_saved_tensors_are_told_of_even_where_they_are_not_drawn() -> None:
    """With their state and what they are."""
    graph = prediction()
    saved = SavedTensor("n9", "self", SCALAR, "freed", same_as="n4")
    captured = replace(graph, nodes=(*graph.nodes, saved), edges=(*graph.edges, Edge("n9", "n3", "saved")))

    rows = Cells(table(apply(captured, View()), captured)).rows

    assert rows[0][-2] == "Keeps"
    assert rows[4][-2] == "self () · is w, freed by backward"


def test_groups_tell_what_they_contain() -> None:
    """Functions keep tensors; a fold keeps nothing, and says what is in it."""
    captured = recurrent(50)

    rows = Cells(table(apply(captured, View()), captured)).rows

    (fold,) = (row for row in rows if row[rows[0].index("Operation")] == "× 48")
    assert "iterations 2 … 49" in fold[rows[0].index("Contains")]
    assert "Keeps" not in rows[0]


def test_gradients_are_told_with_what_is_wrong_with_them() -> None:
    """Values of small tensors, norms, and marks."""
    leaf = Leaf("n2", SCALAR, ("w",), gradient=Gradient((), "nan", "nan", ("nan",)))
    graph = Graph(
        (Output("n0", "y", SCALAR), function("n1", "mul", SCALAR), leaf), (Edge("n2", "n1"), Edge("n1", "n0", "output"))
    )

    rows = Cells(table(graph)).rows

    assert [row[rows[0].index("Gradient")] for row in rows[1:]] == ["", "", "nan · norm nan · nan"]


def test_names_of_the_author_do_no_harm() -> None:
    """What looks like markup is text."""
    html = table(Graph((Output("n0", '<script>"&', SCALAR),)))

    assert "<script" not in html
    assert "&lt;script&gt;&quot;&amp;" in html
    assert "<script" not in controls.around("", label="<script>", file='"><script>', walk=True)


def test_words_are_translated_where_they_are_put_in() -> None:
    """All words of the table and the controls pass the translation."""
    html = Table(prediction(), prediction(), "ag", place, lambda _: "", translate=str.upper).html()
    around = controls.around("", label="", file="", walk=True, translate=str.upper)

    assert "THE GRAPH AS A TABLE" in html
    assert ">LEAF TENSOR<" in html.replace("</b> ", "<b>").replace("LEAF TENSOR</a>", ">LEAF TENSOR<")
    assert 'title="PLAY BACKWARD"' in around
    assert 'data-column="Made at">MADE AT<' in html


def test_operations_are_looked_up_under_the_names_that_authors_use() -> None:
    """Autograd knows some by another one, and those of some modules stand after the module's name."""
    assert names_of("mul") == ("torch.mul", "torch.nn.functional.mul", "torch.Tensor.mul", "torch.Tensor.mul_")
    assert names_of("rsub")[0] == "torch.sub"
    assert "torch.nn.functional.softmax" in names_of("_softmax")
    assert names_of("linalg_vector_norm") == ("torch.linalg.vector_norm",)
    assert names_of("native_layer_norm") == ("torch.nn.functional.layer_norm",)
    assert "torch.Tensor.view" in names_of("unsafe_view")
    assert names_of("unfold") == ("torch.Tensor.unfold",)


@pytest.mark.parametrize("forward", sorted(_ALSO))
def test_other_names_are_those_of_functions_of_pytorch(forward: str) -> None:
    """Each is there, and has a docstring, from which its page is made."""
    (name,) = names_of(forward)

    assert operator.attrgetter(name.removeprefix("torch."))(torch).__doc__


def test_operations_are_linked_to_what_describes_them() -> None:
    """Those of PyTorch's; the function of an author's class is not, though it may be called like one."""
    graph = Graph((function("n0", "mul"), function("n1", "add"), replace(function("n2", "mul"), speciality="custom")))
    pages = {"mul": "https://example.org/mul.html?a&b"}
    html = Table(graph, graph, "ag", place, lambda _: "", described=lambda forward: pages.get(forward, "")).html()

    assert html.count('<a href="https://example.org/mul.html?a&amp;b">mul</a>') == 1
    assert html.count("<td>mul (custom)</td>") == html.count("<td>add</td>") == 1
    assert "https:" not in Table(graph, graph, "ag", place, lambda _: "").html()


def test_rows_of_what_has_no_name_say_what_it_is_of() -> None:
    """In plain type, as it is no name of the author's."""
    cut = Data("n0", SCALAR, cut="detach", hint="fake.detach()")
    html = table(Graph((cut, Leaf("n1", SCALAR, hint="weight in Linear"), function("n2", "mul"))))

    assert ">fake.detach() input without gradient<" in html
    assert ">weight in Linear leaf tensor<" in html


def test_author_finds_nodes_by_variable_function_or_operation() -> None:
    """A variable first; of several the first that was made, or the one whose number is given."""
    graph = prediction()
    twice = replace(graph, nodes=(*graph.nodes, function("n5", "mul", sequence=9)))

    assert find(graph, "w") == "n4"
    assert find(graph, "yhat") == "n0"
    assert find(graph, "yhat#2") == "n1"
    assert find(graph, "MulBackward0") == "n3"
    assert find(twice, "mul") == "n3"
    assert find(twice, "mul#2") == "n5"
    assert [find(graph, words) for words in ("x", "mul#2", "mul#0", "")] == ["", "", "", ""]
    assert findable(graph) == ("yhat", "b", "w")
    assert findable(Graph((function("n0", "mul"),))) == ("MulBackward0", "mul")


def test_books_have_a_swatch_for_every_kind() -> None:
    """In a style sheet of plain rules."""
    sheet = book.sheet()

    assert sheet.count("{") == sheet.count("}") > 10
    assert ":is(" not in sheet
    assert ".autograd-graph-swatch.autograd-graph-leaf {" in sheet
