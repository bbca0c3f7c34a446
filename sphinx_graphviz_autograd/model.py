"""What a captured autograd graph is: plain frozen data that every room of the package understands.

Tracing makes a `Graph` from PyTorch's nodes, execution stores it, drawing turns it into another `Graph` and then into
a picture. Nothing here knows torch, Sphinx or Graphviz. Ids are `n0`, `n1`, ... in visiting order, so that the same
code gives the same bytes. Edges point forward, from what feeds to what is fed; gradients run against them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

from sphinx_graphviz_autograd.codec import from_json, rows, to_json

Shape: TypeAlias = tuple[int | str, ...]
"""Sizes of a tensor; a symbolic size (of a jagged tensor) is its text, as `"j1"`."""

EdgeKind: TypeAlias = Literal["gradient", "output", "data", "saved", "cut", "view"]
"""What an edge means.

`gradient`: an entry of `next_functions`. `output`: from a function or leaf to the tensor the author asked for.
`data`: from an input that needs no gradient. `saved`: from a saved tensor to the function that keeps it. `cut`: from a
tensor of the graph to the data that `detach()` or the like made of it. `view`: from the base of a view to the view.
"""

Speciality: TypeAlias = Literal["", "custom", "in-place", "checkpoint", "compiled", "hook", "unknown"]
"""What is special about a backward function; empty for PyTorch's own ordinary ones."""

SavedState: TypeAlias = Literal["alive", "freed", "modified", "packed", "recomputed"]
"""What has become of a saved tensor.

`freed`: backward released it. `modified`: changed in place since it was saved. `packed`: a saved-tensors hook keeps
something else in its stead. `recomputed`: a checkpoint will run the forward again to get it.
"""

CutKind: TypeAlias = Literal["", "detach", "data", "item", "numpy", "no_grad"]
"""How a tensor lost its history; empty where it never had one."""


@dataclass(frozen=True, slots=True)
class TensorMeta:
    """What is known of a tensor without looking at its values."""

    shape: Shape | None
    """Its sizes; None where PyTorch does not tell them (strided nested tensors)."""
    dtype: str = "float32"
    """Its type without the prefix `torch.`."""
    device: str = "cpu"
    """Where it lives, as `cpu` or `cuda:0`."""
    layout: str = "strided"
    """`strided`, `nested`, or a sparse layout such as `sparse_coo`."""
    subclass: str = ""
    """The class, if it is neither `Tensor` nor `Parameter`."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the author's code, and which time it ran."""

    block: int
    """Number of the block in its session, from 0; -1 for a line of an imported project module."""
    line: int
    """Line in the block or file, from 1."""
    iteration: int = 1
    """For a line in a loop: which round of it, counted anew in each call of the function that the loop is in."""
    file: str = ""
    """The project module's path, relative to the document's folder; empty for a block."""
    call: int = 1
    """For a line in a function: which call of the function."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A value that a backward function keeps beside its tensors, as `dim` of a sum."""

    name: str
    """Its name, without the prefix `_saved_`."""
    value: str
    """Its value as Python would write it, whole."""


@dataclass(frozen=True, slots=True)
class Gradient:
    """The gradient of the outputs with regard to one tensor."""

    shape: Shape
    """Its sizes."""
    values: str = ""
    """All its numbers, for a small tensor; empty for a large one."""
    norm: str = ""
    """Its Euclidean norm."""
    marks: tuple[Literal["nan", "inf", "zero"], ...] = ()
    """What a reader should be warned of."""


@dataclass(frozen=True, slots=True)
class Output:
    """A tensor that the author asked for."""

    id: str
    """`n0`, `n1`, ..."""
    name: str
    """The expression that gave it, as written."""
    meta: TensorMeta
    """What the tensor is like."""


@dataclass(frozen=True, slots=True)
class GradFn:
    """A backward function: what PyTorch recorded for one operation."""

    id: str
    """`n0`, `n1`, ..."""
    name: str
    """The name that PyTorch gives it, as `MulBackward0`."""
    forward: str
    """The operation that made it, as `mul`."""
    outputs: tuple[TensorMeta, ...] = ()
    """The tensors that the operation made, in order."""
    names: tuple[tuple[str, ...], ...] = ()
    """The author's variables for each of these tensors, the first assigned first; empty if none has a name."""
    slots: int = 0
    """Length of `next_functions`; a slot without an edge is an input that needs no gradient."""
    place: Place | None = None
    """The line that ran the operation."""
    module: int | None = None
    """Index in `Graph.modules` of the innermost module call that ran the operation."""
    sequence: int | None = None
    """Place among the functions of the graph by time of creation; larger is later."""
    order: int = 1
    """1 for the forward pass, 2 for what a backward with `create_graph=True` made, and so on."""
    speciality: Speciality = ""
    """What is special about it."""
    inside: str = ""
    """The operation that wrote in place, for `CopySlices`, where PyTorch tells."""
    defined: Place | None = None
    """Where a custom function's `forward` stands."""
    attributes: tuple[Attribute, ...] = ()
    """What it keeps that is no tensor."""
    gradients: tuple[Gradient | None, ...] = ()
    """The gradient that arrives for each of its outputs, if asked for."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A tensor that requires grad and that no recorded operation made: where gradients accumulate."""

    id: str
    """`n0`, `n1`, ..."""
    meta: TensorMeta
    """What the tensor is like."""
    names: tuple[str, ...] = ()
    """All its names, the best first."""
    hint: str = ""
    """For a leaf without a name: what holds it, as `in Linear`."""
    parameter: bool = False
    """Whether it is an `nn.Parameter`."""
    gradient: Gradient | None = None
    """The gradient that arrives at it, if asked for."""


