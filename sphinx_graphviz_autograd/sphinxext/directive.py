"""From a directive to a block that can be run, and to the nodes of the page that are known without running it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, cast

from docutils import nodes
from sphinx.directives.code import container_wrapper
from sphinx.util.docutils import SphinxDirective

from sphinx_graphviz_autograd.execution.session import ExpressionError, parse_expressions
from sphinx_graphviz_autograd.sphinxext import config, locations, options
from sphinx_graphviz_autograd.sphinxext.locations import Position
from sphinx_graphviz_autograd.sphinxext.nodes import AutogradPlace
from sphinx_graphviz_autograd.sphinxext.pages import Block, pages
from sphinx_graphviz_autograd.sphinxext.problems import Problem, Subtype

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx_graphviz_autograd.sphinxext.options import Options, Part

_ID_DIGITS: Final = 8
"""Of the digest of a page's name in ids; names themselves would clash (`a/b`, `a-b`) or be empty (`損失`)."""


@dataclass(frozen=True, slots=True)
class _Code:
    """The code of a directive and where it stands."""

    text: str
    """All of it, without a newline at the end."""
    rows: tuple[Position, ...]
    """The lines of its rows."""
    problem: Problem | None = None
    """Why there is none, if there should be some."""


class AutogradExec(SphinxDirective):
    """Runs PyTorch code and shows it, and what it prints."""

    has_content = True
    option_spec: ClassVar[dict[str, Callable[[str | None], str]]] = options.AnyOption()  # type: ignore[assignment] # Sphinx says Any
    parts: ClassVar[frozenset[Part] | None] = options.EXEC_PARTS
    draws: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        """Keep the block for running, and return its code and the places for what will come of it."""
        located = locations.locate(self)
        chosen, wrong = options.parse(cast("dict[str, str]", self.options), self.parts)
        problems = [Problem(Subtype.OPTION, one.message, located.options.get(one.name, located.at)) for one in wrong]
        code = self._code(chosen, located)
        expressions = self._expressions(located.at, problems)
        domain = pages(self.env)
        number = len(domain.blocks.get(self.env.docname, ()))
        block = Block(
            prefix=f"ag-{hashlib.sha256(self.env.docname.encode()).hexdigest()[:_ID_DIGITS]}-{number}",
            code=code.text,
            expressions=expressions or (),
            draw=expressions is not None and code.problem is None,
            options=chosen,
            at=located.at,
            rows=code.rows,
            option_lines=located.options,
            problems=(*problems, *([code.problem] if code.problem else [])),
        )
        domain.add(self.env.docname, block)
        return self._page(block, number)

    def _code(self, chosen: Options, located: locations.Located) -> _Code:
        """Return the directive's content, or what the option `file` names."""
        if not chosen.file:
            return _Code("\n".join(self.content), located.rows)
        at = located.options.get("file", located.at)
        relative, absolute = self.env.relfn2path(chosen.file)
        self.env.note_dependency(relative)
        if self.content:
            message = "there is both the option `file` and code in the directive; only one of them may be given"
            return _Code("", (), Problem(Subtype.OPTION, message, at))
        try:
            text = Path(absolute).read_text(encoding="utf-8-sig").rstrip("\n")
        except (OSError, UnicodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            return _Code("", (), Problem(Subtype.OPTION, f"option `file`: cannot read `{chosen.file}`: {reason}", at))
        file = Path(relative).as_posix()
        return _Code(text, tuple(Position(file, line) for line in range(1, len(text.split("\n")) + 1)))

    def _expressions(self, at: Position, problems: list[Problem]) -> tuple[str, ...] | None:
        """Return what to draw; None for nothing."""
        if not self.draws:
            return None
        try:
            found = parse_expressions(" ".join(row.strip() for row in "".join(self.arguments).split("\n")))
        except ExpressionError as error:
            message = f"{error}; code stands under the directive, after an empty line"
            problems.append(Problem(Subtype.SYNTAX, message, at))
            return None
        if not found and not any(row.strip() for row in self.content) and "file" not in self.options:
            problems.append(Problem(Subtype.OPTION, "nothing to draw: give variables, or code, or both", at))
            return None
        return found

    def _page(self, block: Block, number: int) -> list[nodes.Node]:
        code = [*self._shown_code(block), AutogradPlace.make(self.env.docname, number, "output")]
        figures = self._figures(block, number)
        notes = AutogradPlace.make(self.env.docname, number, "notes")
        return [*figures, *code, notes] if block.options.code_below else [*code, *figures, notes]

    def _shown_code(self, block: Block) -> list[nodes.Node]:
        """Return the code as an ordinary literal block, in whose HTML each line is an element of its own."""
        chosen = block.options
        hide = config.checked(self.config).hide_code if chosen.hide_code is None else chosen.hide_code
        if hide or not block.code.strip():
            return []
        literal = nodes.literal_block(block.code, block.code, language="python", classes=["autograd-graph-code"])
        literal["linenos"] = chosen.linenos or chosen.lineno_start is not None
        arguments_: dict[str, object] = {"linespans": f"{block.prefix}-line"}
        if chosen.lineno_start is not None:
            arguments_["linenostart"] = chosen.lineno_start
        if chosen.emphasize_lines:
            arguments_["hl_lines"] = _lines(chosen.emphasize_lines, len(block.rows))
        literal["highlight_args"] = arguments_
        self._set_source(literal, block.rows[0] if block.rows else block.at)
        if not chosen.code_caption:
            return [literal]
        wrapper = container_wrapper(self, literal, chosen.code_caption)
        wrapper["ids"].append(f"{block.prefix}-code")  # else `id1`, which occurs again in other pages of a `singlehtml`
        return [wrapper]

    def _set_source(self, node: nodes.Element, at: Position) -> None:
        node.source, node.line = str(Path(self.env.srcdir) / at.file), at.line

    def _figures(self, block: Block, number: int) -> list[nodes.Node]:
        """Return one figure, or with `separate` one for each expression."""
        if not self.draws or block.options.skip:
            return []
        if not block.options.separate or not block.expressions:
            return [self._figure(block, number, "", "")]
        return [
            self._figure(block, number, expression, f"-{at}")
            for at, expression in enumerate(block.expressions, start=1)
        ]

    def _figure(self, block: Block, number: int, expression: str, suffix: str) -> nodes.figure:
        chosen = block.options
        figure = nodes.figure("", classes=["autograd-graph", *chosen.figclass])
        if chosen.align:
            figure["align"] = chosen.align
        if chosen.figwidth:
            figure["width"] = chosen.figwidth
        self._set_source(figure, block.at)
        place = AutogradPlace.make(self.env.docname, number, "picture", expression, chosen.alt)
        self._set_source(place, block.option_lines.get("alt", block.at))
        figure += place
        if chosen.caption:
            inline, messages = self.parse_inline(chosen.caption, lineno=block.at.line)
            caption = nodes.caption(chosen.caption, "", *inline, *messages)
            self._set_source(caption, block.at)
            figure += caption
        if chosen.name:
            self.options["name"] = chosen.name + suffix
            self.add_name(figure)
        else:
            # else `id1`, which occurs again in other pages of a `singlehtml`
            figure["ids"].append(block.prefix + suffix)
            self.state.document.note_explicit_target(figure)
        return figure


class AutogradGraph(AutogradExec):
    """Runs PyTorch code, shows it, and draws the autograd graphs behind its variables."""

    optional_arguments = 1
    final_argument_whitespace = True
    parts = None
    draws = True


def _lines(ranges: str, last: int) -> list[int]:
    """Return the lines that a list such as `1,3-5,8-` names, as far as they exist."""
    found: list[int] = []
    for item in ranges.replace(" ", "").split(","):
        first, dash, end = item.partition("-")
        found += range(int(first), min(last, int(end) if end else last if dash else int(first)) + 1)
    return found
