"""The table of looks: contrast, forms that differ, and a style sheet that agrees with it."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest

import sphinx_graphviz_autograd
from sphinx_graphviz_autograd.drawing import style

SHEET = Path(sphinx_graphviz_autograd.__file__).parent / "static" / "autograd-graph.css"
PAGES = (("#ffffff", "#f8f9fb", "#f5f5f5"), ("#121212", "#131416", "#14181e", "#1e2129", "#222832"))
"""Grounds of pages, light and dark, in the themes that are in use."""


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour as WCAG defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("kind", [look.kind for look in style.LOOKS])
@pytest.mark.parametrize("scheme", [0, 1])
def test_labels_and_borders_stand_out(kind: str, scheme: int) -> None:
    """Text has a contrast of 4.5 with its box, and the border one of 3 with box and page."""
    colours = style.palette()[kind][scheme]

    assert contrast(colours.text, colours.fill) >= 4.5
    assert contrast(colours.stroke, colours.fill) >= 3
    assert min(contrast(colours.stroke, page) for page in PAGES[scheme]) >= 3


@pytest.mark.parametrize("scheme", [0, 1])
def test_arrows_and_frames_stand_out(scheme: int) -> None:
    """Arrows have a contrast of 3 with the page, and what is written on them one of 4.5, also inside frames."""
    line, frame = style.palette()["edge"][scheme], style.palette()["frame"][scheme]

    for page in (*PAGES[scheme], frame.fill):
        assert contrast(line.stroke, page) >= 3
        assert contrast(line.text, page) >= 4.5
    assert contrast(frame.text, frame.fill) >= 4.5


def test_no_two_kinds_differ_by_colour_alone() -> None:
    """Each kind of box has a form or border of its own, or writes what it is in its first line."""
    forms = {look.kind: (look.shape, look.style, look.borders, look.width) for look in style.LOOKS}

    for one, other in combinations(forms, 2):
        assert forms[one] != forms[other], (one, other)


def test_no_two_arrows_differ_by_colour_alone() -> None:
    """Neither do arrows, but for that to an output, which is told by the box."""
    lines = {line.kind: (line.style, line.head) for line in style.LINES if line.kind != "output"}

    assert len(set(lines.values())) == len(lines)


def test_style_sheet_has_the_colours_of_the_table() -> None:
    """Every custom property stands in the style sheet, with the values of the table where nobody sets others."""
    sheet = SHEET.read_text(encoding="utf-8")

    written = dict(re.findall(r"var\((--autograd-graph-[\w-]+), light-dark\(([^()]*)\)\);", sheet))
    assert written == {name: f"{light}, {dark}" for name, (light, dark) in style.custom_properties().items()}


def test_every_class_of_a_box_has_a_rule() -> None:
    """No kind is without colours in a page."""
    sheet = SHEET.read_text(encoding="utf-8")

    for look in style.LOOKS:
        assert f".autograd-graph-{look.kind} {{" in sheet
