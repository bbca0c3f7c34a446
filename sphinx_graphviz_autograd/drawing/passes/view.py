"""What a figure is to show of a graph, and how coarsely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

SHOW: Final = {
    "shapes": "Sizes of tensors.",
    "dtypes": "Types of their numbers, as `float32`.",
    "names": "The author's variables, where they name what a function made.",
    "lines": "The line that ran an operation, and which round of a loop it was.",
    "modules": "Which `nn.Module` ran an operation, as a frame around it.",
    "attributes": "What a function keeps that is no tensor, as the `dim` of a sum.",
    "saved": "The tensors that a function keeps for its backward.",
    "data": "Inputs for which no gradient is computed, and where a tensor was cut off from its past.",
    "accumulate": "`AccumulateGrad`, which stands between a leaf and the functions that use it, as a box of its own.",
    "slots": "Which output of one function goes to which input of another, as numbers at the arrow.",
    "gradients": "The gradients: values of small tensors, shape and norm of others.",
    "plumbing": "Functions that only change the form of a tensor, as `ViewBackward0` and `TBackward0`.",
}
"""What can be shown and hidden, and what each word means."""

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
