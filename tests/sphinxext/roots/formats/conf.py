"""A site with the same chapter in reStructuredText, in MyST and as a MyST-NB notebook."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Formats"
author = "Somebody"
project_copyright = "2026, Somebody"
version = release = "1"

extensions = ["sphinx_graphviz_autograd", "myst_nb"]
html_theme = "alabaster"
show_warning_types = True
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "off"
numfig = True
exclude_patterns = ["included.*"]
autograd_graph_prelude = "import torch"


def note_modules(app: Sphinx, _exception: Exception | None) -> None:
    """Write down which modules the process of Sphinx has loaded."""
    (Path(app.outdir).parent / "modules.json").write_text(json.dumps(sorted(sys.modules)), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Listen to the end of the build."""
    app.connect("build-finished", note_modules)
