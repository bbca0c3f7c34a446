"""Runs where the author's code runs: records what it does and captures its graphs. The only room that imports torch."""
