"""Widths of texts, on which the sizes of boxes rest."""

from __future__ import annotations

import pytest

from sphinx_graphviz_autograd.drawing.metrics import text_width


@pytest.mark.parametrize(
    ("text", "width"),
    [("", 0), ("i", 222), ("W", 944), ("AddBackward0", 6725), ("(80, 1)", 2890), ("損失", 2000), ("e\u0301", 556)],
)
def test_widths_are_those_of_helvetica(text: str, width: int) -> None:
    """In thousandths of the type size, as the font's own tables have them; East Asian letters are an em wide."""
    assert text_width(text, 1000) == width


def test_bold_is_wider() -> None:
    """Bold letters have widths of their own."""
    assert text_width("yhat", 10, bold=True) > text_width("yhat", 10)


def test_pictographs_are_wide_and_joiners_are_not() -> None:
    """Emoji are up to 1.4 em wide; what joins them has no width."""
    assert text_width("😀", 1000) == 1400
    assert text_width("\u200d\ufe0f", 1000) == 0
