"""Runs blocks as a session does, and writes what was captured in short, for tests of tracing."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING

import torch

from sphinx_graphviz_autograd.model import CaptureOptions, Data, GradFn, Graph, Leaf, Output, SavedTensor
from sphinx_graphviz_autograd.tracing.capture import capture
from sphinx_graphviz_autograd.tracing.record import Recorder
from tests.cases import PRELUDE

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.model import Node
    from sphinx_graphviz_autograd.refusal import Refusal

PLAIN = CaptureOptions()
"""Nothing beyond the graph itself."""

ALL = CaptureOptions(data=True)
"""Inputs without gradient, too."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A block that ran, and what was captured of it."""

    found: Graph | None
    """The graph."""
    refusals: tuple[Refusal, ...]
    """Why values have no graph."""
    namespace: dict[str, object]
    """The variables of the session."""
    recorder: Recorder
    """What was recorded."""

    @property
    def graph(self) -> Graph:
        """The graph, which must be there."""
        assert self.found is not None, self.refusals
        return self.found

    def names(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the first output of each function that has some, by the function's name."""
        return {fn.forward: fn.names[0] for fn in functions(self.graph) if fn.names and fn.names[0]}

    def lines(self) -> dict[str, tuple[int, int]]:
        """Return line and iteration of each function of the block, by its operation; the first created of a kind."""
        made = sorted(functions(self.graph), key=lambda fn: fn.sequence or 0, reverse=True)
        return {fn.forward: (fn.place.line, fn.place.iteration) for fn in made if fn.place is not None}


def run(code: str, *draws: str, options: CaptureOptions = PLAIN, folder: str = "") -> Ran:
    """Run a block after `PRELUDE`, recorded, with the seed set, and capture the values of the expressions."""
    return run_blocks((code,), *draws, options=options, folder=folder)


def run_blocks(codes: tuple[str, ...], *draws: str, options: CaptureOptions = PLAIN, folder: str = "") -> Ran:
    """Run blocks, numbered from 1, after `PRELUDE`, which is block 0, and capture the values of the expressions."""
    recorder = Recorder(options, folder=folder)
    namespace: dict[str, object] = {"__name__": "__main__"}
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cases use features that PyTorch calls new
        for number, code in enumerate((PRELUDE, *codes)):
            source = dedent(code).lstrip("\n")
            filename = f"<block {number}>"
            recorder.add_block(filename, number, source)
            compiled = compile(source, filename, "exec")
            with recorder:
                exec(compiled, namespace)  # noqa: S102 -- the blocks are written in the tests
        values = {draw: eval(draw, namespace) for draw in draws or ("y",)}  # noqa: S307 -- likewise
        captured = capture(values, recorder=recorder, namespace=namespace, options=options)
    return Ran(captured.graph, captured.refusals, namespace, recorder)


def functions(graph: Graph) -> list[GradFn]:
    """Return the functions of a graph in order."""
    return [node for node in graph.nodes if isinstance(node, GradFn)]


def function(graph: Graph, forward: str) -> GradFn:
    """Return the only function of a graph that stands for an operation."""
    (found,) = [fn for fn in functions(graph) if fn.forward == forward]
    return found


def leaves(graph: Graph) -> list[Leaf]:
    """Return the leaves of a graph in order."""
    return [node for node in graph.nodes if isinstance(node, Leaf)]


def leaf_names(graph: Graph) -> list[str]:
    """Return the best name of each leaf in order, or its hint."""
    return [leaf.names[0] if leaf.names else leaf.hint for leaf in leaves(graph)]


def data(graph: Graph) -> list[Data]:
    """Return the inputs without gradient of a graph in order."""
    return [node for node in graph.nodes if isinstance(node, Data)]


def saved(graph: Graph, target: str) -> dict[str, SavedTensor]:
    """Return the tensors that a function keeps, by their names; `target` is its id."""
    return {
        node.attribute: node
        for edge in graph.edges
        if edge.kind == "saved" and edge.target == target
        for node in [graph.by_id[edge.source]]
        if isinstance(node, SavedTensor)
    }


def formula(graph: Graph) -> str:
    """Write a graph as nested calls: `y = sum(add(b, mul(w, -)))`.

    A dash is a slot without gradient, or the input without gradient that fills it; `unbind[1]` is a second output.
    Shared nodes are written out each time, so this is for small graphs.
    """
    texts = []
    for output in graph.outputs:
        (edge,) = [edge for edge in graph.edges if edge.kind == "output" and edge.target == output.id]
        texts.append(f"{output.name} = {_text(graph, edge.source, edge.output)}")
    return "; ".join(texts)


def _text(graph: Graph, id_: str, output: int) -> str:
    node: Node = graph.by_id[id_]
    match node:
        case Leaf(names=names, hint=hint):
            return (*names, hint or "leaf")[0]
        case Data(names=names, cut=cut):
            return (*names, cut or "data")[0]
        case GradFn(forward=forward, slots=slots):
            filled = {
                edge.slot: _text(graph, edge.source, edge.output)
                for edge in graph.edges
                if edge.target == id_ and edge.kind in {"gradient", "data"}
            }
            last = max([slots - 1, *filled])
            name = f"{forward}[{output}]" if output else forward
            return f"{name}({', '.join(filled.get(slot, '-') for slot in range(last + 1))})"
        case Output() | SavedTensor() | _:
            raise AssertionError(node)
