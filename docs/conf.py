"""Configuration of this project's own documentation, which is also its largest example."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx_graphviz_autograd import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "sphinx_graphviz_autograd"
author = "the developers of sphinx_graphviz_autograd"
project_copyright = f"2026, {author}"
version = release = __version__

extensions = [
    "sphinx_graphviz_autograd",
    "myst_nb",  # the pages are MyST
    "reference",  # lists made from the code, see _ext
]
exclude_patterns = ["_build"]
numfig = True
nitpicky = True

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # no page has code cells

pygments_dark_style = "a11y-high-contrast-dark"

html_theme = "furo"
html_title = "sphinx_graphviz_autograd"
html_static_path = ["_static"]
html_css_files = ["docs.css"]
