"""Inputs without gradient, and cuts: which function each goes into, into which slot, and what was cut where."""

from __future__ import annotations

import pytest

from sphinx_graphviz_autograd.model import Place
from tests.tracing.running import ALL, data, formula, function, run


@pytest.mark.parametrize(
    ("code", "structure"),
    [
        ("y = w * x", "y = mul(w, x)"),
        ("y = x * w", "y = mul(x, w)"),
        ("y = torch.cat([w, x, w])", "y = cat(w, x, w)"),
        ("y = F.linear(x.reshape(1, 2), leaf(1, 2))", "y = mm(data, t(leaf))"),
        ("y = torch.where(x > 0, w, x)", "y = where(w, -, data, x)"),
        ("y = (w * 2) / x", "y = div(mul(w, -), x)"),
        ("y = w + x + x", "y = add(add(w, x), x)"),
        ("y = w[torch.tensor([0])]", "y = index(w, data)"),
        ("y = F.mse_loss(w, x)", "y = mse_loss(w, x)"),
        ("y = torch.add(w, x, alpha=2)", "y = add(w, x)"),
        ("y = torch.add(input=x, other=w)", "y = add(x, w)"),
    ],
)
def test_inputs_fill_their_slots(code: str, structure: str) -> None:
    """Each input without gradient fills the slot of its argument; past them where PyTorch does not tell which it is."""
    assert formula(run(f"w = leaf(2)\nx = torch.ones(2)\n{code}", options=ALL).graph) == structure


def test_inputs_are_left_out_unless_asked_for() -> None:
    """Without the option there are no boxes of inputs."""
    assert data(run("y = leaf(2) * torch.ones(2)").graph) == []


@pytest.mark.parametrize(
    ("code", "cut"),
    [
        ("y = h * h.detach()", "detach"),
        ("y = h * torch.detach(h)", "detach"),
        ("y = h * h.data", "data"),
        ("with torch.no_grad():\n    c = h * 2\ny = h * c", "no_grad"),
        ("s = h.sum().item()\ny = h * s", "item"),
        ("a = h.detach().numpy()\ny = h * torch.as_tensor(a)", "detach"),
    ],
)
def test_cuts_are_marked(code: str, cut: str) -> None:
    """What was cut off says how, and on which line, and leads back to what it was cut off from."""
    graph = run(f"w = leaf(2)\nh = w.sin()\n{code}", options=ALL).graph
    cuts = [edge for edge in graph.edges if edge.kind == "cut"]
    boxes = {box.id: box for box in data(graph) if box.cut}

    assert [box.cut for box in boxes.values()] == [cut]
    assert {box.place.line for box in boxes.values() if box.place} <= {3, 4}
    if cut != "item":  # read from the sum, which is no part of the graph
        assert {edge.target for edge in cuts} == set(boxes)
        assert {edge.source for edge in cuts} == {function(graph, "sin").id}


def test_cut_inside_an_expression_is_found() -> None:
    """In `z + (code - z).detach()`, the straight-through estimator, the cut leads to the difference, not to `z`."""
    graph = run("z, code = leaf(2), leaf(2)\nd = code - z\ny = z + d.detach() + d", options=ALL).graph
    (cut,) = [edge for edge in graph.edges if edge.kind == "cut"]

    assert cut.source == function(graph, "sub").id


def test_cut_of_a_leaf() -> None:
    """A leaf that is detached is what the cut leads to."""
    graph = run("w = leaf(2)\ny = w * w.detach()", options=ALL).graph
    (cut,) = [edge for edge in graph.edges if edge.kind == "cut"]

    assert graph.by_id[cut.source].names == ("w",)  # type: ignore[union-attr]  # a leaf
    assert [(box.cut, box.place) for box in data(graph)] == [("detach", Place(1, 2))]


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("y = w * fake.detach()", "fake.detach()"),
        ("y = w * fake.data", "fake.data"),
        ("y = w * fake[0].detach()", ""),
        ("fake = fake.detach()\ny = w * fake", ""),
        ("fakes = fake.unbind()\ny = w * fakes[1].detach()", "fakes[1].detach()"),
        ("y = w * torch.as_tensor(w.detach().numpy())", "w.detach()"),
        ("y = w * fake.sum().item()", ""),
        ("total = fake.sum()\ny = w * total.item()", "total.item()"),
        ("def critic(t):\n    return w * t\ny = critic(fake.detach())", "fake.detach()"),
        ("def half(t):\n    with torch.no_grad():\n        return t / 2\ny = w * half(fake)", "from fake"),
    ],
)
def test_cut_without_a_name_says_what_it_was_cut_off_from(code: str, hint: str) -> None:
    """The variable that was detached is told, though it may be in no graph; a name of its own comes before that."""
    graph = run(f"w, v = leaf(2), leaf(2)\nfake = v.sin().expand(2, 2)\n{code}", options=ALL).graph
    (box,) = [box for box in data(graph) if box.cut]

    assert box.hint == hint
    assert not (box.names and box.hint)


