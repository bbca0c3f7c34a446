"""What a figure is to show of a graph, and how coarsely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

SHOW: Final = (
    "shapes",
    "dtypes",
    "names",
    "lines",
    "modules",
    "attributes",
    "saved",
    "data",
    "accumulate",
    "slots",
    "gradients",
    "plumbing",
)
"""What can be shown and hidden."""

DEFAULT_SHOW: Final = frozenset({"shapes", "names", "lines", "plumbing"})
"""What is shown if nothing else is asked for."""


@dataclass(frozen=True, slots=True)
class View:
    """What to draw of a graph. Changes nothing of what is captured."""

    show: frozenset[str] = DEFAULT_SHOW
    """Words of `SHOW`."""
    direction: Literal["", "TB", "BT", "LR", "RL"] = ""
    """Where the arrows run, as Graphviz names it; empty to choose by the form of the graph."""
    view: Literal["full", "names"] = "full"
    """`names` draws only what the author named, and what leads from one to the other."""
    depth: int | None = None
    """Modules below this depth are drawn as one box each; None draws what is in them."""
    expand: tuple[str, ...] = ()
    """Paths of modules that are drawn in full whatever the depth."""
    fold: Literal["auto", "off"] = "auto"
    """Whether repeated steps are drawn as first, "times N" and last."""
    split: Literal["auto", "merge", "split"] = "auto"
    """Whether a leaf with several uses is one box, or one per use; `auto` splits from five uses on."""
    max_nodes: int = 200
    """How many boxes are drawn at most."""
    labels: Literal["backward", "forward"] = "backward"
    """Whether a function is called `MulBackward0` or `mul`."""
