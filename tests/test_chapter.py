"""The facts that the tutorial chapter teaches, checked on the graphs and the output that its build has stored.

The same code in reStructuredText must give the same figures.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sphinx_graphviz_autograd.execution.store import load
from sphinx_graphviz_autograd.model import Data, GradFn, Graph, Leaf, Node, Output

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Site

CHAPTER = "tutorial/dynamic-graphs"
SOURCE = Path(__file__).parents[1] / "docs" / f"{CHAPTER}.md"
STORE = Path("autograd_graph", "results")

FENCE = re.compile(r"^```\{(autograd-graph|autograd-exec)\} ?(.*)\n((?::.*\n)*)\n?((?:.*\n)*?)```$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive of the chapter, as its author wrote it."""

    kind: str
    """Its name."""
    argument: str
    """What it draws."""
    options: dict[str, str]
    """Its options."""
    code: str
    """Its code."""

    def as_rst(self) -> str:
        """Return the same directive in reStructuredText."""
        options = "".join(f"   :{name}: {value.replace('`', '``')}\n" for name, value in self.options.items())
        code = "".join(f"   {line}\n" if line else "\n" for line in self.code.splitlines())
        return f".. {self.kind}:: {self.argument}\n{options}\n{code}\n"


def directives() -> Iterator[Directive]:
    """Yield the directives of the chapter."""
    for kind, argument, options, code in FENCE.findall(SOURCE.read_text(encoding="utf-8")):
        yield Directive(kind, argument, dict(re.findall(r"^:([\w-]+): ?(.*)$", options, re.MULTILINE)), code)


def stored_graphs(store: Path, docname: str) -> dict[str, Graph]:
    """Return the graphs that a build of the chapter has stored, by the names of their figures."""
    blocks = {session.name: iter(session.blocks) for session in load(store, docname)}
    found = {}
    for directive in directives():
        block = next(blocks[directive.options.get("session", "")])
        for figure in block.figures:
            assert isinstance(figure.graph, Graph)
            found[directive.options["name"]] = figure.graph
    return found


@pytest.fixture(scope="module")
def graphs(documentation: Site) -> dict[str, Graph]:
    """The graphs of the chapter as built with the documentation."""
    return stored_graphs(documentation.doctrees / STORE, CHAPTER)


