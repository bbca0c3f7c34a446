"""How figures say which line made a box, where a session has several blocks of code."""

from __future__ import annotations

from sphinx_graphviz_autograd.model import Place
from sphinx_graphviz_autograd.sphinxext.figures import place_words
from sphinx_graphviz_autograd.sphinxext.locations import Position
from sphinx_graphviz_autograd.sphinxext.options import Options
from sphinx_graphviz_autograd.sphinxext.pages import Block

AT = Position("page.md", 1)


def session(*codes: str) -> list[Block]:
    """Return blocks with these codes."""
    return [
        Block(f"b{number}", code, ("y",), draw=True, options=Options(), at=AT, rows=(), option_lines={}, problems=())
        for number, code in enumerate(codes)
    ]


def test_lines_of_earlier_blocks_are_above() -> None:
    """A line of the figure's own block has a number alone."""
    words = place_words(session("y = x", "z = y"), 1)

    assert words(Place(0, 1)) == "line 1 above"
    assert words(Place(1, 1)) == "line 1"


def test_figure_without_code_belongs_to_the_block_before_it() -> None:
    """Of two blocks before it, only the lines of the farther one are above."""
    words = place_words(session("y = x", "z = y", "", "\n"), 3)

    assert words(Place(0, 1)) == "line 1 above"
    assert words(Place(1, 1, 2)) == "line 1, iteration 2"
    assert words(Place(1, 1, call=3)) == "line 1, call 3"