@dataclass(frozen=True, slots=True)
class SavedTensor:
    """A tensor that a backward function keeps, as it needs it for its gradient."""

    id: str
    """`n0`, `n1`, ..."""
    attribute: str
    """The name under which it is kept, without the prefix `_saved_`."""
    meta: TensorMeta | None = None
    """What the tensor is like; None where it cannot be known without running the author's code."""
    state: SavedState = "alive"
    """What has become of it."""
    same_as: str = ""
    """Id of the node whose tensor this is; empty if it is no tensor of the graph."""
    output: int = 0
    """Which output of that node."""
    names: tuple[str, ...] = ()
    """The author's variables for it, if it is no tensor of the graph."""


@dataclass(frozen=True, slots=True)
class Data:
    """An input that needs no gradient."""

    id: str
    """`n0`, `n1`, ..."""
    meta: TensorMeta
    """What the tensor is like."""
    names: tuple[str, ...] = ()
    """All its names, the best first."""
    cut: CutKind = ""
    """How it was cut off from the graph, if it was."""
    place: Place | None = None
    """The line that cut it off."""
    hint: str = ""
    """For one without a name that was cut off: from what, as `fake.detach()`."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One use of a node that is drawn in full elsewhere. Made by a pass, never by capturing."""

    id: str
    """The id of the node it stands for and a number, as `n3r1`."""
    target: str
    """Id of the node it stands for."""
    leaf: str = ""
    """Id of the leaf that it or its target is made from."""


@dataclass(frozen=True, slots=True)
class Group:
    """Several nodes drawn as one. Made by a pass, never by capturing."""

    id: str
    """Id of the first node in it and a letter, as `n3g`."""
    kind: Literal["module", "fold", "cap"]
    """A collapsed module call, a folded repetition, or what was left out as too much."""
    title: str
    """What it stands for, as `encoder.layers.0`."""
    nodes: int
    """How many nodes are in it."""
    times: int = 1
    """How many equal steps a fold stands for."""
    module: int | None = None
    """Index in `Graph.modules`, for a collapsed module."""
    inputs: tuple[TensorMeta, ...] = ()
    """The tensors that enter it."""
    outputs: tuple[TensorMeta, ...] = ()
    """The tensors that leave it."""
    parameters: int = 0
    """Number of elements of the parameters in it."""
    varies: tuple[str, ...] = ()
    """What differs between the steps of a fold, in words."""
    place: Place | None = None
    """The line that ran it, for a fold."""
    sequence: int | None = None
    """Creation number of the earliest function in it."""
    structure: str = ""
    """A digest of what is in it; the same for groups that are equal inside."""


Node: TypeAlias = Output | GradFn | Leaf | SavedTensor | Data | Reference | Group
"""A box of the figure."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow of the figure."""

    source: str
    """Id of the node that feeds."""
    target: str
    """Id of the node that is fed."""
    kind: EdgeKind = "gradient"
    """What it means."""
    output: int = 0
    """Which output of the source it carries."""
    slot: int = 0
    """Which input of the target it enters; for `data`, a number past the target's slots where PyTorch does not tell."""
    hidden: int = 0
    """How many nodes a pass took out of this arrow."""
    gradient: Gradient | None = None
    """The gradient that comes back along it, if asked for."""


@dataclass(frozen=True, slots=True)
class ModuleCall:
    """One call of an `nn.Module`."""

    path: str
    """Where it is, from the name of the outermost module, as `net.0`; empty if no name reaches it."""
    kind: str
    """Its class, as `Linear`."""
    call: int = 1
    """How many times this module had been called, this time included."""
    parent: int | None = None
    """Index in `Graph.modules` of the call that made this call."""
    parameters: int = 0
    """Number of elements of its parameters."""


@dataclass(frozen=True, slots=True)
class LineRun:
    """How often a line of the author's code ran; 0 for a branch not taken."""

    block: int
    """Number of the block in its session, from 0."""
    line: int
    """Line in the block, from 1."""
    times: int
    """How often."""


@dataclass(frozen=True)
class Graph:
    """An autograd graph, as captured or as a pass has changed it for drawing."""

    nodes: tuple[Node, ...] = field(default=(), metadata=rows())
    """Outputs first, then in visiting order."""
    edges: tuple[Edge, ...] = field(default=(), metadata=rows())
    """In the order of their targets and slots."""
    modules: tuple[ModuleCall, ...] = field(default=(), metadata=rows())
    """The module calls that ran an operation of the graph, and the calls around them."""
    lines: tuple[LineRun, ...] = ()
    """What ran of the blocks that made the graph, and what did not."""
    seed: Literal["", "scalar", "ones"] = ""
    """What the gradients were started with: nothing asked for, a scalar's 1, or ones for outputs of other shapes."""
    hooks_left_out: bool = False
    """Whether hooks were on the way of the gradients, which are those without them."""
    torch: str = ""
    """Version of PyTorch."""

    @cached_property
    def by_id(self) -> dict[str, Node]:
        """The nodes by their ids."""
        return {node.id: node for node in self.nodes}

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The tensors that the author asked for."""
        return tuple(node for node in self.nodes if isinstance(node, Output))

    def to_json(self) -> str:
        """Return the graph as JSON text: deterministic, one node or edge a line."""
        return to_json(self)

    @classmethod
    def from_json(cls, text: str) -> Graph:
        """Return the graph that `to_json` wrote.

        Raises:
            CodecError: the text is no graph.
        """
        return from_json(cls, text)


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """What to capture beyond the graph itself, since it costs time or memory."""

    data: bool = False
    """Inputs without gradient, and where the graph was cut."""
    gradients: bool = False
    """The gradients, by one `torch.autograd.grad`."""