class _Words(HTMLParser):
    """The text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def text(documentation: Site) -> str:
    """What a reader reads in the chapter."""
    words = _Words()
    words.feed((documentation.html / f"{CHAPTER}.html").read_text(encoding="utf-8"))
    return words.text


def word(node: Node) -> str:
    """Return what a reader calls a box: the name of a tensor, or of a function."""
    match node:
        case Leaf() | Data():
            return node.names[0]
        case GradFn():
            return node.name
        case Output():
            return f"output {node.name}"
        case _:
            pytest.fail(f"the chapter has no {node}")


def arrows(graph: Graph, *kinds: str) -> set[tuple[str, str]]:
    """Return the arrows of these kinds, each as what feeds and what is fed."""
    by_id = graph.by_id
    return {(word(by_id[edge.source]), word(by_id[edge.target])) for edge in graph.edges if edge.kind in kinds}


def leaves(graph: Graph) -> dict[str, tuple[int | str, ...] | None]:
    """Return the shapes of the leaves by their names."""
    return {node.names[0]: node.meta.shape for node in graph.nodes if isinstance(node, Leaf)}


def functions(graph: Graph) -> list[str]:
    """Return the names of all functions, sorted."""
    return sorted(node.name for node in graph.nodes if isinstance(node, GradFn))


def lines(graph: Graph, name: str) -> dict[int, str]:
    """Return the functions whose results bore a name, by the line of their block."""
    found = [node for node in graph.nodes if isinstance(node, GradFn) and (name,) in node.names]
    return {node.place.line: node.name for node in found if node.place}


def test_predictions_come_from_two_parameters(graphs: dict[str, Graph]) -> None:
    """`yhat = b + w * x_train` adds `b` to a product that knows `w` alone, and its result has 80 rows."""
    graph = graphs["fig-yhat"]

    assert leaves(graph) == {"b": (1,), "w": (1,)}
    assert arrows(graph, "gradient", "output") == {
        ("w", "MulBackward0"),
        ("MulBackward0", "AddBackward0"),
        ("b", "AddBackward0"),
        ("AddBackward0", "output yhat"),
    }
    assert [output.meta.shape for output in graph.outputs] == [(80, 1)]
    assert lines(graph, "yhat") == {1: "AddBackward0"}


def test_input_without_gradient_is_shown_on_demand(graphs: dict[str, Graph]) -> None:
    """With `show: data`, `x_train` is a box that feeds the multiplication, by an arrow of its own kind."""
    graph = graphs["fig-yhat-data"]

    assert arrows(graph, "data") == {("x_train", "MulBackward0")}
    assert arrows(graph, "gradient", "output") == arrows(graphs["fig-yhat"], "gradient", "output")


def test_fixed_bias_is_not_in_the_graph(graphs: dict[str, Graph]) -> None:
    """Without a gradient for the bias, there is one leaf, and the addition has one input."""
    graph = graphs["fig-fixed"]

    assert leaves(graph) == {"w": (1,)}
    assert arrows(graph, "gradient") == {("w", "MulBackward0"), ("MulBackward0", "AddBackward0")}


def test_error_and_loss_continue_the_graph(graphs: dict[str, Graph]) -> None:
    """The error adds a subtraction to the graph of the predictions, and the loss a square and a mean."""
    predictions = arrows(graphs["fig-yhat"], "gradient")
    error = predictions | {("AddBackward0", "SubBackward0")}
    loss = error | {("SubBackward0", "PowBackward0"), ("PowBackward0", "MeanBackward0")}

    assert arrows(graphs["fig-error"], "gradient") == error
    assert arrows(graphs["fig-loss"], "gradient") == loss
    assert [output.meta.shape for output in graphs["fig-loss"].outputs] == [()]


def test_branch_that_is_not_taken_leaves_no_trace(graphs: dict[str, Graph]) -> None:
    """When the condition is false, the graph is that of the plain loss, and the lines below it did not run."""
    graph = graphs["fig-not-taken"]

    assert functions(graph) == functions(graphs["fig-loss"])
    assert arrows(graph, "gradient") == arrows(graphs["fig-loss"], "gradient")
    own = {run.block for run in graph.lines if run.times == 0}
    assert {run.line for run in graph.lines if run.block in own and not run.times} == {5, 6}


def test_branch_that_is_taken_uses_the_weight_again(graphs: dict[str, Graph]) -> None:
    """When the condition is true, `w` is one box with two arrows, and the first `loss` keeps name and line."""
    graph = graphs["fig-taken"]
    (weight,) = (node.id for node in graph.nodes if isinstance(node, Leaf) and node.names[0] == "w")

    assert leaves(graph) == {"b": (1,), "w": (1,)}
    assert len({edge.target for edge in graph.edges if edge.source == weight and edge.kind == "gradient"}) == 2
    assert lines(graph, "loss") == {3: "MeanBackward0", 6: "AddBackward0"}
    assert lines(graph, "slope_error") == {5: "SubBackward0"}


@pytest.mark.parametrize(("figure", "words"), [("fig-two-words", 2), ("fig-three-words", 3)])
def test_graph_is_as_long_as_the_sentence(graphs: dict[str, Graph], figure: str, words: int) -> None:
    """Every word adds two products, their sum and a hyperbolic tangent, and the parameters are two all the same."""
    graph = graphs[figure]
    rounds = [node.place.iteration for node in graph.nodes if isinstance(node, GradFn) and node.place]

    assert leaves(graph) == {"w_word": (4, 4), "w_state": (4, 4)}
    assert functions(graph) == sorted(["MmBackward0", "MmBackward0", "AddBackward0", "TanhBackward0"] * words)
    assert sorted(rounds) == sorted([*range(1, words + 1)] * 4)


def test_gradients_are_those_worked_out_by_hand(text: str) -> None:
    """What the chapter prints bears out what it says of gradients."""
    assert "a: tensor(4.)\nc: tensor(2.)" in text
    assert "b: -3.164, by hand -3.164\nw: -1.842, by hand -1.842" in text


def test_training_finds_the_line(text: str) -> None:
    """After the training, the parameters are close to 1 and 2, and the validation has left no graph."""
    assert "b = 1.01, w = 1.99\nvalidation loss: 0.0090\nNone" in text


def test_every_figure_is_numbered_named_and_referred_to() -> None:
    """Each figure of the chapter has a caption and a name, and the text refers to it."""
    source = SOURCE.read_text(encoding="utf-8")
    figures = [directive.options for directive in directives() if directive.kind == "autograd-graph"]

    assert len(figures) == 10
    assert all(options["caption"] and f"{{numref}}`{options['name']}`" in source for options in figures)


def test_references_are_numbers(text: str) -> None:
    """No reference to a figure was left as its name."""
    assert "fig-" not in text
    assert len(set(re.findall(r"Fig\. \d+", text))) == 10


def test_restructuredtext_gives_the_same_figures(graphs: dict[str, Graph], tmp_path: Path) -> None:
    """The same directives in a page of reStructuredText give the same graphs, without a warning."""
    page = "The chapter\n===========\n\n" + "".join(directive.as_rst() for directive in directives())
    (tmp_path / "index.rst").write_text(page, encoding="utf-8")
    (tmp_path / "conf.py").write_text('extensions = ["sphinx_graphviz_autograd"]\nnumfig = True\n', encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-nqW", "-d", "doctrees", ".", "html"]
    subprocess.run(command, cwd=tmp_path, check=True)

    assert stored_graphs(tmp_path / "doctrees" / STORE, "index") == graphs
