"""Style sheet and script: put beside the pages of an HTML site, and linked from the pages that need them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from docutils import nodes

from sphinx_graphviz_autograd.drawing import book
from sphinx_graphviz_autograd.drawing.style import PREFIX
from sphinx_graphviz_autograd.sphinxext import config
from sphinx_graphviz_autograd.sphinxext.files import write

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_STATIC: Final = Path(__file__).parents[1] / "static"
"""Where the package keeps them."""

STYLE: Final = "autograd-graph.css"
"""The style sheet."""

SCRIPT: Final = "autograd-graph.js"
"""The script."""


def copy(app: Sphinx) -> None:
    """Put the files into the output folder of an HTML builder, with the colours that `conf.py` sets."""
    if app.builder.format != "html":
        return
    target = Path(app.outdir) / "_static"
    if app.builder.name == "epub":  # whose readers, and checkers, know little of today's CSS and less of scripts
        write(target / STYLE, book.sheet().encode())
        return
    style = (_STATIC / STYLE).read_text(encoding="utf-8")
    colours = "".join(f"  --{PREFIX}{name}: {colour};\n" for name, colour in config.checked(app.config).colors)
    if colours:
        style += f"\n/* from `autograd_graph_colors` */\n:root {{\n{colours}}}\n"
    write(target / STYLE, style.encode())
    write(target / SCRIPT, (_STATIC / SCRIPT).read_bytes())


def link(app: Sphinx, _page: str, _template: str, _context: dict[str, object], doctree: nodes.document | None) -> None:
    """Link them from a page that has something of ours."""
    if doctree is None or not any(_is_ours(node) for node in doctree.findall(nodes.Element)):
        return
    app.add_css_file(STYLE)
    if app.builder.name != "epub":
        app.add_js_file(SCRIPT, loading_method="defer")


def _is_ours(node: nodes.Element) -> bool:
    return any(name.startswith("autograd-graph") for name in cast("list[str]", node.get("classes", [])))
