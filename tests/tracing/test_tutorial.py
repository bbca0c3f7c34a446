"""What a tutorial on computational graphs says of its figures, as facts."""

from __future__ import annotations

from sphinx_graphviz_autograd.model import LineRun, Place
from tests.tracing.running import formula, functions, leaves, run_blocks

DATA = """
import numpy as np

np.random.seed(42)
x = np.random.rand(100, 1)
t = 1 + 2 * x + 0.1 * np.random.randn(100, 1)
at = np.arange(100)
np.random.shuffle(at)
x_train, y_train = (torch.from_numpy(values[at[:80]]).float() for values in (x, t))
"""

PREDICTION = """
torch.manual_seed(42)
b = torch.randn(1, requires_grad=True)
w = torch.randn(1, requires_grad=True)
yhat = b + w * x_train
"""

LOSS = """
error = yhat - y_train
loss = (error ** 2).mean()
"""

BRANCH = """
threshold = THRESHOLD
if loss > threshold:
    yhat2 = w * x_train
    error2 = yhat2 - y_train
    loss2 = (error2 ** 2).mean()
    loss += loss2
"""


def test_prediction() -> None:
    """`yhat` is an addition fed by `b` and by a multiplication, which is fed by `w` alone; 80 predictions come out."""
    graph = run_blocks((DATA, PREDICTION), "yhat").graph

    assert formula(graph) == "yhat = add(b, mul(w, -))"
    assert [(leaf.names, leaf.meta.shape) for leaf in leaves(graph)] == [(("b",), (1,)), (("w",), (1,))]
    assert [output.meta.shape for output in graph.outputs] == [(80, 1)]
    assert [fn.place for fn in functions(graph)] == [Place(2, 4), Place(2, 4)]


def test_without_gradient_for_the_bias() -> None:
    """If `b` requires no grad it is no leaf, and the addition has one input."""
    graph = run_blocks((DATA, PREDICTION.replace("randn(1, requires_grad=True)", "randn(1)", 1)), "yhat").graph

    assert formula(graph) == "yhat = add(-, mul(w, -))"
    assert [leaf.names for leaf in leaves(graph)] == [("w",)]


def test_loss() -> None:
    """Error and loss have their names and lines."""
    graph = run_blocks((DATA, PREDICTION, LOSS), "loss").graph

    assert formula(graph) == "loss = mean(pow(sub(add(b, mul(w, -)), -)))"
    named = {fn.names[0]: fn.place for fn in functions(graph) if fn.names}
    assert named == {("loss",): Place(3, 2), ("error",): Place(3, 1), ("yhat",): Place(2, 4)}


def test_branch_taken() -> None:
    """With the branch taken `w` is one leaf with two arrows, and both values of `loss` keep name and line."""
    graph = run_blocks((DATA, PREDICTION, LOSS, BRANCH.replace("THRESHOLD", "0.0")), "loss").graph
    (w,) = [leaf for leaf in leaves(graph) if leaf.names == ("w",)]

    assert len([edge for edge in graph.edges if edge.source == w.id and edge.kind == "gradient"]) == 2
    losses = [(fn.forward, fn.place) for fn in functions(graph) if fn.names == (("loss",),)]
    assert losses == [("add", Place(4, 6)), ("mean", Place(3, 2))]
    assert [(run.line, run.times) for run in graph.lines if run.block == 4] == [(line, 1) for line in range(1, 7)]


def test_branch_not_taken() -> None:
    """Without the branch the graph is that of the first loss; the lines of the branch are told where they matter."""
    ran = run_blocks((DATA, PREDICTION, LOSS, BRANCH.replace("THRESHOLD", "1e9")), "loss")

    assert formula(ran.graph) == "loss = mean(pow(sub(add(b, mul(w, -)), -)))"
    assert ran.recorder.runs(frozenset({4})) == tuple(LineRun(4, line, int(line < 3)) for line in range(1, 7))
