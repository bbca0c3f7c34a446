"""What is right in each case: the whole structure of the small ones, and the facts that other tools get wrong."""

from __future__ import annotations

from functools import cache

import pytest

from sphinx_graphviz_autograd.model import Attribute, Edge, Graph, Place
from tests.cases import CASES, PRELUDE
from tests.tracing.running import ALL, Ran, data, formula, function, functions, leaf_names, leaves, run, saved

STRUCTURES = {
    "P03_subclass": "y = alias(mul(alias(leaf), -))",
    "P04_list_out": "y[0] = mul(x, -); y[1] = sum(x)",
    "P06_saved_same_tensor_twice": "y = mul(a, a)",
    "P07_custom_saved_distinct": "y = sum(add(GivenGradient(x, data), GivenGradient(x, data)))",
    "P08_custom_saved_none": "y = SavesNone(x)",
    "P09_after_backward": "y = sum(mul(exp(x), x))",
    "P11_saved_then_mutated": "y = sin(mul(leaf, -))",
    "P15_input_without_grad_invisible": "y = mm(x, w)",
    "P16_detach_breaks": "y = sum(mul(mul(x, -), detach))",
    "P17_data_swapped": "y = addmm(bias in Linear, x, t(weight in Linear))",
    "P18_param_not_reached": "y = sum(addmm(a.bias, data, t(a.weight)))",
    "P20_two_names_one_tensor": "y = sum(add(mul(x, -), mul(x, -)))",
    "P22_multi_output_node_edges": "y = div(unbind(both), unbind[1](both))",
    "P23_negative_dim": "y = select(cat(softmax(x), unsafe_view(clone(transpose(x)))))",
    "P24_inplace_on_view": "y = sum(copy_slices(mul(leaf, -), -))",
    "P26_output_is_view": "y = select(t(mul(leaf, -)))",
    "P27_create_graph": "y = pow(x); g = mul(-, mul(pow(x)))",
    "P29_checkpoint_nonreentrant": "y = cos(exp(sin(x)))",
    "P30_checkpoint_reentrant": "y = CheckpointFunction(x)",
    "P33_vmap": "y = sum(sum(mul(sin(x), x)))",
    "P35_nested_strided": "y = mul(n, -)",
    "P37_sparse": "y = sum(sparse_addmm(-, s, w))",
    "P39_forward_ad": "y = sum(add(mul(-, identity(view(x, data))), mul(-, identity(view(x, data)))))",
    "P43_branch_taken": "y = sum(mul(x, -))",
    "P44_ctx_attributes": "y = KeepsAttributes(x)",
    "P46_full_backward_hook": ("y = sum(BackwardHookFunction(addmm(m.bias, BackwardHookFunction(x), t(m.weight))))"),
    "P50_disconnected_outputs": "y[0] = mul(x, -); y[1] = exp(z)",
    "P51_dropout_bn_train": (
        "y = sum(mul(native_batch_norm(addmm(m.0.bias, data, t(m.0.weight)), "
        "m.1.weight, m.1.bias, m.1.running_mean, m.1.running_var), -))"
    ),
    "P52_hf_like_dataclass": 'y["last_hidden_state"] = mul(x, -); y["pooler_output"] = mean(x)',
    "P54_inference_tensor": "y = sum(add(x, c))",
    "P55_ctx_holds_output": "y = sum(KeepsItsOutput(x))",
    "P58_frozen_and_trainable": "y = sum(addmm(m.1.bias, data, t(m.1.weight)))",
}
"""The whole graph of the small cases, inputs without gradient included."""

REFUSED = {"P13_leaf_only", "P14_no_grad_output", "P49_invalid_view"}
"""The cases that have no graph."""


@cache
def ran(name: str) -> Ran:
    """Return a case that ran once for all tests."""
    case = CASES[name]
    return run(case.code, *case.draws, options=ALL)


@pytest.mark.parametrize("name", CASES)
def test_case_is_captured_or_refused(name: str) -> None:
    """Every case gives a graph that survives its JSON, or says why it has none."""
    case = ran(name)

    assert (case.found is None) == (name in REFUSED)
    assert bool(case.refusals) == (name in REFUSED)
    if case.found is not None:
        assert Graph.from_json(case.found.to_json()) == case.found


@pytest.mark.parametrize("name", STRUCTURES)
def test_structure(name: str) -> None:
    """Functions, leaves, slots and inputs without gradient are where they belong."""
    assert formula(ran(name).graph) == STRUCTURES[name]


