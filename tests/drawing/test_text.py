"""The graph in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing import text
from sphinx_graphviz_autograd.drawing.passes import DEFAULT_SHOW, View, apply
from sphinx_graphviz_autograd.model import Graph
from tests.drawing.graphs import chain, loss, place, prediction, recurrent

if TYPE_CHECKING:
    from collections.abc import Callable


def test_tree_has_outputs_at_its_roots() -> None:
    """Below each tensor stands what it was made from."""
    view = View()

    assert text.tree(apply(prediction(), view), view, place).splitlines() == [
        "yhat, output, (80, 1)",
        "  yhat: AddBackward0, (80, 1), line 2",
        "    b, leaf tensor, (1)",
        "    MulBackward0, (80, 1), line 2",
        "      w, leaf tensor, (1)",
    ]


def test_everything_is_told_once(golden: Callable[[str, str], None]) -> None:
    """What feeds two functions is told below the first, and the second time only named."""
    view = View(show=DEFAULT_SHOW | {"saved", "data"})
    golden("loss.txt", text.tree(apply(loss(), view), view, place) + "\n")


def test_folded_graph_in_words(golden: Callable[[str, str], None]) -> None:
    """A repetition is told as it is drawn."""
    golden("recurrent.txt", text.tree(apply(recurrent(50), View()), View(), place) + "\n")


def test_deep_graph_is_told() -> None:
    """The depth of a graph does not matter."""
    assert len(text.tree(chain(*["exp"] * 1500), View(), place).splitlines()) == 1502


def test_sentence_says_what_the_picture_shows() -> None:
    """The default alternative text names outputs and leaves, and counts functions."""
    assert text.sentence(prediction()) == "Autograd graph of yhat: 2 functions and 2 leaf tensors (b and w)."
    assert text.sentence(chain("exp")) == "Autograd graph of y: 1 function and 1 leaf tensor (x)."
    assert text.sentence(Graph()) == "Autograd graph of : 0 functions and 0 leaf tensors."
