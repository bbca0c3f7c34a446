"""A module of the author's own."""

FACTOR = 2