def test_detached_in_place() -> None:
    """`h.detach_()` takes the history from the tensor itself; what made it is still what it was cut off from."""
    graph = run("w = leaf(2)\nh = w.sin()\nother = h.cos()\nh.detach_()\ny = h * w + other", options=ALL).graph

    assert [(box.names, box.cut) for box in data(graph)] == [(("h",), "detach")]
    assert [edge.source for edge in graph.edges if edge.kind == "cut"] == [function(graph, "sin").id]


def test_frozen_network_is_told_layer_by_layer() -> None:
    """Named results of frozen layers are boxes fed by the layers' parameters and by what went in."""
    graph = run(
        """
        a, b, head = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 1)
        for p in [*a.parameters(), *b.parameters()]:
            p.requires_grad_(False)
        x = torch.ones(1, 2)
        h = a(x)
        k = b(h)
        y = head(k)
        """,
        options=ALL,
    ).graph
    names = {box.id: box.names[0] for box in data(graph)}
    fed = [
        (names[edge.source], names[edge.target]) for edge in graph.edges if edge.kind == "data" and edge.target in names
    ]

    assert sorted(fed) == [
        ("a.bias", "h"),
        ("a.weight", "h"),
        ("b.bias", "k"),
        ("b.weight", "k"),
        ("h", "k"),
        ("x", "h"),
    ]


def test_data_preparation_is_not_told() -> None:
    """What an input was computed from is left out if nothing of it could ever have had a gradient."""
    graph = run("raw = torch.ones(4)\nx = (raw - raw.mean()) / 2\ny = leaf(4) * x", options=ALL).graph

    assert [box.names for box in data(graph)] == [("x",)]


def test_input_that_is_gone_keeps_its_name() -> None:
    """An input whose variable was bound anew is called as it was then."""
    graph = run("w = leaf(2)\nx = torch.ones(2)\ny = w * x\nx = None", options=ALL).graph

    assert [box.names for box in data(graph)] == [("x",)]


def test_one_input_of_many_functions_is_one_box() -> None:
    """The same tensor used twice is one box with two arrows."""
    graph = run("w = leaf(2)\nx = torch.ones(2)\ny = (w * x) + x", options=ALL).graph

    assert len(data(graph)) == 1
    assert len([edge for edge in graph.edges if edge.kind == "data"]) == 2


def test_gradients_are_no_cut() -> None:
    """`.grad` and `torch.autograd.grad` give gradients, and cut nothing."""
    graph = run("w = leaf(2)\nw.sin().sum().backward()\ny = w * w.grad", options=ALL).graph

    assert [(box.names, box.cut) for box in data(graph)] == [(("w.grad",), "")] or [box.cut for box in data(graph)] == [
        ""
    ]


def test_forward_of_a_custom_function_is_its_own() -> None:
    """What a custom function computes inside is no cut, and its inputs are those that it was called with."""
    graph = run("x, g = leaf(2), torch.ones(2)\nh = GivenGradient.apply(x, g)\ny = h.sin()", options=ALL).graph

    assert formula(graph) == "y = sin(GivenGradient(x, g))"
    assert [box.cut for box in data(graph)] == [""]


def test_compiling_is_not_disturbed() -> None:
    """A function compiled while recording is compiled in one piece, and PyTorch warns of nothing."""
    ran = run(
        """
        import warnings

        m = nn.Linear(3, 3)
        f = torch.compile(m, backend="aot_eager")
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            y = f(torch.randn(2, 3))
        breaks = sum(torch._dynamo.utils.counters["graph_break"].values())
        """,
        options=ALL,
    )

    assert formula(ran.graph).startswith("y = CompiledFunction(")
    assert ran.namespace["breaks"] == 0
    assert [str(warning) for warning in ran.namespace["found"]] == []  # type: ignore[attr-defined]  # a list of warnings
