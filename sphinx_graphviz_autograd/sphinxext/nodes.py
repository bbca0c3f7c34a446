"""Our docutils nodes: the places that wait for results, and the picture."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from docutils import nodes
from sphinx import addnodes

from sphinx_graphviz_autograd.drawing import controls
from sphinx_graphviz_autograd.drawing.style import PREFIX
from sphinx_graphviz_autograd.sphinxext.translation import say

if TYPE_CHECKING:
    from sphinx.writers.html5 import HTML5Translator

Part: TypeAlias = Literal["output", "picture", "notes"]
"""What will stand at a place: what the code printed and how it failed; picture and legend; all other remarks."""


class AutogradPlace(nodes.General, nodes.Element, addnodes.translatable):
    """A place in a page that waits for the results of a block; none is left when a page is written.

    It carries the name of its page, as some builders put pages together before results are filled in, and the author's
    words for the picture, which Sphinx has translated with the page.
    """

    @classmethod
    def make(cls, docname: str, number: int, part: Part, expression: str = "", alt: str = "") -> AutogradPlace:
        """Return the place for a part of the results of a page's block, or of one of its expressions."""
        return cls("", docname=docname, number=number, part=part, expression=expression, alt=alt)

    @property
    def docname(self) -> str:
        """The page that the block is on."""
        return cast("str", self["docname"])

    @property
    def number(self) -> int:
        """The number of the block on its page."""
        return cast("int", self["number"])

    @property
    def part(self) -> Part:
        """What will stand here."""
        return cast("Part", self["part"])

    @property
    def expression(self) -> str:
        """The expression whose graph is drawn here; empty if the figure is for all of the block's."""
        return cast("str", self["expression"])

    @property
    def alt(self) -> str:
        """What the author says that the picture shows; empty for our own words."""
        return cast("str", self["alt"])

    def preserve_original_messages(self) -> None:
        """Keep the author's words as they were."""
        self["original"] = self.alt

    def apply_translated_message(self, original_message: str, translated_message: str) -> None:
        """Put a translation in the place of the author's words."""
        if self.alt == original_message:
            self["alt"] = translated_message

    def extract_original_messages(self) -> list[str]:
        """Return the author's words, if there are any."""
        original: str = self.get("original", self.alt)
        return [original] if original else []


class AutogradImage(nodes.image):
    """A picture that stands in an HTML page itself, as SVG. Translators without a visitor for it see an image."""


class AutogradTable(nodes.General, nodes.Element):
    """The nodes of a figure as a table, for HTML pages only."""


class AutogradReference(nodes.inline):
    """Words that stand for a node of a figure."""

    @classmethod
    def make(cls, docname: str, target: str, text: str) -> AutogradReference:
        """Return the words, which name the node by its figure and its own name."""
        return cls(text, text, docname=docname, target=target)

    @property
    def docname(self) -> str:
        """The page that the words are on."""
        return cast("str", self["docname"])

    @property
    def target(self) -> str:
        """Figure and node, as `fig-loss:w`."""
        return cast("str", self["target"])


class AutogradCode(nodes.literal_block):
    """Code of which some lines did not run, for HTML pages only."""


def visit_image_html(translator: HTML5Translator, node: AutogradImage) -> None:
    """Write the SVG into the page, with its controls, in an element that bears the classes of the image."""
    builder = translator.builder
    file = posixpath.join(builder.imgpath, builder.images[node["file"]])
    inside = controls.around(node["svg"], label=node["title"], file=file, walk=node["walk"], translate=say)
    translator.body.append(translator.starttag(node, "div", ""))
    translator.body.append(f"{inside}\n</div>\n")
    raise nodes.SkipNode


def visit_code_html(translator: HTML5Translator, node: AutogradCode) -> None:
    """Write the code, with a class on the lines that did not run."""
    try:
        translator.visit_literal_block(node)
    except nodes.SkipNode:
        for id_ in node["unrun"]:
            start = f'<span id="{id_}"'
            translator.body[-1] = translator.body[-1].replace(f"{start}>", f'{start} class="{PREFIX}unrun">')
        raise


def visit_table_html(translator: HTML5Translator, node: AutogradTable) -> None:
    """Write the table as it is."""
    translator.body.append(node["html"])
    raise nodes.SkipNode
