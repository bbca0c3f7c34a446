"""How each kind of box and arrow looks, and what it is called: one table for picture, style sheet and legend.

No kind is told by its colour alone: each has a form or a border of its own as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

PREFIX: Final = "autograd-graph-"
"""Before every CSS class; `--` and this before every custom property."""

FONTS: Final = "Helvetica, Arial, Liberation Sans, Arimo, sans-serif"
"""The fonts of a figure: as wide as each other, so that labels fit where one stands in for another."""

SIZE: Final = 14
"""Type size of names and operations, in points."""

SMALL: Final = 11
"""Type size of all other text, in points."""


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of a kind, as hexadecimal RGB."""

    fill: str
    """Inside the border."""
    stroke: str
    """The border."""
    text: str
    """The label."""


@dataclass(frozen=True, slots=True)
class Look:
    """A kind of box."""

    kind: str
    """Its CSS class, without the prefix."""
    word: str
    """What a legend calls it."""
    sentence: str
    """What a legend says of it, in a learner's words."""
    light: Colours
    """On a light page."""
    dark: Colours
    """On a dark page."""
    shape: str = "box"
    """Graphviz's name of its form."""
    style: str = "filled"
    """Graphviz's style of its border."""
    borders: int = 1
    """How many lines are drawn around it."""
    width: float = 1.0
    """Width of its border in points."""
    radius: int = 3
    """How round its corners are in SVG, in points."""
    room: float = 20.0
    """What is free to the left and right of its label together, in points."""


@dataclass(frozen=True, slots=True)
class Line:
    """A kind of arrow."""

    kind: str
    """The `EdgeKind` it is for, and its CSS class without the prefix."""
    word: str
    """What a legend calls it."""
    sentence: str
    """What a legend says of it."""
    style: str = "solid"
    """Graphviz's style of the line."""
    head: str = "normal"
    """Graphviz's name of its arrowhead."""


LOOKS: Final = (
    Look(
        "output",
        "output",
        "A tensor that the figure was asked to explain; backward starts here.",
        Colours("#def7e4", "#15803d", "#0c3d20"),
        Colours("#12301f", "#4ade80", "#d9fbe5"),
        borders=2,
    ),
    Look(
        "grad-fn",
        "function",
        "An operation that PyTorch recorded; its backward function computes the gradients of its inputs.",
        Colours("#f4f5f7", "#6b7280", "#1f2530"),
        Colours("#25282f", "#8e96a5", "#e6e8ec"),
    ),
    Look(
        "second-order",
        "function of a backward pass",
        "An operation recorded while gradients were computed, so that they can be differentiated again.",
        Colours("#fbeff6", "#a8497f", "#4a1535"),
        Colours("#331d2b", "#dd84b6", "#fbe3f0"),
        style="diagonals,filled",
        room=40.0,
    ),
    Look(
        "leaf",
        "leaf tensor",
        "A tensor that requires a gradient and that no recorded operation made; its gradient arrives in its .grad.",
        Colours("#dfecff", "#2563c9", "#0f2a5c"),
        Colours("#182a4a", "#6ea3f5", "#dfeaff"),
        style="rounded,filled",
        width=1.5,
        radius=9,
    ),
    Look(
        "reference",
        "leaf, used again",
        "Another use of a leaf tensor that is drawn in full elsewhere in the figure.",
        Colours("#f4f8ff", "#2563c9", "#0f2a5c"),
        Colours("#161d2b", "#6ea3f5", "#dfeaff"),
        style="rounded,filled",
        radius=15,
        room=26.0,
    ),
    Look(
        "saved-tensor",
        "saved tensor",
        "A tensor that the function keeps, since its backward needs it.",
        Colours("#ffecd6", "#b45309", "#4d2506"),
        Colours("#3a2410", "#f0a04b", "#ffead2"),
        shape="note",
    ),
    Look(
        "data",
        "input without gradient",
        "A tensor that takes part in the computation but for which no gradient is computed.",
        Colours("#ffffff", "#6b7280", "#374151"),
        Colours("#16181d", "#8e96a5", "#cfd4dc"),
        style="dashed,filled",
    ),
    Look(
        "module",
        "module",
        "All the operations of one call of a module, drawn as one box.",
        Colours("#efeafc", "#6d53b5", "#2c1d5c"),
        Colours("#261f3d", "#a993ea", "#ece6ff"),
        shape="tab",
    ),
    Look(
        "fold",
        "repetition",
        "Equal steps that are not drawn one by one.",
        Colours("#efeafc", "#6d53b5", "#2c1d5c"),
        Colours("#261f3d", "#a993ea", "#ece6ff"),
        shape="box3d",
    ),
    Look(
        "cap",
        "not drawn",
        "Operations that are left out since the figure would be too large.",
        Colours("#ffffff", "#6d53b5", "#2c1d5c"),
        Colours("#16181d", "#a993ea", "#ece6ff"),
        style="dotted,filled",
        width=1.5,
    ),
)
"""Every kind of box, in the order of a legend."""

