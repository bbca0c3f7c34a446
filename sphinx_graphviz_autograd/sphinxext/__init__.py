"""The Sphinx extension: the only room that knows docutils and Sphinx."""
