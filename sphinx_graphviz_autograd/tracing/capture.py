"""The autograd graph behind tensors, as plain data: `grad_fn` and what it leads to, to `Graph`.

Capturing runs no code of the author's and changes nothing: it reads what PyTorch recorded, walking iteratively, since
graphs are deeper than Python's stack. It holds the nodes while it reads them, and nothing afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import torch

from sphinx_graphviz_autograd.model import Edge, GradFn, Graph, Leaf, Node, Output
from sphinx_graphviz_autograd.tracing.names import Names
from sphinx_graphviz_autograd.tracing.origins import Origins
from sphinx_graphviz_autograd.tracing.reading import Reader, tensor_meta
from sphinx_graphviz_autograd.tracing.record import PLAIN
from sphinx_graphviz_autograd.tracing.wanted import Wanted, wanted_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch.autograd.graph import Node as AutogradNode

    from sphinx_graphviz_autograd.model import CaptureOptions
    from sphinx_graphviz_autograd.refusal import Refusal
    from sphinx_graphviz_autograd.tracing.record import Recorder


@dataclass(frozen=True, slots=True)
class Captured:
    """What came of capturing some values."""

    graph: Graph | None
    """The graph of all values that have one; None if none has."""
    refusals: tuple[Refusal, ...]
    """Why the others have none."""


def capture(
    values: Mapping[str, object],
    *,
    recorder: Recorder | None = None,
    namespace: Mapping[str, object] | None = None,
    options: CaptureOptions = PLAIN,
) -> Captured:
    """Return the graph behind `values`, which maps expressions to what they gave: tensors, or nests of tensors.

    Names, lines and modules come from the `recorder` under which the code ran, and from the `namespace` as it is now.
    Never raises because of what a value or a graph is.
    """
    with torch._C.DisableTorchFunction():  # noqa: SLF001 -- subclasses and modes must not see us look
        wanted, refusals = wanted_of(values, recorder)
        if not wanted:
            return Captured(None, tuple(refusals))
        graph = _Capture(wanted, Names({**(namespace or {}), **_plain(values)}, recorder), recorder).graph()
    return Captured(graph, tuple(refusals))


def _plain(values: Mapping[str, object]) -> dict[str, object]:
    """Return the values whose expression is a variable: without a namespace, they are names all the same."""
    return {expression: value for expression, value in values.items() if expression.isidentifier()}


class _Capture:
    """One capture: the autograd nodes in visiting order, and the ids they get."""

    def __init__(self, wanted: Sequence[Wanted], names: Names, recorder: Recorder | None) -> None:
        self._wanted = wanted
        self._names = names
        self._reader = Reader()
        self._nodes = _walk([item.node for item in wanted])
        self._index = {node: at for at, node in enumerate(self._nodes)}
        self._ids = [f"n{at + len(wanted)}" for at in range(len(self._nodes))]
        numbers = [node._sequence_nr() for node in self._nodes]  # noqa: SLF001 -- no public way to them
        self._origins = Origins(recorder, names, numbers)

    def graph(self) -> Graph:
        edges = [
            Edge(self._ids[self._index[item.node]], f"n{at}", "output", item.output)
            for at, item in enumerate(self._wanted)
        ]
        nodes: list[Node] = [Output(f"n{at}", item.name, item.meta) for at, item in enumerate(self._wanted)]
        output_names = self._names.of_outputs(self._index)
        for at, node in enumerate(self._nodes):
            if type(node).__name__ == "AccumulateGrad":
                nodes.append(self._leaf(self._ids[at], _variable(node)))
            else:
                nodes.append(self._function(at, node, output_names))
                edges.extend(self._edges_to(self._ids[at], node))
        return Graph(
            tuple(nodes),
            tuple(edges),
            modules=self._origins.modules,
            lines=self._origins.lines(),
            torch=str(torch.__version__).split("+")[0],  # without the build, so that machines agree
        )

    def _function(self, at: int, node: AutogradNode, output_names: dict[tuple[int, int], tuple[str, ...]]) -> GradFn:
        kind = self._reader.kind(node)
        outputs = self._reader.outputs(node)
        number = node._sequence_nr()  # noqa: SLF001 -- no public way to a node's creation number
        names = tuple(output_names.get((at, output), ()) for output in range(len(outputs)))
        return GradFn(
            self._ids[at],
            kind.name,
            kind.forward,
            outputs,
            names if any(names) else (),
            len(node.next_functions),
            self._origins.place(number),
            self._origins.module(number),
            number,
        )

    def _leaf(self, id_: str, variable: torch.Tensor) -> Leaf:
        return Leaf(
            id_,
            tensor_meta(variable),
            self._names.of_tensor(variable),
            parameter=isinstance(variable, torch.nn.Parameter),
        )

    def _edges_to(self, target: str, node: AutogradNode) -> list[Edge]:
        return [
            Edge(self._ids[self._index[source]], target, "gradient", output, slot)
            for slot, (source, output) in enumerate(node.next_functions)
            if source is not None
        ]


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


def _variable(node: AutogradNode) -> torch.Tensor:
    """Return the leaf whose gradient an AccumulateGrad node accumulates."""
    return cast("torch.Tensor", getattr(node, "variable"))  # noqa: B009 -- its type does not declare it
