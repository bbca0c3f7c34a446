"""What stands around a picture in an HTML page: the box it is scrolled in, and the controls that a script brings alive.

The buttons are hidden until the script runs; the style sheet keeps their room, so that nothing moves when they appear.
The words that the script writes stand here too, as data, so that they are translated like all others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sphinx_graphviz_autograd.drawing.plain import xml_text
from sphinx_graphviz_autograd.drawing.style import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable

_WALK: Final = (
    ("previous", "Previous step of backward", "M11 3 6 8l5 5M4 3v10"),
    ("play", "Play backward", "M5 3l8 5-8 5z"),
    ("next", "Next step of backward", "M5 3l5 5-5 5M12 3v10"),
)
"""The buttons that walk through backward: what each does, its name, and its icon as an SVG path in a square of 16."""

_LOOK: Final = (
    ("out", "Zoom out", "M3 8h10"),
    ("in", "Zoom in", "M3 8h10M8 3v10"),
    ("fit", "Fit to the page", "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3M6 8h4"),
    ("full", "Full view", "M9 3h4v4M13 3 9 7M7 13H3V9M3 13l4-4"),
)
"""The buttons for looking closer."""

_LEAST: Final = 9.0
"""Height in pixels below which no type of a picture is shown."""

_TALL: Final = 1400.0
"""Height in pixels up to which a picture is shown whole: one and a half windows."""

_BACKWARD: Final = "Backward"
_ALONE: Final = "Picture alone"

SENTENCES: Final = {
    "pause": "Pause",
    "close": "Close",
    "fed": "Fed by",
    "first": "Step {step} of {steps}: backward starts at {node}.",
    "middle": "Step {step} of {steps}: the gradient of {node}, {gradient}, is complete. It is passed on to {next}.",
    "last": "Step {step} of {steps}: the gradient of {node}, {gradient}, is complete.",
}
"""The words that the script writes, by the names under which it finds them."""


def around(svg: str, *, label: str, file: str, walk: bool, translate: Callable[[str], str] = str) -> str:
    """Return the HTML for a picture.

    Args:
        svg: its `svg` element.
        label: its name in a few words.
        file: address of the picture as a file of its own.
        walk: whether backward can be walked through in it.
        translate: turns an English word or sentence of ours into the reader's language.
    """
    say = translate
    steps = "".join(_button(*button, say) for button in _WALK)
    backward = f'<span class="{PREFIX}walk" hidden role="group">{xml_text(say(_BACKWARD))} {steps}</span>'
    looks = "".join(_button(*button, say) for button in _LOOK)
    words = "".join(f' data-{name}="{xml_text(say(text))}"' for name, text in SENTENCES.items())
    classes, floor = _scroll(svg)
    return (
        f'<div class="{classes}" role="group" tabindex="0" aria-label="{xml_text(label)}">\n{svg}{floor}\n</div>\n'
        f'<div class="{PREFIX}tools"{words}>{backward if walk else ""}<span class="{PREFIX}look" hidden>{looks}</span>'
        f'<a href="{xml_text(file)}">{xml_text(say(_ALONE))}</a></div>\n'
        f'<p class="{PREFIX}status" role="status"></p>'
    )


def _scroll(svg: str) -> tuple[str, str]:
    """Return the classes of the box that a picture is scrolled in, and an empty element of the least width for it.

    A picture shrinks to its column until its smallest type is `_LEAST` pixels high; a very high one scrolls in a window
    of its own. One for which the author has set a width has that, whatever comes of it.
    """
    box = f"{PREFIX}scroll"
    size = re.match(r'<svg [^>]*\bwidth="([\d.]+)" height="([\d.]+)"', svg)
    if size is None:
        return box, ""
    width, height = float(size[1]), float(size[2])
    type_ = min(map(float, re.findall(r'font-size="([\d.]+)"', svg)), default=_LEAST)
    least = width * min(1.0, _LEAST / type_)
    classes = f"{box} {PREFIX}shrinks" + f" {PREFIX}tall" * (height > _TALL)
    return classes, f'<svg width="{least:.0f}" height="0" aria-hidden="true"></svg>'


def words() -> tuple[str, ...]:
    """Return the words that are translated."""
    return (_BACKWARD, *(name for _, name, _ in (*_WALK, *_LOOK)), _ALONE, *SENTENCES.values())


def _button(does: str, name: str, icon: str, translate: Callable[[str], str]) -> str:
    said = xml_text(translate(name))
    return (
        f'<button type="button" class="{PREFIX}{does}" title="{said}">'
        f'<svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true"><path d="{icon}"/></svg></button>'
    )