def test_deep_chain_counts_its_iterations() -> None:
    """A chain deeper than Python's stack is whole, each addition with the iteration of its line."""
    made = functions(ran("P01_deep_chain").graph)

    assert len(made) == 3000
    assert [fn.place for fn in made[:2]] == [Place(1, 4, 3000), Place(1, 4, 2999)]
    assert {fn.names for fn in made} == {(("y",),)}


def test_deep_views_lead_to_their_base() -> None:
    """Of 4000 nested views, the output is marked as a view of the tensor that they all show."""
    graph = ran("P02_deep_view_chain").graph

    (view,) = [edge for edge in graph.edges if edge.kind == "view"]
    assert graph.by_id[view.source] == function(graph, "mul")
    assert function(graph, "mul").names == (("base", "y"),)


def test_subclass_is_told() -> None:
    """A tensor subclass keeps its class in the output, and the alias that made it its name."""
    graph = ran("P03_subclass").graph

    assert [output.meta.subclass for output in graph.outputs] == ["Sub"]
    assert [fn.names for fn in functions(graph)] == [(("y",),), (), (("a",),)]


def test_square_saves_its_leaf_twice() -> None:
    """`a * a` has one leaf, with its own name, two arrows from it, and it is what was saved both times."""
    graph = ran("P06_saved_same_tensor_twice").graph
    (leaf,) = leaves(graph)
    square = function(graph, "mul")

    assert leaf.names == ("a",)
    assert [(edge.source, edge.slot) for edge in graph.edges if edge.kind == "gradient"] == [(leaf.id, 0), (leaf.id, 1)]
    assert {key: item.same_as for key, item in saved(graph, square.id).items()} == {"self": leaf.id, "other": leaf.id}


def test_equal_saved_tensors_are_not_merged() -> None:
    """Two temporary tensors of equal shape are two, although Python gave them the same address one after the other."""
    graph = ran("P07_custom_saved_distinct").graph
    kept = [saved(graph, fn.id)["saved_tensors[0]"] for fn in functions(graph) if fn.forward == "GivenGradient"]

    assert len({item.id for item in kept}) == 2
    assert [item.same_as for item in kept] == [item.id for item in data(graph)]


def test_saved_none_is_no_saved_tensor() -> None:
    """Of a tensor and a None, the tensor alone was saved."""
    graph = ran("P08_custom_saved_none").graph

    assert list(saved(graph, function(graph, "SavesNone").id)) == ["saved_tensors[0]"]


def test_backward_frees_what_was_saved() -> None:
    """After backward the saved tensors are there, as freed, and the structure is whole."""
    graph = ran("P09_after_backward").graph
    kept = {**saved(graph, function(graph, "mul").id), **saved(graph, function(graph, "exp").id)}

    assert {key: (item.state, item.meta) for key, item in kept.items()} == dict.fromkeys(
        ("self", "other", "result"), ("freed", None)
    )


def test_changed_saved_tensor_is_said_to_be_changed() -> None:
    """A saved tensor that was changed in place keeps its shape and is marked, while the others are alive."""
    graph = ran("P11_saved_then_mutated").graph
    (kept,) = saved(graph, function(graph, "sin").id).values()

    assert kept.state == "modified"
    assert kept.meta is not None
    assert kept.meta.shape == (3,)
    assert [item.state for item in saved(graph, function(graph, "mul").id).values()] == ["alive"]


def test_input_without_gradient_has_a_box() -> None:
    """`x` in `x @ w` is shown, feeds the first slot, and is what the product saved."""
    graph = ran("P15_input_without_grad_invisible").graph
    (box,) = data(graph)

    assert (box.names, box.meta.shape) == (("x",), (2, 3))
    assert Edge(box.id, function(graph, "mm").id, "data", slot=0) in graph.edges
    assert saved(graph, function(graph, "mm").id)["self"].same_as == box.id


def test_detach_is_marked_as_a_cut() -> None:
    """`h.detach()` is a box of its own, marked with its line, and leads back to `h`."""
    graph = ran("P16_detach_breaks").graph
    (box,) = data(graph)
    (cut,) = [edge for edge in graph.edges if edge.kind == "cut"]

    assert (box.cut, box.place) == ("detach", Place(1, 3))
    assert [fn.names for fn in functions(graph) if fn.id == cut.source] == [(("h",),)]
    assert cut.target == box.id


def test_swapped_data_does_not_lose_the_name() -> None:
    """A leaf whose `.data` was swapped is still `x`; parameters of a module that nothing holds say what held them."""
    assert leaf_names(ran("P17_data_swapped").graph) == ["bias in Linear", "x", "weight in Linear"]


def test_unreached_parameters_are_not_there() -> None:
    """Only what the output depends on is a leaf."""
    assert leaf_names(ran("P18_param_not_reached").graph) == ["a.bias", "a.weight"]


