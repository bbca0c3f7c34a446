"""A site whose results are committed, so that it builds without PyTorch and Graphviz."""

extensions = ["sphinx_graphviz_autograd"]
numfig = True
autograd_graph_store = "_autograd"
