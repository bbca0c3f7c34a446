"""The legend: a row for each kind that is in the figure, and none for others."""

from __future__ import annotations

from sphinx_graphviz_autograd.drawing import legend
from sphinx_graphviz_autograd.drawing.passes import DEFAULT_SHOW, View, apply
from tests.drawing.graphs import blocks, loss, place, prediction, recurrent


def test_rows_are_those_of_the_figure() -> None:
    """A small figure has three kinds, each with its count, and leaves and outputs by name and shape."""
    view = View()

    rows = legend.rows(apply(prediction(), view), view)

    assert [(row.kind, row.count, row.items) for row in rows] == [
        ("output", 1, ("yhat (80, 1)",)),
        ("grad-fn", 2, ()),
        ("leaf", 2, ("b (1)", "w (1)")),
    ]


def test_rows_know_their_swatches() -> None:
    """A row says how its swatch is to look."""
    view = View()

    leaf = legend.rows(apply(prediction(), view), view)[-1]

    assert leaf.swatch == ("autograd-graph-swatch", "autograd-graph-leaf")


def test_unusual_arrows_have_rows_of_their_own() -> None:
    """Dashed and dotted arrows are explained, plain ones are not."""
    view = View(show=DEFAULT_SHOW | {"saved", "data"})

    rows = legend.rows(apply(loss(), view), view, place)

    assert [row.kind for row in rows if row.of == "arrow"] == ["data", "saved"]
    assert [row.items for row in rows if row.kind == "saved-tensor"] == [("self (80, 1) · is error",)]


def test_long_lists_end_in_a_count() -> None:
    """Of twenty blocks twelve are listed, and how many more there are."""
    view = View(depth=1, fold="off")

    (row,) = (row for row in legend.rows(apply(blocks(20), view), view) if row.kind == "module")

    assert row.count == 20
    assert len(row.items) == 12
    assert row.more == 8


def test_equal_items_are_counted() -> None:
    """What looks alike in boxes stands once in a list, with how often; all that is left out is counted."""
    alike, others = ["x (3)"] * 3, [f"w{at} (1)" for at in range(20)]

    items, more = legend.listed([*alike, *others])

    assert items[:2] == ("x (3) × 3", "w0 (1)")
    assert len(items) == 12
    assert more == 9


def test_folds_are_told() -> None:
    """The legend says what a fold stands for."""
    view = View()

    (row,) = (row for row in legend.rows(apply(recurrent(50), view), view, place) if row.kind == "fold")

    assert row.items[0].startswith("times 48 MmBackward0 … TanhBackward0, 5 functions")
    assert "iterations 2 … 49" in row.items[0]
