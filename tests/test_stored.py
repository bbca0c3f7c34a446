"""A site whose results are committed: it must build where there is neither PyTorch nor Graphviz."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from sphinx_graphviz_autograd.execution.store import load

SITE = Path(__file__).parent / "roots" / "stored"


def test_committed_results_are_those_of_the_present_code(tmp_path: Path) -> None:
    """Running all code of the site anew gives, block for block, what is committed.

    If it is meant to be otherwise: `python -m sphinx tests/roots/stored FOLDER`, and commit the results again.
    """
    shutil.copytree(SITE, tmp_path / "site")
    command = [sys.executable, "-m", "sphinx", "-nqW", "-D", "autograd_graph_execute=always", "site", "html"]
    subprocess.run(command, cwd=tmp_path, check=True)

    committed, made = (
        {s.name: (s.keys, s.blocks) for s in load(folder / "_autograd", "index")}
        for folder in (SITE, tmp_path / "site")
    )

    assert committed == made
