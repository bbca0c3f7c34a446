"""The autograd graph behind tensors, as plain data: `grad_fn` and what it leads to, to `Graph`.

Capturing runs no code of the author's and changes nothing: it reads what PyTorch recorded, walking iteratively, since
graphs are deeper than Python's stack. It holds the nodes while it reads them, and nothing afterwards. Only gradients,
if asked for, take a backward pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from sphinx_graphviz_autograd.model import Edge, GradFn, Graph, Leaf, Node, Output, SavedTensor
from sphinx_graphviz_autograd.refusal import Refusal
from sphinx_graphviz_autograd.tracing.data import DataInputs, used_inputs
from sphinx_graphviz_autograd.tracing.gradients import Gradients, gradients
from sphinx_graphviz_autograd.tracing.names import Names
from sphinx_graphviz_autograd.tracing.origins import Origins
from sphinx_graphviz_autograd.tracing.reading import Kind, Reader, is_leaf, tensor_meta, variable
from sphinx_graphviz_autograd.tracing.record import PLAIN
from sphinx_graphviz_autograd.tracing.saved import Saved, saved_tensors
from sphinx_graphviz_autograd.tracing.wanted import Wanted, wanted_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torch.autograd.graph import Node as AutogradNode

    from sphinx_graphviz_autograd.model import CaptureOptions
    from sphinx_graphviz_autograd.tracing.assigned import Origin
    from sphinx_graphviz_autograd.tracing.record import Recorder


@dataclass(frozen=True, slots=True)
class Captured:
    """What came of capturing some values."""

    graph: Graph | None
    """The graph of all values that have one; None if none has."""
    refusals: tuple[Refusal, ...]
    """Why the others have none, or why there are no gradients."""


def capture(
    values: Mapping[str, object],
    *,
    recorder: Recorder | None = None,
    namespace: Mapping[str, object] | None = None,
    options: CaptureOptions = PLAIN,
) -> Captured:
    """Return the graph behind `values`, which maps expressions to what they gave: tensors, or nests of tensors.

    Names, lines and modules come from the `recorder` under which the code ran, and from the `namespace` as it is now.
    Inputs without gradient come from the recorder alone, which must have been made with `options.data`.
    Never raises because of what a value or a graph is.
    """
    scope = {**(namespace or {}), **{name: value for name, value in values.items() if name.isidentifier()}}
    with torch._C.DisableTorchFunction():  # noqa: SLF001 -- subclasses and modes must not see us look
        wanted, refusals = wanted_of(values, scope, recorder)
        if not wanted:
            return Captured(None, tuple(refusals))
        nodes = _walk([item.node for item in wanted])
    found = Gradients()
    if options.gradients:  # outside, since the backward of a custom function may need what was switched off
        found = gradients([item.tensor for item in wanted], nodes)
        refusals.extend(_no_gradients(wanted[0].name, found))
    with torch._C.DisableTorchFunction():  # noqa: SLF001 -- likewise
        assembly = _Assembly(wanted, nodes, Names(scope, recorder), recorder, found, with_data=options.data)
        return Captured(assembly.graph(), tuple(refusals))


def _no_gradients(expression: str, found: Gradients) -> Iterator[Refusal]:
    if "backward through the graph a second time" in found.problem:
        yield Refusal(expression, "freed")
    elif found.problem:
        yield Refusal(expression, "backward", found.problem)


def _walk(roots: Sequence[AutogradNode]) -> list[AutogradNode]:
    """Return all nodes that the roots lead to, depth first, in the order of slots."""
    found: dict[AutogradNode, None] = {}
    waiting = list(reversed(roots))
    while waiting:
        node = waiting.pop()
        if node in found:
            continue
        found[node] = None
        waiting.extend([source for source, _ in reversed(node.next_functions) if source is not None])
    return list(found)


class _Assembly:
    """One graph being put together: the autograd nodes in visiting order, and the ids they get."""

    def __init__(  # noqa: PLR0913 -- what one graph is made of
        self,
        wanted: Sequence[Wanted],
        nodes: Sequence[AutogradNode],
        names: Names,
        recorder: Recorder | None,
        found: Gradients,
        *,
        with_data: bool,
    ) -> None:
        self._wanted = wanted
        self._nodes = nodes
        self._names = names
        self._gradients = found
        self._reader = Reader()
        self._index = {node: at for at, node in enumerate(nodes)}
        self._ids = [f"n{at}" for at in range(len(wanted), len(wanted) + len(nodes))]
        self._leaf_ids = {id(variable(node)): self._ids[at] for at, node in enumerate(nodes) if is_leaf(node)}
        self._numbers = [node._sequence_nr() for node in nodes]  # noqa: SLF001 -- no public way to them
        self._ranks = _ranks(self._numbers)
        self._origins = Origins(recorder, names, nodes, self._numbers)
        inputs = recorder.inputs if recorder is not None and with_data else None
        self._data = DataInputs(
            names,
            used_inputs(inputs.calls if inputs is not None else (), nodes, self._numbers),
            len(wanted) + len(nodes),
        )
        self._drawn: list[Node] = [Output(f"n{at}", item.name, item.meta) for at, item in enumerate(wanted)]
        self._saved: list[SavedTensor] = []
        self._edges = [edge for at, item in enumerate(wanted) for edge in self._edges_to_output(f"n{at}", item)]

    def graph(self) -> Graph:
        """Return the graph."""
        output_names = self._names.of_outputs(self._index)
        data = list(self._data.nodes())
        first_saved = len(self._wanted) + len(self._nodes) + len(data)
        for at, node in enumerate(self._nodes):
            if is_leaf(node):
                self._drawn.append(self._leaf(at, variable(node)))
                continue
            kind = self._reader.kind(node)
            self._drawn.append(self._function(at, node, kind, output_names))
            self._add_edges(at, node)
            for kept in saved_tensors(node, kind):
                id_ = f"n{first_saved + len(self._saved)}"
                self._saved.append(self._saved_tensor(id_, kept))
                self._edges.append(Edge(id_, self._ids[at], "saved"))
        self._edges.extend(self._data.edges(self._cut_ids()))
        return Graph(
            (*self._drawn, *data, *self._saved),
            tuple(self._edges),
            modules=self._origins.modules,
            lines=self._origins.lines(),
            seed=self._gradients.seed,
            torch=str(torch.__version__).split("+", maxsplit=1)[0],  # without the build, so that machines agree
        )

    def _function(
        self, at: int, node: AutogradNode, kind: Kind, output_names: Mapping[tuple[int, int], tuple[str, ...]]
    ) -> GradFn:
        outputs = self._reader.outputs(node)
        names = tuple(output_names.get((at, output), ()) for output in range(len(outputs))) if output_names else ()
        number = self._numbers[at]
        return GradFn(
            self._ids[at],
            kind.name,
            kind.forward,
            outputs,
            names if any(names) else (),
            len(node.next_functions),
            self._origins.place(number),
            self._origins.module(number),
            self._ranks[at],
            self._origins.order(number),
            kind.speciality,
            self._origins.inside(node) if kind.speciality == "in-place" else "",
            self._origins.defined(node) if kind.speciality == "custom" else None,
            self._reader.attributes(node, kind),
            self._gradients.outputs.get(at, ()),
        )

    def _leaf(self, at: int, tensor: torch.Tensor) -> Leaf:
        names = self._names.of_tensor(tensor)
        known = self._names.known(tensor)
        return Leaf(
            self._ids[at],
            tensor_meta(tensor),
            names,
            known.hint if known is not None and not names else "",
            isinstance(tensor, torch.nn.Parameter),
            self._gradients.leaves.get(at),
        )

    def _add_edges(self, at: int, node: AutogradNode) -> None:
        """Add the edges of gradients and of data that enter a function."""
        target = self._ids[at]
        for slot, (source, output) in enumerate(node.next_functions):
            if source is not None:
                gradient = self._gradients.of_slot(at, slot)
                self._edges.append(
                    Edge(self._ids[self._index[source]], target, "gradient", output, slot, gradient=gradient)
                )
        for known, slot in self._data.used.get(at, ()):
            self._edges.append(Edge(self._data.id_of(known), target, "data", slot=slot))

    def _edges_to_output(self, id_: str, item: Wanted) -> Iterator[Edge]:
        """Yield the edges that enter an output: from what made it, and from the base if it is a view."""
        yield Edge(self._ids[self._index[item.node]], id_, "output", item.output)
        base = item.tensor._base if item.tensor._is_view() else None  # noqa: SLF001 -- no public way to the base
        source, output = self._node_of(base) if base is not None else ("", 0)
        if source:
            yield Edge(source, id_, "view", output)

    def _saved_tensor(self, id_: str, kept: Saved) -> SavedTensor:
        if kept.tensor is None:
            return SavedTensor(id_, kept.attribute, state=kept.state)
        same_as, output = self._node_of(kept.tensor)
        names: tuple[str, ...] = ()
        if not same_as and not kept.tensor.requires_grad:
            same_as = self._data.id_of(self._names.known(kept.tensor))
            names = self._names.of_tensor(kept.tensor)
        return SavedTensor(id_, kept.attribute, tensor_meta(kept.tensor), kept.state, same_as, output, names)

    def _node_of(self, tensor: torch.Tensor) -> tuple[str, int]:
        """Return the id of the node whose tensor this is, and which of its outputs; an empty id if there is none."""
        try:
            node = tensor.grad_fn
        except RuntimeError:  # a stale view
            return "", 0
        if node is None:
            return self._leaf_ids.get(id(tensor), ""), 0
        at = self._index.get(node)
        return (self._ids[at], tensor.output_nr) if at is not None else ("", 0)

    def _cut_ids(self) -> dict[Origin, str]:
        """Return the ids of what tensors without gradient were cut off from."""
        by_number = {number: self._ids[at] for at, number in enumerate(self._numbers)}
        found = {}
        for origin in self._data.origins():
            leaf = origin.leaf() if origin.leaf is not None else None
            id_ = by_number.get(origin.number, "") if origin.leaf is None else self._leaf_ids.get(id(leaf), "")
            if id_:
                found[origin] = id_
        return found


def _ranks(numbers: Sequence[int]) -> list[int]:
    """Return the creation numbers counted from 0 within the graph, so that they do not depend on what ran before."""
    ranks = [0] * len(numbers)
    for rank, at in enumerate(sorted(range(len(numbers)), key=numbers.__getitem__)):
        ranks[at] = rank
    return ranks
