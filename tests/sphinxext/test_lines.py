"""Warnings name the very line of the author's file, whatever markup the block stands in."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from sphinx_graphviz_autograd.sphinxext.locations import docstring_line, find_rows
from tests.sphinxext import sites

FAILING = re.compile(r'raise ValueError\(\\?"(in .*?)\\?"\)')


def true_places(source: Path) -> set[str]:
    """Return the file, line and message of every failing line of the site, found by reading its files as text."""
    places = set()
    for path in sorted(source.iterdir()):
        if path.suffix == ".ipynb":
            for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"], 1):
                for line, row in enumerate(cell["source"], 1):
                    if found := FAILING.search(row):
                        places.add(f"{path.name}:cell {number}:{line}: {found[1]}")
        elif path.is_file():
            for line, row in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if found := FAILING.search(row):
                    places.add(f"{path.name}:{line}: {found[1]}")
    return places


def test_errors_at_their_lines(tmp_path: Path) -> None:
    """Each block that raises is reported at its own line, in the warning and in the page, and the build fails."""
    source = sites.copy("lines", tmp_path)

    built = sites.build(source, "-W", "--keep-going")

    told = {
        re.sub(r": WARNING: ValueError: (.*)", r": \1", warning)
        for warning in built.warnings
        if "WARNING: ValueError" in warning
    }
    assert told == true_places(source)
    assert len(told) == 14
    assert built.status == 1
    assert built.subtypes == ["execution"] * 14
    assert 'File "md.md", line 8, in <module>' in html.unescape(re.sub("<.*?>", "", built.page("md.html")))
    assert "<autograd-graph" not in built.errors


@pytest.mark.parametrize(
    ("near", "line"),
    [
        (4, 4),  # they stand there
        (3, 4),  # or nearby
        (1, 4),
        (9, 8),  # the nearest of two places
        (6, 6),  # undecided
    ],
)
def test_rows_are_found(near: int, line: int) -> None:
    """Rows are looked for around the line that the parser gives, whatever stands before them on their lines."""
    lines = ["text", "", "```", "> a", "> b", "", "", "  a", "  b"]

    assert find_rows(["a", "b", ""], lines, near) == line


def test_rows_that_are_nowhere() -> None:
    """If the rows are not in the file, or if there are none, the line that the parser gives is kept."""
    assert find_rows(["x"], ["a"], 7) == 7
    assert find_rows(["", " "], ["a"], 7) == 7


def test_rows_in_a_grid_table() -> None:
    """Rows are found in the cells of a grid table as well."""
    lines = ["1/0", "+-----+----+", "| a   | b  |", "| 1/0 | 11 |", "+-----+----+", "", "1/0"]

    assert find_rows(["1/0"], lines, 4) == 4
    assert find_rows(["b"], lines, 1) == 3
    assert find_rows(["11"], lines, 1) == 4


def test_docstrings_are_found() -> None:
    """A docstring is found by the qualified name of its object, however long the name of its module."""
    text = '"""Module."""\n\nclass A:\n    """Class."""\n\n    def f(self):\n        """Method."""\n'
    text += '\n    b: int = 1\n    """Attribute."""\n\n    c = 2\n'
    path = Path("package/module.py")

    assert docstring_line(text, "package.module.A.f", path) == 7
    assert docstring_line(text, "module.A", path) == 4
    assert docstring_line(text, "module", path) == 1
    assert docstring_line(text, "package", path.with_name("__init__.py")) == 1
    assert docstring_line(text, "module.A.b", path) == 10
    assert docstring_line(text, "module.A.c", path) == 0
    assert docstring_line("def", "module.B", path) == 0


def test_an_included_file_seen_from_the_working_directory(tmp_path: Path) -> None:
    """Wherever Sphinx is started, warnings name an included file by its own path; code may begin with a BOM."""
    source = sites.copy("lines", tmp_path)
    helpers = source / "helpers.py"
    helpers.write_text(helpers.read_text(encoding="utf-8"), encoding="utf-8-sig")

    built = sites.build_afresh(source, cwd=tmp_path)

    place = next(place for place in true_places(source) if place.startswith("_included.txt"))
    assert f"{source / place.partition(': ')[0]}: WARNING: ValueError" in built.errors
    assert "syntax" not in built.subtypes
