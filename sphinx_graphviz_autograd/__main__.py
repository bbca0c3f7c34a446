"""The command line: `python -m sphinx_graphviz_autograd`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.errors import AutogradGraphError

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says, and return the exit status: 0 if all is well, 1 if not, 2 for a wrong use."""
    parser = argparse.ArgumentParser(
        prog="python -m sphinx_graphviz_autograd", description="Autograd graphs of PyTorch code in Sphinx documents."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    check = commands.add_parser(
        "check", help="list stored results that are stale, missing or orphaned", description=_check.__doc__
    )
    check.add_argument("docs", metavar="DOCS", type=Path, help="the folder with conf.py")
    check.set_defaults(run=_check)
    chosen = parser.parse_args(arguments)
    try:
        status: int = chosen.run(chosen)
    except AutogradGraphError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return status


def _check(chosen: argparse.Namespace) -> int:
    """List the stored results of a site that are stale, missing or orphaned; exit with 1 if there are any."""
    from sphinx_graphviz_autograd.sphinxext.check import check  # noqa: PLC0415 - other commands do without Sphinx

    docs: Path = chosen.docs
    found = check(docs)
    for finding in found:
        session = f" ({finding.session})" if finding.session else ""
        sys.stdout.write(f"{finding.docname}{session}: {finding.problem}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
