"""Text that any format can hold: names and values come from the author's code and may contain anything."""

from __future__ import annotations

from html import escape
from typing import Final

_REPLACED: Final = dict.fromkeys(
    (*range(32), *range(127, 160), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF), "\ufffd"
) | dict.fromkeys(map(ord, "\t\n\r"), " ")


def plain(text: str) -> str:
    """Return the text on one line, with `\ufffd` for control characters and others that XML cannot hold."""
    return text if text.isprintable() else text.translate(_REPLACED)


def xml_text(text: str) -> str:
    """Return the plain text with `<`, `>`, `&` and quotes escaped."""
    return escape(plain(text))
