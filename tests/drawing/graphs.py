"""Graphs made by hand, for tests of drawing that need no torch."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.model import (
    Attribute,
    Data,
    Edge,
    GradFn,
    Graph,
    Group,
    Leaf,
    ModuleCall,
    Output,
    Place,
    Reference,
    SavedTensor,
    TensorMeta,
)

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.model import EdgeKind, Node

BATCH = TensorMeta((80, 1))
ONE = TensorMeta((1,))
SCALAR = TensorMeta(())


def place(where: Place) -> str:
    """Say where a line is, as a figure does."""
    again = f", iteration {where.iteration}" if where.iteration > 1 else ""
    return f"line {where.line}{again}"


def function(id_: str, forward: str, meta: TensorMeta = BATCH, name: str = "", line: int = 0, **more: object) -> GradFn:
    """Return a backward function of an operation that made one tensor."""
    made = GradFn(
        id_,
        f"{forward.title().replace('_', '')}Backward0",
        forward,
        (meta,),
        ((name,),) if name else ((),),
        place=Place(0, line) if line else None,
        sequence=-int(id_[1:]) if id_[1:].isdigit() else None,
    )
    return replace(made, **more)  # type: ignore[arg-type]  # a test names fields of GradFn only


def prediction() -> Graph:
    """Return `yhat = b + w * x`."""
    nodes = (
        Output("n0", "yhat", BATCH),
        function("n1", "add", name="yhat", line=2),
        Leaf("n2", ONE, ("b",)),
        function("n3", "mul", line=2, slots=2),
        Leaf("n4", ONE, ("w",)),
    )
    edges = (Edge("n1", "n0", "output"), Edge("n2", "n1"), Edge("n3", "n1", slot=1), Edge("n4", "n3"))
    return Graph(nodes, edges, torch="2.13.0")


def loss() -> Graph:
    """Return the loss of a linear regression, to which a branch has added a second term.

    It has everything: leaves, an input without gradient, saved tensors, names that were bound twice.
    """
    nodes = (
        Output("n0", "loss", SCALAR),
        function("n1", "add", SCALAR, "loss", 8),
        function("n2", "mean", SCALAR, "loss", 4),
        function("n3", "pow", line=4, attributes=(Attribute("exponent", "2"),)),
        function("n4", "sub", name="error", line=3),
        function("n5", "add", name="yhat", line=2),
        Leaf("n6", ONE, ("b",)),
        function("n7", "mul", line=2, slots=2),
        Leaf("n8", ONE, ("w",)),
        Data("n9", BATCH, ("x_train",)),
        function("n10", "mean", SCALAR, "", 8),
        function("n11", "sub", name="error2", line=7),
        function("n12", "mul", name="yhat2", line=6, slots=2),
        SavedTensor("n13", "self", BATCH, same_as="n4"),
    )
    edges = (
        Edge("n1", "n0", "output"),
        Edge("n2", "n1"),
        Edge("n10", "n1", slot=1),
        Edge("n3", "n2"),
        Edge("n4", "n3"),
        Edge("n13", "n3", "saved"),
        Edge("n5", "n4"),
        Edge("n6", "n5"),
        Edge("n7", "n5", slot=1),
        Edge("n8", "n7"),
        Edge("n9", "n7", "data", slot=1),
        Edge("n11", "n10"),
        Edge("n12", "n11"),
        Edge("n8", "n12"),
        Edge("n9", "n12", "data", slot=1),
    )
    return Graph(nodes, edges, torch="2.13.0")


def recurrent(steps: int) -> Graph:
    """Return a recurrent network: `h = torch.tanh(x[t] @ w_in + h @ w + b)`, then `loss = h.sum()`."""
    hidden = TensorMeta((32, 16))
    weights = (
        Leaf("w0", TensorMeta((8, 16)), ("w_in",)),
        Leaf("w1", TensorMeta((16, 16)), ("w",)),
        Leaf("w2", TensorMeta((16,)), ("b",)),
    )
    nodes: list[Node] = [
        Output("n0", "loss", SCALAR),
        function("n1", "sum", SCALAR, "loss", 7, sequence=5 * steps),
    ]
    edges = [Edge("n1", "n0", "output"), Edge(f"t{steps - 1}", "n1")]
    for at in reversed(range(steps)):
        where = Place(0, 5, at + 1)
        made = (
            function(f"t{at}", "tanh", hidden, "h", place=where, sequence=5 * at + 4),
            function(f"b{at}", "add", hidden, place=where, sequence=5 * at + 3),
            function(f"a{at}", "add", hidden, place=where, sequence=5 * at + 2),
            function(f"x{at}", "mm", hidden, place=where, sequence=5 * at),
            function(f"m{at}", "mm", hidden, place=where, sequence=5 * at + 1),
        )
        nodes.extend(made)
        edges += [
            Edge(f"b{at}", f"t{at}"),
            Edge(f"a{at}", f"b{at}"),
            Edge("w2", f"b{at}", slot=1),
            Edge(f"x{at}", f"a{at}"),
            Edge(f"m{at}", f"a{at}", slot=1),
            Edge("w0", f"x{at}", slot=1),
            *([Edge(f"t{at - 1}", f"m{at}")] if at else []),
            Edge("w1", f"m{at}", slot=1),
        ]
    return Graph((*nodes, *weights), tuple(edges), torch="2.13.0")


def blocks(number: int) -> Graph:
    """Return a network `net` of equal blocks `net.layers.0`, `net.layers.1`, ..., and a loss.

    Each block is `relu(x @ weight + bias) + x`; its multiplication is done in a module `linear` of its own.
    """
    meta = TensorMeta((4, 8))
    modules = [ModuleCall("net", "Net", parameters=72 * number)]
    nodes: list[Node] = [Output("n0", "loss", SCALAR), function("n1", "sum", SCALAR, "loss", 9, sequence=4 * number)]
    edges = [Edge("n1", "n0", "output"), Edge(f"a{number - 1}", "n1")]
    for at in range(number):
        modules.append(ModuleCall(f"net.layers.{at}", "Block", parent=0, parameters=72))
        modules.append(ModuleCall(f"net.layers.{at}.linear", "Linear", parent=2 * at + 1, parameters=72))
    for at in reversed(range(number)):
        block, path = 2 * at + 1, f"net.layers.{at}"
        where = Place(0, 3, at + 1)
        weight, bias = TensorMeta((8, 8)), TensorMeta((8,))
        nodes += [
            function(f"a{at}", "add", meta, place=where, module=block, sequence=4 * at + 3),
            function(f"r{at}", "relu", meta, place=where, module=block, sequence=4 * at + 2),
            function(f"l{at}", "addmm", meta, place=where, module=block + 1, sequence=4 * at + 1),
            Leaf(f"b{at}", bias, (f"{path}.linear.bias",), parameter=True),
            function(f"t{at}", "t", weight, place=where, module=block + 1, sequence=4 * at),
            Leaf(f"w{at}", weight, (f"{path}.linear.weight",), parameter=True),
        ]
        before = f"a{at - 1}" if at else "x"
        edges += [
            Edge(f"r{at}", f"a{at}"),
            Edge(before, f"a{at}", slot=1),
            Edge(f"l{at}", f"r{at}"),
            Edge(f"b{at}", f"l{at}"),
            Edge(before, f"l{at}", slot=1),
            Edge(f"t{at}", f"l{at}", slot=2),
            Edge(f"w{at}", f"t{at}"),
        ]
    return Graph((*nodes, Leaf("x", meta, ("x",))), tuple(edges), tuple(modules), torch="2.13.0")


def every_kind() -> Graph:
    """Return a graph with a box of every kind."""
    nodes = (
        Output("n0", "loss", SCALAR),
        function("n1", "mean", SCALAR, name="loss", line=4),
        function("n2", "mul", line=3, order=2),
        Group("n3g", "module", "net.0", 4, module=0, inputs=(BATCH,), outputs=(BATCH,), parameters=12),
        Group("n4g", "fold", "Block", 40, times=10, inputs=(BATCH,), outputs=(BATCH,)),
        Group("n5g", "cap", "", 120),
        Leaf("n6", ONE, ("w",)),
        Reference("n6r1", "n6", "n6"),
        SavedTensor("n7", "other", BATCH),
        Data("n8", BATCH, ("x",)),
    )
    feeds = ("n1 n0", "n2 n1", "n3g n2", "n4g n3g", "n5g n4g", "n6 n5g", "n6r1 n3g", "n7 n1", "n8 n2")
    kinds: dict[str, EdgeKind] = {"n1": "output", "n7": "saved", "n8": "data"}
    pairs = (feed.split() for feed in feeds)
    edges = tuple(Edge(source, target, kinds.get(source, "gradient")) for source, target in pairs)
    return Graph(nodes, edges, modules=(ModuleCall("net.0", "Linear"),))


def chain(*forwards: str) -> Graph:
    """Return operations one after the other on a leaf `x`; the last gives the output."""
    functions = [
        function(f"f{at}", forward, place=Place(0, 2, at + 1), sequence=at) for at, forward in enumerate(forwards)
    ]
    before = ["x", *(node.id for node in functions)]
    edges = [Edge(source, target) for source, target in pairwise(before)]
    nodes: tuple[Node, ...] = (Output("n0", "y", BATCH), *reversed(functions), Leaf("x", BATCH, ("x",)))
    return Graph(nodes, (Edge(before[-1], "n0", "output"), *reversed(edges)), torch="2.13.0")


def scattered(seed: int) -> Graph:
    """Return a graph made at random: steps that may repeat, modules inside modules, every kind of node and edge."""
    draw = Random(seed)  # noqa: S311 - nothing here is secret
    wild = (0.0, 0.02, 0.1)[seed % 3]
    modules = [ModuleCall("m", "Net")]
    for at in range(draw.randrange(6)):
        modules.append(ModuleCall(f"m.{at}", draw.choice(("Linear", "Block")), parent=draw.randrange(len(modules))))
    leaves = [
        Leaf(f"n{at + 1}", draw.choice((ONE, BATCH)), (f"w{at}",) if draw.random() < 0.8 else (), parameter=True)
        for at in range(draw.randrange(1, 5))
    ]
    made: list[Node] = list(leaves)
    edges: list[Edge] = []
    others: list[Node] = []
    step = [(draw.choice(("mul", "add", "t")), draw.choice(leaves).id) for _ in range(draw.randrange(1, 4))]
    for at in range(draw.randrange(3, 90)):
        id_ = f"n{100 + at}"
        regular = draw.random() >= wild
        forward, leaf = step[at % len(step)] if regular else ("exp", draw.choice(leaves).id)
        module = (at // len(step)) % len(modules) if seed % 2 and draw.random() >= wild else None
        sources = [made[-1].id] if regular and at else [draw.choice(made).id]
        if forward != "t":
            sources.append(leaf)
        name = "h" if draw.random() < wild else ""
        made.append(function(id_, forward, BATCH, name, sequence=at, module=module))
        edges += [Edge(source, id_, slot=slot) for slot, source in enumerate(sources)]
        if draw.random() < wild:
            others.append(Data(f"d{at}", BATCH, (f"x{at}",) if draw.random() < 0.5 else ()))
            edges.append(Edge(f"d{at}", id_, "data", slot=len(sources)))
        if draw.random() < wild:
            others.append(SavedTensor(f"s{at}", "self", BATCH, same_as=sources[0]))
            edges.append(Edge(f"s{at}", id_, "saved"))
    outputs = [Output("n0", "y", BATCH)]
    edges.append(Edge(made[-1].id, "n0", "output"))
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    nodes = (node for node in (*outputs, *reversed(made), *others) if node.id in ends)
    return Graph(tuple(nodes), tuple(reversed(edges)), tuple(modules), torch="2.13.0")
