"""A site with figures to point at, step through and look closely at."""

project = "Figures"
extensions = ["sphinx_graphviz_autograd", "sphinx.ext.intersphinx"]
intersphinx_mapping = {"torch": ("https://docs.pytorch.org/docs/stable", "torch.inv")}  # a fixture makes the file
html_theme = "alabaster"
