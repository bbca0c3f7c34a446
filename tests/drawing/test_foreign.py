"""Drawings that torchviz made: drawn as they are, in our colours, and told in words."""

from __future__ import annotations

import pytest

from sphinx_graphviz_autograd.drawing import foreign, svg
from sphinx_graphviz_autograd.drawing.layout import engine, lay_out

torch = pytest.importorskip("torch", reason="needs what the extra `torch` installs")
torchviz = pytest.importorskip("torchviz", reason="needs what the extra `torch` installs")


pytestmark = pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning")  # torchviz uses them


@pytest.fixture(scope="module")
def drawing() -> str:
    """What torchviz draws of `y = (w * 2).exp()`, with saved tensors."""
    w = torch.ones(3, requires_grad=True)
    source = torchviz.make_dot((w * 2).exp(), params={"w": w}, show_saved=True).source
    assert isinstance(source, str)
    return source


def test_legend_is_made_from_colours(drawing: str) -> None:
    """Each colour of torchviz is a row, with the labels of the boxes that have it."""
    assert [(row.kind, row.count, row.items) for row in foreign.rows(drawing)] == [
        ("output", 1, ("(3)",)),
        ("grad-fn", 3, ()),
        ("leaf", 1, ("w (3)",)),
        ("saved-tensor", 2, ("result (3)", "other ()")),
    ]


def test_drawing_is_told_in_words(drawing: str) -> None:
    """The tree has the output at its root and the leaf at its end; what a function keeps hangs on it."""
    assert foreign.tree(drawing).splitlines() == [
        "(3)",
        "  ExpBackward0",
        "    result (3)",
        "    MulBackward0",
        "      other ()",
        "      AccumulateGrad",
        "        w (3)",
    ]
    assert foreign.sentence(drawing) == "Autograd graph: 3 functions and 1 leaf tensor."


def test_boxes_get_the_classes_of_their_kinds(drawing: str) -> None:
    """The same style sheet colours them, light and dark."""
    picture = lay_out(drawing, engine("auto"), "svg", 30)

    markup = svg.inline(picture.data, prefix="p", title="t", description="d")

    for kind, count in (("output", 1), ("grad-fn", 3), ("leaf", 1), ("saved-tensor", 2)):
        assert markup.count(f'class="autograd-graph-node autograd-graph-{kind}"') == count


def test_other_drawings_keep_their_colours() -> None:
    """Of a graph that is not torchviz's nothing is said, and what is black in it takes the colour of the page."""
    source = "digraph { a [color=red] a -> b [label=x] c [style=filled fillcolor=pink] }"
    picture = lay_out(source, engine("auto"), "svg", 30)

    markup = svg.inline(picture.data, prefix="p", title="t", description="d")

    assert foreign.rows(source) == ()
    assert foreign.tree(source) == foreign.sentence(source) == ""
    assert 'stroke="red"' in markup
    assert 'fill="pink"' in markup
    assert "currentColor" in markup
    assert "black" not in markup


def test_drawing_that_was_fitted_into_a_size_has_readable_type() -> None:
    """A drawing of torchviz is limited in size; here it is as large as its type wants."""
    chain = "a -> b -> c -> d -> e -> f -> g"
    small, natural = (
        svg.inline(lay_out(text, engine("auto"), "svg", 30).data, prefix="p", title="t", description="d")
        for text in (f'digraph {{ graph [size="2,2"] {chain} }}', f"digraph {{ {chain} }}")
    )

    height = float(natural.partition('height="')[2].partition('"')[0])
    assert height > 400
    assert float(small.partition('height="')[2].partition('"')[0]) == pytest.approx(height, rel=0.02)
