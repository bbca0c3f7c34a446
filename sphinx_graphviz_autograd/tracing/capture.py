"""The autograd graph behind tensors, as plain data: `grad_fn` and what it leads to, to `Graph`.

Capturing runs no code of the author's and changes nothing: it reads what PyTorch recorded, walking iteratively, since
graphs are deeper than Python's stack. It holds the nodes while it reads them, and nothing afterwards. Only gradients,
if asked for, take a backward pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

import torch

from sphinx_graphviz_autograd.model import Edge, GradFn, Graph, Leaf, Output, SavedTensor
from sphinx_graphviz_autograd.quick import collector_at_rest, quick
from sphinx_graphviz_autograd.refusal import Refusal
from sphinx_graphviz_autograd.tracing.data import DataInputs, used_inputs
from sphinx_graphviz_autograd.tracing.gradients import Gradients, gradients
from sphinx_graphviz_autograd.tracing.names import Names
from sphinx_graphviz_autograd.tracing.origins import Origins
from sphinx_graphviz_autograd.tracing.reading import Reader
from sphinx_graphviz_autograd.tracing.record import PLAIN
from sphinx_graphviz_autograd.tracing.saved import Saved, saved_tensors
from sphinx_graphviz_autograd.tracing.walk import Walk
from sphinx_graphviz_autograd.tracing.wanted import Wanted, wanted_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from torch.autograd.graph import Node as AutogradNode

    from sphinx_graphviz_autograd.model import CaptureOptions
    from sphinx_graphviz_autograd.tracing.reading import Kind
    from sphinx_graphviz_autograd.tracing.record import Recorder

_AT_ONCE = 4096
"""Functions that are read fact by fact before the next; so few that the processor's cache holds them meanwhile."""

_grad_fn, _edge, _saved = quick(GradFn), quick(Edge), quick(SavedTensor)


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
    with collector_at_rest():
        return _capture(values, scope, recorder, options)


def _capture(
    values: Mapping[str, object], scope: Mapping[str, object], recorder: Recorder | None, options: CaptureOptions
) -> Captured:
    with torch._C.DisableTorchFunction():  # noqa: SLF001 -- subclasses and modes must not see us look
        wanted, refusals = wanted_of(values, scope, recorder)
        if not wanted:
            return Captured(None, tuple(refusals))
        walk = Walk([item.node for item in wanted], len(wanted), recorder)
    found = Gradients()
    if options.gradients:  # outside, since the backward of a custom function may need what was switched off
        found = gradients([item.tensor for item in wanted], walk)
        refusals.extend(_no_gradients(wanted[0].name, found))
    with torch._C.DisableTorchFunction():  # noqa: SLF001 -- likewise
        names = Names(scope, recorder)
        calls = recorder.inputs.calls if recorder is not None and recorder.inputs is not None and options.data else ()
        data = DataInputs(names, used_inputs(calls, walk), len(wanted) + len(walk.nodes))
        graph = _Assembly(walk, names, Origins(recorder, names, walk), data, found).graph(wanted)
    return Captured(graph, tuple(refusals))


def _no_gradients(expression: str, found: Gradients) -> Iterator[Refusal]:
    if "backward through the graph a second time" in found.problem:
        yield Refusal(expression, "freed")
    elif found.problem:
        yield Refusal(expression, "backward", found.problem)


