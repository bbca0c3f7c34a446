"""Who runs the author's code, and what is kept of it. Knows neither torch nor docutils."""
