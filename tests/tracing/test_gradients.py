"""Gradients on request: right on every edge, and nothing is changed by asking for them."""

from __future__ import annotations

import random
from typing import cast

import pytest
import torch

from sphinx_graphviz_autograd.model import CaptureOptions, GradFn, Gradient, Graph, Leaf
from tests.cases import CASES, PRELUDE
from tests.tracing.running import function, leaves, run

GRADIENTS = CaptureOptions(gradients=True)


def grads(code: str, *draws: str) -> Graph:
    """Return the graph of a block with its gradients."""
    return run(code, *draws, options=GRADIENTS).graph


def values(graph: Graph) -> dict[str, str]:
    """Return the gradients of the leaves by name."""
    return {leaf.names[0]: leaf.gradient.values for leaf in leaves(graph) if leaf.gradient is not None}


def test_gradients_of_leaves_and_functions() -> None:
    """A scalar's gradient starts with 1, and what arrives at each function and leaf is told."""
    graph = grads("w = torch.tensor([2.0, -3.0], requires_grad=True)\ny = (w * w).sum()")

    assert graph.seed == "scalar"
    assert values(graph) == {"w": "[4, -6]"}
    assert function(graph, "mul").gradients == (Gradient((2,), "[1, 1]", "1.414"),)
    assert function(graph, "sum").gradients == (Gradient((), "1", "1"),)


def test_gradients_along_edges() -> None:
    """Each edge has what comes back along it, so that the two halves of `w * v` are told apart."""
    graph = grads("w = torch.tensor(2.0, requires_grad=True)\nv = torch.tensor(5.0, requires_grad=True)\ny = w * v + w")
    by_slot = {
        (edge.target, edge.slot): edge.gradient.values
        for edge in graph.edges
        if edge.kind == "gradient" and edge.gradient is not None
    }

    product, total = function(graph, "mul"), function(graph, "add")
    assert by_slot == {(total.id, 0): "1", (total.id, 1): "1", (product.id, 0): "5", (product.id, 1): "2"}
    assert values(graph) == {"w": "6", "v": "2"}


def test_outputs_of_other_shapes_start_with_ones() -> None:
    """Outputs that are no scalars are seeded with ones, and the graph says so."""
    graph = grads("w = torch.tensor([2.0, 3.0], requires_grad=True)\ny = w * 3\nz = w.sum()", "y", "z")

    assert graph.seed == "ones"
    assert values(graph) == {"w": "[4, 4]"}


def test_outputs_of_one_function_are_told_apart() -> None:
    """A function with two outputs has a gradient for each, and none for one that is not used."""
    graph = grads("w = torch.ones(2, 2, requires_grad=True)\na, b = w.unbind(0)\ny = (a * 3).sum()")

    first, second = function(graph, "unbind").gradients
    assert first == Gradient((2,), "[3, 3]", "4.243")
    assert second is None


def test_large_gradients_have_a_norm() -> None:
    """Of a large gradient, shape and norm are told."""
    graph = grads("w = leaf(4, 4)\ny = w.sum()")

    assert leaves(graph)[0].gradient == Gradient((4, 4), "", "4")


@pytest.mark.parametrize(
    ("code", "mark"),
    [("(w / w).sum() * 0", "nan"), ("w.log().sum() * 1", "inf"), ("(w * 0).sum()", "zero"), ("w.relu().sum()", "zero")],
)
def test_odd_gradients_are_marked(code: str, mark: str) -> None:
    """NaN, infinity and vanished gradients are marked."""
    graph = grads(f"w = torch.zeros(2, requires_grad=True)\ny = {code}")

    assert [leaf.gradient.marks for leaf in leaves(graph) if leaf.gradient is not None] == [(mark,)]


def test_complex_and_negative_zero() -> None:
    """Complex gradients are written as such; a zero has no sign."""
    graph = grads(
        "w = torch.tensor([1 + 2j], requires_grad=True)\nv = leaf(1)\ny = (w * 2j).imag.sum() + (v * -0.0).sum()"
    )

    assert values(graph) == {"w": "[2+0j]", "v": "[0]"}


