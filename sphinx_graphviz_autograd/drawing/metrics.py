"""How wide a text is, so that a box holds its label whatever engine draws it and whatever font a browser has.

Graphviz measures with the fonts of the machine, and `graphviz-pure` knows no other characters than ASCII. Widths
measured here are the same everywhere: those of Helvetica, which Arial and Liberation Sans share.
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache

_REGULAR = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 "
    "584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 "
    "667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 "
    "278 556 500 722 500 500 500 334 260 334 584"
)
_BOLD = (
    "278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333 333 "
    "584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722 667 944 "
    "667 667 611 333 278 333 584 556 333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 "
    "333 611 556 778 556 556 500 389 280 389 584"
)
_WIDTHS = {
    bold: {chr(32 + at): int(width) for at, width in enumerate(table.split())}
    for bold, table in ((False, _REGULAR), (True, _BOLD))
}
"""Thousandths of the type size, for the printable characters of ASCII."""


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a line of text in points, set in Helvetica of this size.

    Characters beyond ASCII are estimated on the wide side: one em for East Asian ones, more for pictographs.
    """
    widths = _WIDTHS[bold]
    return sum(widths[char] if char in widths else _width_beyond_ascii(char) for char in text) * size / 1000


@cache
def _width_beyond_ascii(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    if unicodedata.category(char) == "So" or char >= "\U0001f000":  # pictographs, up to 1.37 em in Windows' font
        return 1400
    if unicodedata.east_asian_width(char) in {"W", "F"}:
        return 1000
    if char in "·\u00a0":
        return 333
    return 1000 if unicodedata.east_asian_width(char) == "A" or char.isupper() else 667
