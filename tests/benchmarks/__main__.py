"""Measure this package against others, and print a table: `python -m tests.benchmarks`, with groups of rows or all.

Alternatives run side by side, in turn, and the fastest run of each counts. Each group is measured in one run.
"""

from __future__ import annotations

import argparse
import compileall
import os
import platform
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

import sphinx_graphviz_autograd
from sphinx_graphviz_autograd.drawing import layout
from tests.benchmarks.capturing import capture_rows, million_rows, recording_rows
from tests.benchmarks.figures import layout_rows, recurrent_rows
from tests.benchmarks.measuring import FULL, SMOKE, table, with_deep_stack
from tests.benchmarks.sites import book_rows, chapter_rows, growth_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.benchmarks.measuring import Row, Scale

_GROUPS: Final[dict[str, Callable[[Scale], Iterator[Row]]]] = {
    "capture": capture_rows,
    "million": million_rows,
    "recording": recording_rows,
    "recurrent": recurrent_rows,
    "layout": layout_rows,
    "chapter": chapter_rows,
    "book": book_rows,
    "growth": growth_rows,
}

_PACKAGES: Final = ("torch", "torchviz", "sphinx", "myst-nb", "graphviz-pure")


def main() -> None:
    """Print the table of the groups that the command line names, or of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"what to measure, of {', '.join(_GROUPS)}")
    parser.add_argument("--smoke", action="store_true", help="smallest sizes, to see that everything runs")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of nodes for `capture`")
    parser.add_argument("--rounds", type=int, help="how often each alternative runs")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.groups) - set(_GROUPS))
    if unknown:
        parser.error(f"there is no group {', '.join(unknown)}; there are {', '.join(_GROUPS)}")
    scale = SMOKE if arguments.smoke else FULL
    if arguments.sizes:
        scale = replace(scale, sizes=tuple(arguments.sizes))
    if arguments.rounds:
        scale = replace(scale, rounds=arguments.rounds)
    compileall.compile_dir(Path(sphinx_graphviz_autograd.__file__).parent, quiet=1)  # as pip does to what it installs
    rows: list[Row] = []

    def measure() -> None:
        for group in arguments.groups or _GROUPS:
            for row in _GROUPS[group](scale):
                rows.append(row)
                sys.stderr.write(f"{row.work}: {row.measured}\n")

    with_deep_stack(measure)
    sys.stdout.write(f"{table(rows)}\n\n{versions()}\n")


def versions() -> str:
    """Return what was measured, in a sentence."""
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    dot = subprocess.run(["dot", "-V"], capture_output=True, text=True, check=False).stderr.strip()  # noqa: S607 - Graphviz, wherever it is
    machine = f"{platform.system()} on {platform.machine()} with {os.cpu_count()} cores"
    return f"Python {platform.python_version()}, {packages}; {dot}; figures by {layout.engine().name}. {machine}."


if __name__ == "__main__":
    main()