def test_sparse_gradient_has_a_norm() -> None:
    """A sparse gradient has shape and norm."""
    graph = grads("m = nn.Embedding(5, 2, sparse=True)\ny = m(torch.tensor([1, 3])).sum()")

    assert leaves(graph)[0].gradient == Gradient((5, 2), "", "2")


def test_jagged_gradient_has_a_shape() -> None:
    """The gradient of a jagged tensor has a shape, with a symbolic size."""
    graph = grads("""
        parts = [torch.ones(2, 3), torch.ones(4, 3)]
        n = torch.nested.nested_tensor(parts, layout=torch.jagged, requires_grad=True)
        y = (n * 2).values().sum()
        """)

    (leaf,) = leaves(graph)
    assert leaf.gradient is not None
    assert leaf.gradient.shape[0] == 2
    assert isinstance(leaf.gradient.shape[1], str)
    assert (leaf.meta.layout, leaf.gradient.norm) == ("nested", "")


def test_function_may_give_no_gradient() -> None:
    """Where a custom function gives None back, the edge is there and has no gradient."""
    graph = grads("""
        class Blocks(Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, grad):
                return None

        w = leaf(2)
        y = Blocks.apply(w).sum()
        """)

    (edge,) = [edge for edge in graph.edges if edge.target == function(graph, "Blocks").id]
    assert edge.gradient is None
    assert leaves(graph)[0].gradient is None


HOOKED = """
calls = []
class Doubles(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2

def noting(name):
    return lambda *_: calls.append(name)

net = nn.Linear(2, 2)
net.register_full_backward_pre_hook(noting("module pre"))
net.register_full_backward_hook(noting("module"))
w = leaf(2)
w.register_hook(noting("leaf"))
w.register_hook(noting("leaf again"))
w.register_post_accumulate_grad_hook(noting("accumulated"))
h = w * 2
h.register_hook(noting("tensor"))
h.grad_fn.register_prehook(noting("function pre"))
h.grad_fn.register_hook(noting("function"))
h = net(h + 1)
for make in (torch.sin, Doubles.apply):
    h = make(h)
    h.register_hook(noting("tensor that is gone"))
    h = h * 1
h.grad_fn.next_functions[0][0].register_hook(noting("custom function"))
y = h.sum()
"""


FAILING = "def fails(g): raise KeyError\nw.register_hook(fails)"


@pytest.mark.parametrize("scaled", ["", "w.register_hook(lambda g: g * 10)", FAILING])
def test_hooks_do_not_run(scaled: str) -> None:
    """No hook runs when gradients are asked for, the graph says so, and all are there for the author's own backward."""
    ran = run(HOOKED + scaled, options=GRADIENTS)
    assert ran.namespace["calls"] == []
    assert ran.graph.hooks_left_out
    assert ran.refusals == ()

    if "fails" not in scaled:
        plain: dict[str, object] = {}
        exec(PRELUDE + HOOKED + scaled, plain)  # noqa: S102 -- the code above
        for namespace in (plain, ran.namespace):
            cast("torch.Tensor", namespace["y"]).backward()  # type: ignore[no-untyped-call]  # PyTorch's, without annotations
        assert ran.namespace["calls"] == plain["calls"]
        assert len(cast("list[str]", plain["calls"])) == len(set(cast("list[str]", plain["calls"]))) + 1


def test_hooks_do_not_change_what_is_shown() -> None:
    """What is shown is the gradient without the hooks; hooks that are not in the graph are none of its business."""
    hooked = grads("w = leaf(1)\nh = w * 1\nh.register_hook(lambda g: g * 10)\ny = h.sum()")
    plain = grads("w = leaf(1)\nv = w * 1\nv.register_hook(print)\nh = w * 1\ny = h.sum()")

    assert values(hooked) == values(plain) == {"w": "[1]"}
    assert (hooked.hooks_left_out, plain.hooks_left_out) == (True, False)


