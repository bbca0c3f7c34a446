"""Drawings that the author's code made with the `graphviz` package, as `torchviz.make_dot` does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sphinx_graphviz_autograd.execution.outputs import tidy
from sphinx_graphviz_autograd.execution.session import Drawing

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.execution.paths import Folders

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![=\w.])\d{6,}(?![\w.])', re.DOTALL)
"""A quoted text, which is left alone, or a number that is a node's name: `make_dot` names nodes by their addresses."""


def as_drawing(value: object, folders: Folders) -> Drawing | None:
    """Return the drawing that an object of the `graphviz` package holds; None for any other object."""
    if type(value).__module__.partition(".")[0] != "graphviz":
        return None
    source = getattr(value, "source", None)
    return Drawing(renumbered(tidy(source, folders))) if isinstance(source, str) else None


def renumbered(source: str) -> str:
    """Return DOT text with the nodes whose names are addresses named `n0`, `n1`, ... in the order of the text."""
    names: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        token = match[0]
        return token if token.startswith('"') else names.setdefault(token, f"n{len(names)}")

    return _TOKEN.sub(rename, source)
