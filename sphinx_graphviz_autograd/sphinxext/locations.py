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
import os
import re
import sys
from dataclasses import dataclass, replace
from itertools import pairwise
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

    Indentation and quote marks before a row do not count, nor does what stands beside it in a grid table, nor do blank
    rows.
    """
    wanted = [(at, row.strip()) for at, row in enumerate(rows) if row.strip()]
    if not wanted:
        return near

    def stand_at(line: int) -> bool:
        return all(0 < line + at <= len(lines) and _holds(lines[line + at - 1].strip(), row) for at, row in wanted)

    if stand_at(near):
        return near
    found = sorted((line for line in range(1, len(lines) + 1) if stand_at(line)), key=lambda line: abs(line - near))
    if not found or (len(found) > 1 and abs(found[0] - near) == abs(found[1] - near)):
        return near
    return found[0]


def _holds(line: str, row: str) -> bool:
    """Return whether a line is a row, or has it in a cell of a grid table."""
    return line.endswith(row) or (line.startswith("|") and re.search(rf"[|\s]{re.escape(row)}\s*\|", line) is not None)


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
    path, is_docstring, name = _with_file(source).partition(_DOCSTRING)
    file = _relative(path, folder)
    if is_docstring:
        lines = _lines(path)
        start = docstring_line("".join(lines), name, Path(path))
        return (lines, 1 - start, Position(file, 0)) if start else ((), 0, Position(f"{file}{_DOCSTRING}{name}", 0))
    cell = reported // _CELL
    if path.endswith(".ipynb") and cell:
        return _cell_lines(path, cell), cell * _CELL + 1, Position(file, 0, cell)
    return _lines(path), 0, Position(file, 0)


def _with_file(source: str) -> str:
    """Return the name of a docstring's source with the file, which autodoc omits for attributes before Sphinx 9."""
    name = source.removeprefix(_DOCSTRING[1:])
    if name == source:
        return source
    parts = name.split(".")
    modules = (sys.modules.get(".".join(parts[:length])) for length in range(len(parts), 0, -1))
    file = next((module.__file__ for module in modules if module and getattr(module, "__file__", None)), None)
    return f"{file}{_DOCSTRING}{name}" if file else source


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


def docstring_line(text: str, name: str, path: Path) -> int:
    """Return the line in the Python file `text` at which the docstring of the object `name` starts; 0 if unknown.

    `name` is a qualified name with its module's, of which the file does not know the length; `path` is the file's.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return 0
    parts = name.split(".")
    if parts[-1] == (path.parent.name if path.stem == "__init__" else path.stem) and (line := _first_text(tree)):
        return line
    for skipped in range(1, len(parts)):
        node: ast.AST | None = tree
        for part in parts[skipped:-1]:
            node = node and _member(node, part)
        member = node and _member(node, parts[-1])
        line = _first_text(member) if member else _text_after(node, parts[-1]) if node else 0
        if line:
            return line
    return 0


def _first_text(node: ast.AST) -> int:
    """Return the line of the docstring that a module, class or function begins with; 0 if there is none."""
    body = cast("list[ast.stmt]", getattr(node, "body", []))
    return body[0].lineno if body and _is_text(body[0]) else 0


def _text_after(node: ast.AST, name: str) -> int:
    """Return the line of the docstring after an assignment to `name` in a module or class; 0 if there is none."""
    body = cast("list[ast.stmt]", getattr(node, "body", []))
    for statement, following in pairwise(body):
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if _is_text(following) and any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return following.lineno
    return 0


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


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
    """Return the path relative to the source folder, or whole if it is not below it.

    Docutils names included files relative to the working directory.
    """
    # `resolve` would follow links, and what is no file is a name such as `<rst_prolog>`
    absolute = Path(os.path.abspath(path) if os.path.isfile(path) else path)  # noqa: PTH100, PTH113
    return absolute.relative_to(folder).as_posix() if absolute.is_relative_to(folder) else absolute.as_posix()
