"""What stands in boxes and on arrows, for each kind of node and word of `show`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sphinx_graphviz_autograd.drawing.labels import edge_label, kind, label, meta_words, slot_label
from sphinx_graphviz_autograd.drawing.passes import DEFAULT_SHOW, SHOW, View, apply
from sphinx_graphviz_autograd.model import (
    Attribute,
    Data,
    Edge,
    GradFn,
    Gradient,
    Graph,
    Leaf,
    Node,
    Place,
    SavedTensor,
    TensorMeta,
)
from tests.drawing.graphs import BATCH, ONE, chain, function, loss, place

ALL = View(show=frozenset(SHOW))


def lines(node: Node, view: View = ALL, graph: Graph | None = None) -> tuple[str, ...]:
    """Return the label of a box as lines."""
    text = label(node, graph or Graph((node,)), view, place)
    return (f"{text.name}|{text.operation}", *text.details)


@pytest.mark.parametrize(
    ("meta", "words"),
    [
        (TensorMeta((80, 1)), "(80, 1) float32"),
        (TensorMeta((1,), "float64", "cuda:0"), "(1) float64 cuda:0"),
        (TensorMeta(()), "() float32"),
        (TensorMeta(None, layout="nested"), "(?) float32 nested"),
        (TensorMeta((2, "j1", 3), layout="jagged"), "(2, j1, 3) float32 jagged"),
        (TensorMeta((2,), subclass="Quantity"), "(2) float32 Quantity"),
    ],
)
def test_tensors_are_told_by_shape_and_type(meta: TensorMeta, words: str) -> None:
    """What is unusual about a tensor is said, what cannot be known is a question mark."""
    assert meta_words(meta, frozenset({"shapes", "dtypes"})) == words


def test_function_tells_all_that_is_asked_for() -> None:
    """Name, operation, shape, line, attributes, the operation inside, and gradients."""
    node = replace(
        function("n1", "add", name="y", line=3),
        inside="mul",
        attributes=(Attribute("alpha", "2"),),
        gradients=(Gradient((80, 1), norm="0.5", marks=("nan",)),),
    )

    assert lines(node) == (
        "y|AddBackward0",
        "(80, 1) float32 · line 3",
        "in place: mul",
        "alpha = 2",
        "grad (80, 1) · norm 0.5 · nan",
    )
    assert lines(node, View(show=frozenset())) == ("|AddBackward0", "in place: mul")


def test_functions_can_be_called_by_their_forward_names() -> None:
    """With the usual sign where there is one."""
    forward = View(labels="forward")

    assert lines(function("n1", "add"), forward)[0] == "|+ add"
    assert lines(function("n1", "cumsum"), forward)[0] == "|cumsum"
    assert lines(function("n1", "native_layer_norm"), forward)[0] == "|layer_norm"
    assert lines(function("n1", "rsub"), forward)[0] == "|− sub"  # noqa: RUF001 - the sign is meant


def test_function_with_several_tensors_names_them_all() -> None:
    """`a, b = x.unbind()` is one function with two names and shapes."""
    node = GradFn("n1", "UnbindBackward0", "unbind", (ONE, ONE), (("a", "first"), ("b",)))

    assert lines(node, View()) == ("a, b|UnbindBackward0", "(1), (1)")


def test_leaf_shows_all_its_names() -> None:
    """Two names for one tensor are both said, and without any what holds it."""
    assert lines(Leaf("n1", ONE, ("a.weight", "b.weight")), View())[0] == "a.weight = b.weight|"
    assert lines(Leaf("n1", ONE, hint="in Linear"), View())[0] == "|in Linear"
    assert lines(Leaf("n1", ONE), View())[0] == "|leaf"


def test_data_says_how_it_was_cut_off() -> None:
    """A tensor that lost its history says by what, and where."""
    assert lines(Data("n1", ONE, ("d",), "detach", Place(0, 4)), View())[1:] == ("(1)", "cut off by detach · line 4")
    assert lines(Data("n1", ONE, cut="detach", hint="fake.detach()"), View())[0] == "|fake.detach()"


def test_saved_tensor_says_what_it_is_and_what_became_of_it() -> None:
    """It is named by the attribute, and by the tensor that it is; its state is said if it is not simply there."""
    graph = loss()

    assert lines(graph.by_id["n13"], View(), graph) == ("|self", "(80, 1) · is error")
    freed = SavedTensor("n1", "other", None, "freed", same_as="n7")
    assert lines(freed, View(), graph) == ("|other", "is result of MulBackward0", "freed by backward")
    nameless = Graph((Data("n0", ONE), SavedTensor("n1", "self", ONE, same_as="n0")), ())
    assert lines(nameless.by_id["n1"], View(), nameless) == ("|self", "(1) · is data")


def test_gradient_of_a_small_tensor_is_shown_whole() -> None:
    """Values for small tensors, shape and norm for others."""
    leaf = Leaf("n1", ONE, ("w",), gradient=Gradient((1,), "[-3.2]", "3.2"))

    assert lines(leaf)[1:] == ("(1) float32", "grad [-3.2]")


def test_outputs_tell_what_gradients_are_of() -> None:
    """That they start with ones, and without which hooks they are, is said where gradients are shown."""
    output = loss().outputs[0]
    graph = replace(loss(), seed="ones", hooks_left_out=True)

    assert lines(output, graph=graph)[-2:] == ("grad starts with ones", "hooks left out of grad")
    assert lines(output, View(), graph) == lines(output, View())
    assert lines(output, graph=replace(graph, seed="scalar", hooks_left_out=False)) == lines(output)


def test_arrows_tell_what_was_taken_out_of_them() -> None:
    """How many functions are hidden stands on the arrow, and slots at its head."""
    assert edge_label(Edge("a", "b", hidden=3), View()) == "… 3"
    graph = Graph((GradFn("a", "UnbindBackward0", "unbind", (ONE, ONE)), function("b", "add")))
    assert slot_label(Edge("a", "b", output=1, slot=0), graph, ALL) == "1 → 0"
    assert slot_label(Edge("b", "b", slot=1), graph, ALL) == "1"
    assert slot_label(Edge("a", "b"), graph, View()) == ""


def test_accumulate_functions_stand_between_leaf_and_use() -> None:
    """`show: accumulate` draws the function in which the gradient arrives."""
    drawn = apply(chain("exp"), View(show=DEFAULT_SHOW | {"accumulate"}))

    assert {(edge.source, edge.target) for edge in drawn.edges} == {("f0", "n0"), ("x", "xa"), ("xa", "f0")}
    assert lines(drawn.by_id["xa"], View(), drawn) == ("|AccumulateGrad", "(80, 1)")


def test_second_order_function_is_a_kind_of_its_own() -> None:
    """What a backward pass recorded is told apart from what the forward pass did."""
    assert kind(function("n1", "mul", order=2)) == "second-order"
    assert kind(function("n1", "mul", BATCH)) == "grad-fn"
