"""From a graph to a figure. Knows neither torch nor Sphinx nor docutils."""
