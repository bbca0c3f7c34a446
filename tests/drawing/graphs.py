"""Graphs made by hand, for tests of drawing that need no torch."""

from __future__ import annotations

from dataclasses import replace

from sphinx_graphviz_autograd.model import (
    Attribute,
    Data,
    Edge,
    GradFn,
    Graph,
    Leaf,
    Output,
    Place,
    SavedTensor,
    TensorMeta,
)

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
    nodes: list[Output | GradFn | Leaf] = [
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
