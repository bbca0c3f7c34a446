"""Reference pages made from the code that they describe, so that they cannot say anything else.

`autograd-graph-reference` takes one argument: `options` and a part of them, `words`, `configuration`, `warnings`,
`boxes` or `arrows`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from sphinx_graphviz_autograd.drawing import passes, style
from sphinx_graphviz_autograd.sphinxext import config, options, problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.domains.std import StandardDomain
    from sphinx.util.typing import ExtensionMetadata, OptionSpec

OPTION = "directive-option"
"""The role that refers to an option of our directives; Sphinx's own `confval` does so for configuration."""


class Reference(SphinxDirective):
    """A list of options, configuration values, warnings, boxes or arrows."""

    required_arguments = 1
    optional_arguments = 1
    option_spec: ClassVar[OptionSpec] = {}

    def run(self) -> list[nodes.Node]:
        """Return the list as a definition list."""
        match self.arguments:
            case ["options", part]:
                entries = self.list_options(part)
            case ["words"]:
                entries = self.list_words()
            case ["configuration"]:
                entries = self.list_configuration()
            case ["warnings"]:
                entries = self.list_warnings()
            case ["boxes"]:
                entries = self.list_looks(style.LOOKS)
            case ["arrows"]:
                entries = self.list_looks(style.LINES)
            case _:
                raise self.error(f"there is no reference of {' '.join(self.arguments)}")
        # the class of figures, whose style sheet colours the swatches
        found = nodes.definition_list("", *entries, classes=["reference-list", "autograd-graph"])
        for node in found.findall(nodes.Element):
            self.set_source_info(node)  # Sphinx reckons with the line of every term
        return [found]

    def list_options(self, part: str) -> Iterator[nodes.Node]:
        """Yield the options of one part of the table."""
        for name, (_, option) in options.table().items():
            if option.part == part:
                yield self.entry(name, OPTION, option.values, option.meaning)

    def list_words(self) -> Iterator[nodes.Node]:
        """Yield what figures can show, and whether they do if nothing is said."""
        for word, sentence in passes.SHOW.items():
            yield self.entry(word, "", "usual" if word in passes.DEFAULT_SHOW else "on demand", sentence)

    def list_configuration(self) -> Iterator[nodes.Node]:
        """Yield the values of `conf.py` with their defaults."""
        for name, value in config.table().items():
            default = f"Default: `{config.defaults()[name]!r}`."
            yield self.entry(name, "confval", value.values, value.meaning, default)

    def list_warnings(self) -> Iterator[nodes.Node]:
        """Yield the subtypes of warnings."""
        for subtype in problems.Subtype:
            yield self.entry(f"{problems.TYPE}.{subtype}", "", "", subtype.meaning)

    def list_looks(self, looks: tuple[style.Look, ...] | tuple[style.Line, ...]) -> Iterator[nodes.Node]:
        """Yield kinds of boxes or arrows, each with a swatch."""
        for look in looks:
            line = [] if isinstance(look, style.Look) else [f"{style.PREFIX}swatch-line"]
            swatch = nodes.inline(classes=[f"{style.PREFIX}swatch", *line, f"{style.PREFIX}{look.kind}"])
            term = nodes.term("", "", swatch, nodes.Text(f" {look.word}"))
            yield nodes.definition_list_item("", term, nodes.definition("", self.paragraph(look.sentence)))

    def entry(self, name: str, kind: str, values: str, *sentences: str) -> nodes.definition_list_item:
        """Return an entry that can be referred to by its name, if it is of a kind that has a role."""
        term = nodes.term("", "", nodes.literal("", name))
        if kind:
            anchor = nodes.make_id(f"{kind}-{name}")
            term["ids"].append(anchor)
            self.state.document.note_explicit_target(term)
            cast("StandardDomain", self.env.get_domain("std")).note_object(kind, name, anchor, location=term)
        definition = nodes.definition("", *[self.paragraph(sentence) for sentence in sentences])
        if not values:
            return nodes.definition_list_item("", term, definition)
        return nodes.definition_list_item("", term, nodes.classifier("", "", *self.inline(values)), definition)

    def paragraph(self, text: str) -> nodes.paragraph:
        """Return a paragraph of a text with inline markup."""
        return nodes.paragraph("", "", *self.inline(text))

    def inline(self, text: str) -> list[nodes.Node]:
        """Return the nodes of a text with inline markup."""
        found, messages = self.parse_inline(text, lineno=self.lineno)
        return [*found, *messages]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Add the directive, and the role that refers to an option."""
    app.add_directive("autograd-graph-reference", Reference)
    app.add_object_type(OPTION, OPTION, objname="option of a directive")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
