"""A small site whose results are stored beside it, to be changed and built again."""

from __future__ import annotations

extensions = ["sphinx_graphviz_autograd", "myst_nb"]
html_theme = "alabaster"
show_warning_types = True
nb_execution_mode = "off"
autograd_graph_store = "results"