def test_all_names_of_a_tensor_are_told() -> None:
    """A tensor with two names has both, the first assigned first."""
    graph = ran("P20_two_names_one_tensor").graph

    assert function(graph, "mul").names == (("h", "alias"),)


def test_edges_tell_outputs_and_slots() -> None:
    """Of the two outputs of `unbind`, the first feeds the first slot of the division and the second the second."""
    graph = ran("P22_multi_output_node_edges").graph
    division, unbind = function(graph, "div"), function(graph, "unbind")

    assert [
        (edge.output, edge.slot) for edge in graph.edges if edge.target == division.id and edge.source == unbind.id
    ] == [
        (0, 0),
        (1, 1),
    ]
    assert unbind.names == (("a",), ("b",))
    assert {key: item.output for key, item in saved(graph, division.id).items()} == {"self": 0, "other": 1}


def test_negative_numbers_are_negative() -> None:
    """`dim=-1` reads `-1`."""
    graph = ran("P23_negative_dim").graph

    assert function(graph, "cat").attributes == (Attribute("dim", "-1"),)
    assert function(graph, "transpose").attributes == (Attribute("dim0", "-1"), Attribute("dim1", "-2"))
    assert Attribute("index", "-1") in function(graph, "select").attributes


def test_write_into_a_view_tells_the_operation() -> None:
    """`b[0].mul_(2)` is an in-place multiplication on its own line, and is `b` afterwards."""
    graph = ran("P24_inplace_on_view").graph
    write = function(graph, "copy_slices")

    assert (write.speciality, write.inside, write.names) == ("in-place", "mul", (("b",),))
    assert write.place == Place(1, 2)


def test_view_as_output_has_its_base() -> None:
    """A view that is drawn has an edge from the tensor whose memory it shows."""
    graph = ran("P26_output_is_view").graph

    assert Edge(function(graph, "mul").id, "n0", "view") in graph.edges


def test_orders_are_told_apart() -> None:
    """What a backward with `create_graph` made is of second order, what the forward pass made of first."""
    graph = ran("P27_create_graph").graph

    orders = [(fn.name, fn.order) for fn in functions(graph)]
    assert orders == [("PowBackward0", 1), ("MulBackward0", 2), ("MulBackward1", 2), ("PowBackward0", 2)]


def test_checkpoint_is_not_run_again() -> None:
    """Capturing does not run a checkpointed function, and says of its tensors that backward will."""
    case = ran("P29_checkpoint_nonreentrant")
    kept = [item for fn in functions(case.graph) for item in saved(case.graph, fn.id).values()]

    assert case.namespace["runs"] == [0]
    assert [item.state for item in kept] == ["recomputed"] * 3


def test_reentrant_checkpoint_hides_its_inside() -> None:
    """A reentrant checkpoint is one node that names the function it runs; parameters in it cannot be seen."""
    graph = ran("P30_checkpoint_reentrant").graph
    node = function(graph, "CheckpointFunction")

    assert node.speciality == "checkpoint"
    assert node.attributes == (Attribute("run_function", "<lambda>"), Attribute("preserve_rng_state", "True"))
    assert leaf_names(graph) == ["x"]


def test_compiled_function_is_one_node() -> None:
    """A compiled function is one node, fed by the parameters and by its input without gradient."""
    graph = ran("P32_compiled").graph
    (node,) = functions(graph)

    assert node.speciality == "compiled"
    assert node.place == Place(1, 4)
    assert leaf_names(graph) == ["m.weight", "m.bias"]
    assert [item.names for item in data(graph)] == [("x",)]


def test_nested_tensor_has_no_shape() -> None:
    """A strided nested tensor is said to be nested, and no shape is made up for it."""
    (leaf,) = leaves(ran("P35_nested_strided").graph)

    assert (leaf.meta.shape, leaf.meta.layout) == (None, "nested")


def test_sparse_leaf_is_said_to_be_sparse() -> None:
    """A sparse leaf tells its layout."""
    assert [leaf.meta.layout for leaf in leaves(ran("P37_sparse").graph)] == ["sparse_coo", "strided"]


def test_function_that_python_does_not_know() -> None:
    """A node whose type PyTorch does not show to Python has its name, and is marked."""
    specialities = {fn.name: fn.speciality for fn in functions(ran("P39_forward_ad").graph)}

    assert specialities["Identity"] == "unknown"
    assert specialities["MulBackward0"] == ""


