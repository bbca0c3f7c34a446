"""A site with figures to point at, step through and look closely at."""

project = "Figures"
extensions = ["sphinx_graphviz_autograd"]
html_theme = "alabaster"
