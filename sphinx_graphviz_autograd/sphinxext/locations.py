"""Where the lines of a directive stand in the author's files.

The parsers count differently: reStructuredText gives each row its file and line, also in an included file;
MyST-Parser up to 5.2 counts rows from the directive's opening line; MyST-NB is off by the blank lines before a piece of
Markdown and numbers the lines of an `.ipynb` cell from 10000 times the cell's number; autodoc counts from the start of
a docstring. One rule serves all: take the line that the parser gives, look whether the rows stand there, and if not,
nearby.
"""

from __future__ import annotations

import ast
import json
import linecache
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.util.docutils import SphinxDirective

_DOCSTRING: Final = ":docstring of "
"""What autodoc puts between the file and the object in the name of a source."""

_CELL: Final = 10000
"""MyST-NB's pseudo line of the first line of cell n in an `.ipynb` is n times this, plus one."""


@dataclass(frozen=True, slots=True)
class Position:
    """A line of a file of the author's."""

    file: str
    """Path relative to the source folder, with forward slashes; absolute if the file is elsewhere."""
    line: int
    """The line, from 1; 0 if only the file is known."""
    cell: int = 0
    """For an `.ipynb`, the number of the cell that the line is in, from 1."""

    def __str__(self) -> str:
        """Return it as Sphinx writes locations, as `guide/index.rst:12` or `notebook.ipynb:cell 3:2`."""
        return ":".join(
            [self.file, *([f"cell {self.cell}"] if self.cell else []), *([str(self.line)] * bool(self.line))]
        )

    @property
    def named_file(self) -> str:
        """The file as tracebacks name it, with the cell of an `.ipynb`."""
        return f"{self.file}, cell {self.cell}" if self.cell else self.file

    @property
    def words(self) -> str:
        """The line in words, as `guide/index.rst, line 12`."""
        return f"{self.named_file}, line {self.line}"

    def absolute(self, folder: Path) -> str:
        """Return the location with the whole path of the file, given the source folder."""
        return str(replace(self, file=str(folder / self.file)))


@dataclass(frozen=True, slots=True)
class Located:
    """A directive's lines."""

    at: Position
    """The line of the directive itself."""
    rows: tuple[Position, ...]
    """One for each row of its content."""
    options: dict[str, Position]
    """The lines of its options, as far as they are found."""


def locate(directive: SphinxDirective) -> Located:
    """Return the lines of a directive and of all its parts."""
    source, reported = _reported(directive)
    folder = Path(directive.env.srcdir)
    lines, base, place = _file(source, reported, folder)
    rows = [*directive.content] or directive.block_text.splitlines()[:1]
    first = find_rows(rows, lines, reported - base)
    own = _own_line(directive) - reported + first
    return Located(
        at=replace(place, line=own),
        rows=tuple(replace(place, line=first + row) for row in range(len(directive.content))),
        options={
            name: replace(place, line=own + row)
            for name, row in _option_rows(directive.block_text).items()
            if name in directive.options
        },
    )


def find_rows(rows: Sequence[str], lines: Sequence[str], near: int) -> int:
    """Return the line, from 1, at which `rows` stand in `lines`: the one nearest to `near`, or `near` itself.

    Indentation and quote marks before a row do not count, nor do blank rows.
    """
    wanted = [(at, row.strip()) for at, row in enumerate(rows) if row.strip()]
    if not wanted:
        return near

    def stand_at(line: int) -> bool:
        return all(0 < line + at <= len(lines) and lines[line + at - 1].rstrip().endswith(row) for at, row in wanted)

    if stand_at(near):
        return near
    found = sorted((line for line in range(1, len(lines) + 1) if stand_at(line)), key=lambda line: abs(line - near))
    if not found or (len(found) > 1 and abs(found[0] - near) == abs(found[1] - near)):
        return near
    return found[0]


def _reported(directive: SphinxDirective) -> tuple[str, int]:
    """Return the file and line of the first row as the parser tells them; of the directive if there is no row."""
    own_source, _ = directive.get_source_info()
    if not directive.content:
        return own_source, _own_line(directive)
    source, offset = cast("tuple[str | None, int | None]", directive.content.items[0])
    if offset:
        return source or own_source, offset + 1
    return own_source, directive.lineno + directive.content_offset + 1


def _own_line(directive: SphinxDirective) -> int:
    _, line = directive.get_source_info()
    return line or directive.lineno


def _file(source: str, reported: int, folder: Path) -> tuple[Sequence[str], int, Position]:
    """Return the lines to look in, what to subtract from reported lines to count in them, and a position there."""
    path, is_docstring, name = source.partition(_DOCSTRING)
    file = _relative(path, folder)
    if is_docstring:
        lines = _lines(path)
        start = docstring_line("".join(lines), name)
        return (lines, 1 - start, Position(file, 0)) if start else ((), 0, Position(f"{file}{_DOCSTRING}{name}", 0))
    cell = reported // _CELL
    if path.endswith(".ipynb") and cell:
        return _cell_lines(path, cell), cell * _CELL + 1, Position(file, 0, cell)
    return _lines(path), 0, Position(file, 0)


def _lines(path: str) -> Sequence[str]:
    linecache.checkcache(path)
    return linecache.getlines(path)


def _cell_lines(path: str, cell: int) -> Sequence[str]:
    """Return the lines of a notebook's cell; none if the file is not as it should be."""
    try:
        notebook = cast("dict[str, list[dict[str, str | list[str]]]]", json.loads("".join(_lines(path))))
        return "".join(notebook["cells"][cell - 1]["source"]).splitlines()
    except (ValueError, LookupError, TypeError):
        return ()


def docstring_line(text: str, name: str) -> int:
    """Return the line in the Python file `text` at which the docstring of the object `name` starts; 0 if unknown.

    `name` is a qualified name with its module's, of which the file does not know the length.
    """
    try:
        tree: ast.AST = ast.parse(text)
    except (SyntaxError, ValueError):
        return 0
    parts = name.split(".")
    for skipped in range(1, len(parts) + 1):
        node: ast.AST | None = tree
        for part in parts[skipped:]:
            node = node and _member(node, part)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                return first.lineno
    return 0


def _member(node: ast.AST, name: str) -> ast.AST | None:
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return next((child for child in ast.walk(node) if isinstance(child, kinds) and child.name == name), None)


def _option_rows(block_text: str) -> dict[str, int]:
    """Return the rows of a directive's options, counted from its opening line.

    MyST-Parser 5 gives the text with the opening line, as reStructuredText does; version 4 gives what follows it.
    """
    rows = block_text.splitlines()
    first = 0 if rows and ("::" in rows[0] or rows[0].lstrip().startswith(("```", "~~~"))) else 1
    found: dict[str, int] = {}
    for at, row in enumerate(rows):
        if option := re.match(r"[\s>]*:?([a-z][a-z-]*):(?:\s|$)", row):
            found.setdefault(option[1], first + at)
    return found


def _relative(path: str, folder: Path) -> str:
    """Return the path relative to the source folder, and as it is if it is not below it."""
    absolute = Path(path)
    return absolute.relative_to(folder).as_posix() if absolute.is_relative_to(folder) else absolute.as_posix()