def test_hooks_are_there_again_after_a_failure() -> None:
    """Where the backward pass fails, the hooks are put back as well, with the name of each in its place."""
    ran = run(
        """
        class Breaks(Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, grad):
                raise KeyError("no")

        h = Breaks.apply(leaf(2))
        h.register_hook(print)
        h.register_hook(repr)
        y = h.sum()
        """,
        options=GRADIENTS,
    )

    h = cast("torch.Tensor", ran.namespace["h"])
    assert [*cast("dict[int, object]", h._backward_hooks).values()] == [print, repr]


def test_numbers_drawn_in_a_backward_are_drawn_again() -> None:
    """Python's own random numbers go on where they were before."""
    ran = run(
        """
        import random
        class Draws(Function):
            @staticmethod
            def forward(ctx, x): return x * 1
            @staticmethod
            def backward(ctx, grad): return grad * random.random()

        random.seed(3)
        y = Draws.apply(leaf(2)).sum()
        """,
        options=GRADIENTS,
    )

    assert leaves(ran.graph)[0].gradient
    assert random.random() == random.Random(3).random()  # noqa: S311 - not for secrets


def test_asking_changes_nothing() -> None:
    """No `.grad` is filled, not even a retained one, RNG and versions stay, and backward still works."""
    code = """
        w = leaf(3)
        w.grad = torch.ones(3)
        h = w.sin()
        h.retain_grad()
        y = checkpoint(lambda t: F.dropout(t, 0.5).sum(), h, use_reentrant=False)
        """
    ran = run(code, options=GRADIENTS)
    w, h, y = (cast("torch.Tensor", ran.namespace[name]) for name in "why")
    state = torch.get_rng_state()
    plain = run(code)

    assert torch.equal(torch.get_rng_state(), state)
    assert (w._version, h._version) == (0, 0)
    assert h.grad is None
    assert torch.equal(cast("torch.Tensor", w.grad), torch.ones(3))
    y.backward()  # type: ignore[no-untyped-call]  # PyTorch's, without annotations
    cast("torch.Tensor", plain.namespace["y"]).backward()  # type: ignore[no-untyped-call]  # likewise
    assert torch.equal(
        cast("torch.Tensor", w.grad), cast("torch.Tensor", cast("torch.Tensor", plain.namespace["w"]).grad)
    )


def test_freed_graph_has_no_gradients() -> None:
    """After backward the gradients cannot be computed again: the graph is there, and the message says why."""
    ran = run("w = leaf(2)\ny = w.sin().sum()\ny.backward()", options=GRADIENTS)

    assert ran.graph.seed == ""
    assert [refusal.reason for refusal in ran.refusals] == ["freed"]


def test_failing_backward_has_no_gradients() -> None:
    """A backward of the author's that raises is reported, and the graph is there."""
    ran = run(
        """
        class Breaks(Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, grad):
                raise KeyError("no")

        y = Breaks.apply(leaf(2)).sum()
        """,
        options=GRADIENTS,
    )

    assert [(refusal.reason, refusal.detail) for refusal in ran.refusals] == [("backward", "KeyError: 'no'")]
    assert function(ran.graph, "Breaks").gradients == ()


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_every_case(name: str) -> None:
    """For every case gradients are there or refused, and they are those of `torch.autograd.grad`."""
    case = CASES[name]
    ran = run(case.code, *case.draws, options=GRADIENTS)
    if ran.found is None or not ran.found.seed:
        assert ran.refusals
        return

    fns = [node for node in ran.graph.nodes if isinstance(node, GradFn)]
    assert any(gradient is not None for fn in fns for gradient in fn.gradients) or name == "P35_nested_strided"
    assert Graph.from_json(ran.graph.to_json()) == ran.graph
    assert all(
        leaf.gradient is not None for leaf in ran.graph.nodes if isinstance(leaf, Leaf) and leaf.meta.shape is not None
    )
