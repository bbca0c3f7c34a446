"""A site with everything that can go wrong, and one page that is fine."""

from __future__ import annotations

extensions = ["sphinx_graphviz_autograd"]
html_theme = "alabaster"
show_warning_types = True
autograd_graph_timeout = 3
autograd_graph_labels = "sideways"