LINES: Final = (
    Line("gradient", "feeds", "What feeds what; gradients run against the arrows."),
    Line("output", "is", "The tensor that the function made."),
    Line("data", "feeds without gradient", "An input for which no gradient is computed.", "dashed", "vee"),
    Line("saved", "is kept by", "The function keeps the tensor for its backward.", "dotted", "odot"),
    Line("cut", "was cut off", "The history ends here: no gradient runs back along this line.", "dashed", "tee"),
    Line("view", "shares memory with", "The second is a view of the first.", "dotted", "vee"),
)
"""Every kind of arrow."""

LIGHT_LINE: Final = Colours("none", "#4b5563", "#4b5563")
"""Arrows and their labels, on a light page."""

DARK_LINE: Final = Colours("none", "#a1a9b6", "#b9c0cb")
"""Arrows and their labels, on a dark page."""

LIGHT_FRAME: Final = Colours("#fafafb", "#8a91a0", "#4b5563")
"""The frame around the operations of a module, on a light page."""

DARK_FRAME: Final = Colours("#1a1c21", "#747c8a", "#b9c0cb")
"""The frame around the operations of a module, on a dark page."""

CANVAS: Final = ("#ffffff", "#131416")
"""The ground of a picture that stands alone, light and dark."""

BY_KIND: Final = {look.kind: look for look in LOOKS}
"""The looks of boxes by their kinds."""

LINE_BY_KIND: Final = {line.kind: line for line in LINES}
"""The looks of arrows by their kinds."""


def palette() -> dict[str, tuple[Colours, Colours]]:
    """Return the light and dark colours of everything that has some, by CSS class without the prefix."""
    colours = {look.kind: (look.light, look.dark) for look in LOOKS}
    return colours | {"edge": (LIGHT_LINE, DARK_LINE), "frame": (LIGHT_FRAME, DARK_FRAME)}


def custom_properties() -> dict[str, tuple[str, str]]:
    """Return name, light and dark value of every CSS custom property that colours a figure."""
    return {
        f"--{PREFIX}{kind}-{part}": (getattr(light, part), getattr(dark, part))
        for kind, (light, dark) in palette().items()
        for part in ("fill", "stroke", "text")
        if getattr(light, part) != "none"
    }


def sheet() -> str:
    """Return the style sheet of a picture that stands alone: plain colours, dark where the reader prefers it."""
    light, dark = (
        f".{PREFIX}canvas{{fill:{CANVAS[at]}}}" + "".join(_rule(kind, both[at]) for kind, both in palette().items())
        for at in (0, 1)
    )
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}"


def _rule(kind: str, colours: Colours) -> str:
    fill = colours.stroke if colours.fill == "none" else colours.fill
    return (
        f".{PREFIX}{kind}{{fill:{fill};stroke:{colours.stroke}}}.{PREFIX}{kind} text{{fill:{colours.text};stroke:none}}"
    )