class _Assembly:
    """One graph being put together from what is known of its nodes."""

    def __init__(self, walk: Walk, names: Names, origins: Origins, data: DataInputs, found: Gradients) -> None:
        self._walk = walk
        self._names = names
        self._origins = origins
        self._data = data
        self._gradients = found
        self._reader = Reader()
        self._ranks = walk.ranks()
        self._output_names = names.of_outputs(walk.places, walk.certain)
        self._saved: list[SavedTensor] = []
        self._edges: list[Edge] = []

    def graph(self, wanted: Sequence[Wanted]) -> Graph:
        """Return the graph of the wanted tensors."""
        outputs = [Output(f"n{at}", item.name, item.meta) for at, item in enumerate(wanted)]
        self._edges.extend(edge for at, item in enumerate(wanted) for edge in self._edges_to_output(f"n{at}", item))
        data = list(self._data.nodes())
        leaves = self._walk.leaves
        first_saved = len(outputs) + len(self._walk.nodes) + len(data)
        places = [at for at in range(len(self._walk.nodes)) if at not in leaves]
        parts = (places[at : at + _AT_ONCE] for at in range(0, len(places), _AT_ONCE))
        functions = chain.from_iterable(self._functions(part, first_saved) for part in parts)
        nodes: list[GradFn | Leaf] = []
        for at, leaf in leaves.items():
            nodes.extend(islice(functions, at - len(nodes)))
            nodes.append(self._leaf(at, leaf))
        nodes.extend(functions)
        self._edges.extend(self._data.edges(self._walk.cut_off(self._data.origins())))
        return Graph(
            (*outputs, *nodes, *data, *self._saved),
            tuple(self._edges),
            modules=self._origins.modules,
            lines=self._origins.lines(),
            seed=self._gradients.seed,
            hooks_left_out=self._gradients.hooks_left_out,
            torch=str(torch.__version__).split("+", maxsplit=1)[0],  # without the build, so that machines agree
        )

    def _functions(self, places: list[int], first_saved: int) -> Iterable[GradFn]:
        """Return the functions at these places, and add the edges that enter them; fact by fact, which is quicker."""
        walk, reader, origins = self._walk, self._reader, self._origins
        nodes = [walk.nodes[at] for at in places]
        numbers = [walk.certain[at] for at in places]
        kinds = [reader.kind(node) for node in nodes]
        self._add_edges(places, nodes, kinds, first_saved)
        outputs = reader.outputs(nodes)
        return map(
            _grad_fn,
            [walk.ids[at] for at in places],
            [kind.name for kind in kinds],
            [kind.forward for kind in kinds],
            outputs,
            self._output_names.of(places, map(len, outputs)),
            [len(walk.sources[at]) for at in places],
            origins.places(numbers),
            origins.modules_of(numbers),
            [self._ranks[at] for at in places],
            origins.orders(numbers),
            [kind.speciality for kind in kinds],
            [
                origins.inside(node) if kind.speciality == "in-place" else ""
                for node, kind in zip(nodes, kinds, strict=True)
            ],
            [
                origins.defined(node) if kind.speciality == "custom" else None
                for node, kind in zip(nodes, kinds, strict=True)
            ],
            map(reader.attributes, nodes, kinds),
            [self._gradients.outputs.get(at, ()) for at in places],
        )

    def _add_edges(self, places: list[int], nodes: list[AutogradNode], kinds: list[Kind], first_saved: int) -> None:
        """Add the edges that enter each function: of gradients, of data, and of the tensors that it keeps."""
        walk, add = self._walk, self._edges.append
        ids, place_of = walk.ids, walk.places
        for at, node, kind in zip(places, nodes, kinds, strict=True):
            target = ids[at]
            slots = self._gradients.slots.get(at)
            for slot, (source, output) in enumerate(walk.sources[at]):
                if source is not None:
                    gradient = slots[slot] if slots else None
                    add(_edge(ids[place_of[source]], target, "gradient", output, slot, 0, gradient))
            for known, slot in self._data.used.get(at, ()):
                add(_edge(self._data.id_of(known), target, "data", 0, slot, 0, None))
            if kind.keeps_tensors:
                self._add_saved(target, node, kind, first_saved)

    def _add_saved(self, target: str, node: AutogradNode, kind: Kind, first_saved: int) -> None:
        """Add the tensors that a function keeps, and their edges to it."""
        for kept in saved_tensors(node, kind):
            id_ = f"n{first_saved + len(self._saved)}"
            self._saved.append(self._saved_tensor(id_, kept))
            self._edges.append(_edge(id_, target, "saved", 0, 0, 0, None))

    def _leaf(self, at: int, tensor: torch.Tensor) -> Leaf:
        names = self._names.of_tensor(tensor)
        known = self._names.known(tensor)
        return Leaf(
            self._walk.ids[at],
            self._reader.meta(tensor),
            names,
            known.hint if known is not None and not names else "",
            isinstance(tensor, torch.nn.Parameter),
            self._gradients.leaves.get(at),
        )

    def _edges_to_output(self, id_: str, item: Wanted) -> Iterator[Edge]:
        """Yield the edges that enter an output: from what made it, and from the base if it is a view."""
        yield _edge(self._walk.ids[self._walk.places[item.node]], id_, "output", item.output)
        base = item.tensor._base if item.tensor._is_view() else None  # noqa: SLF001 -- no public way to the base
        source, output = self._walk.made(base) if base is not None else ("", 0)
        if source:
            yield _edge(source, id_, "view", output)

    def _saved_tensor(self, id_: str, kept: Saved) -> SavedTensor:
        if kept.tensor is None:
            return _saved(id_, kept.attribute, state=kept.state)
        tensor = kept.tensor
        same_as, output = self._walk.made(tensor)
        names: tuple[str, ...] = ()
        if not same_as and not tensor.requires_grad and self._names.has(tensor):
            same_as = self._data.id_of(self._names.known(tensor))
            names = self._names.of_tensor(tensor)
        return _saved(id_, kept.attribute, self._reader.meta(tensor), kept.state, same_as, output, names)