def test_shared_weight_has_its_iterations() -> None:
    """The 80 steps of a recurrent network lead to one leaf, and know which step they are."""
    graph = ran("P40_shared_weight_rnn").graph
    steps = [fn for fn in functions(graph) if fn.forward == "tanh"]

    assert leaf_names(graph) == ["w"]
    assert [fn.place.iteration for fn in steps if fn.place is not None] == list(range(80, 0, -1))
    assert {fn.names for fn in steps} == {(("h",),)}


def test_lstm_outputs_come_from_its_node() -> None:
    """An LSTM has its parameters as leaves and its variables as names; on a CPU it is one node."""
    graph = ran("P41_lstm_module").graph

    assert leaf_names(graph) == ["m.weight_ih_l0", "m.weight_hh_l0", "m.bias_ih_l0", "m.bias_hh_l0"]
    assert [output.name for output in graph.outputs] == ["o", "h", "c"]
    assert [(call.path, call.kind) for call in graph.modules] == [("m", "LSTM")]


def test_transformer_knows_its_layers() -> None:
    """Each of four layers has its path, and every parameter that takes part its name in `named_parameters()`."""
    graph = ran("P42_transformer_layers").graph
    paths = [call.path for call in graph.modules]

    assert [path for path in paths if path.count(".") == 2 and path.startswith("m.layers")][:4] != []
    assert {f"m.layers.{at}" for at in range(4)} <= set(paths)
    assert len(leaf_names(graph)) == 4 * 12
    assert all(name.startswith("m.layers.") for name in leaf_names(graph))


def test_branch_not_taken_did_not_run() -> None:
    """Of an `if`, the line that ran is told apart from the one that did not."""
    lines = {run.line: run.times for run in ran("P43_branch_taken").graph.lines if run.block == 1}

    assert lines == {1: 1, 2: 1, 3: 1, 5: 0, 6: 1}


def test_custom_function_tells_what_it_keeps() -> None:
    """The attributes of a custom function's ctx are told, and where its forward was written."""
    node = function(ran("P44_ctx_attributes").graph, "KeepsAttributes")

    assert node.speciality == "custom"
    assert node.attributes == (Attribute("k", "2.5"), Attribute("mode", "'fast'"), Attribute("table", "{'a': 1}"))
    line = PRELUDE[: PRELUDE.index("def forward(ctx, x, k, mode)")].count("\n") + 1
    assert node.defined == Place(0, line)


def test_hooks_make_marked_nodes() -> None:
    """The nodes that a full backward hook puts around a module are marked as such."""
    nodes = functions(ran("P46_full_backward_hook").graph)

    assert [fn.forward for fn in nodes if fn.speciality == "hook"] == ["BackwardHookFunction"] * 2


def test_label_may_be_anything() -> None:
    """A name with brackets, quotes and a backslash comes out as it was written."""
    assert 'table["a|<b>{c}\\"\\\\n"]' in leaf_names(ran("P48_einsum_arrow_label").graph)


def test_shared_outputs_are_one_graph() -> None:
    """Two outputs that have nothing in common are drawn together."""
    graph = ran("P50_disconnected_outputs").graph

    assert [output.name for output in graph.outputs] == ["y[0]", "y[1]"]
    assert leaf_names(graph) == ["x", "z"]


def test_modules_of_a_sequence_are_told() -> None:
    """Each function in a sequence of modules knows the innermost module that ran it."""
    graph = ran("P51_dropout_bn_train").graph
    paths = {fn.forward: graph.modules[fn.module].path for fn in functions(graph) if fn.module is not None}

    assert paths == {"mul": "m.2", "native_batch_norm": "m.1", "addmm": "m.0", "t": "m.0"}


def test_frozen_layer_is_shown_as_data() -> None:
    """The parameters of a frozen layer are inputs without gradient of what it computed."""
    graph = ran("P58_frozen_and_trainable").graph
    by_id = {item.id: item.names for item in data(graph)}
    (computed,) = [
        edge.source for edge in graph.edges if edge.kind == "data" and edge.target == function(graph, "addmm").id
    ]

    assert [by_id[edge.source] for edge in graph.edges if edge.kind == "data" and edge.target == computed] == [
        (),
        ("m.0.weight",),
        ("m.0.bias",),
    ]


def test_two_heads_share_their_trunk() -> None:
    """The hidden layer is one node with its name, used by both heads; targets are inputs without gradient."""
    graph = ran("P60_grad_through_loss_two_heads").graph
    (hidden,) = [fn for fn in functions(graph) if fn.names == (("h",),)]

    assert len([edge for edge in graph.edges if edge.source == hidden.id and edge.kind == "gradient"]) == 2
    assert [item.meta.dtype for item in data(graph)] == ["int64", "float32"]
