"""Configuration of this project's own documentation, which is also its largest example."""

from __future__ import annotations

from sphinx_graphviz_autograd import __version__

project = "sphinx_graphviz_autograd"
author = "the sphinx_graphviz_autograd developers"
project_copyright = f"2026, {author}"
version = release = __version__

extensions = ["myst_nb", "sphinx_graphviz_autograd"]
html_theme = "furo"
