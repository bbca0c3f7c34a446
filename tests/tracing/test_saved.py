"""What functions keep: saved tensors with their state, and plain values as they were."""

from __future__ import annotations

import pytest
import torch

from sphinx_graphviz_autograd.model import Attribute
from sphinx_graphviz_autograd.tracing.reading import operation
from sphinx_graphviz_autograd.tracing.values import value_text
from tests.tracing.running import ALL, function, functions, run, saved


def states(code: str, forward: str) -> dict[str, str]:
    """Return the states of what a function keeps."""
    graph = run(code).graph
    return {key: item.state for key, item in saved(graph, function(graph, forward).id).items()}


def test_saved_output_is_the_function_itself() -> None:
    """A function that saves its own output keeps the tensor of its own node."""
    graph = run("x = leaf(2)\ny = x.exp()").graph
    exp = function(graph, "exp")

    assert saved(graph, exp.id)["result"].same_as == exp.id


def test_saved_intermediate_is_its_maker() -> None:
    """An intermediate that was saved is the function that made it."""
    graph = run("x = leaf(2)\nh = x.tan()\ny = h.sin()").graph

    assert saved(graph, function(graph, "sin").id)["self"].same_as == function(graph, "tan").id


def test_saved_data_has_its_name() -> None:
    """A saved tensor that is no part of the graph is called by its variable, also if inputs were not asked for."""
    graph = run("x = torch.ones(2)\ny = leaf(2) * x").graph

    kept = saved(graph, function(graph, "mul").id)["other"]
    assert (kept.same_as, kept.names) == ("", ("x",))


def test_tuple_of_saved_tensors() -> None:
    """Tensors that are kept in a tuple are told one by one, unless they were freed."""
    code = "x = leaf(3, 3)\nat = torch.tensor([0, 2])\ny = x[at, at]\n"

    assert states(code, "index") == {"indices[0]": "alive", "indices[1]": "alive"}
    assert states(code + "at.add_(0)", "index") == {"indices[0]": "modified", "indices[1]": "modified"}
    assert states(code + "y.sum().backward()", "index") == {"indices": "freed"}


def test_absent_tensors_of_a_tuple_are_none() -> None:
    """A slice among the indices keeps nothing."""
    assert states("x = leaf(3, 3)\ny = x[:, torch.tensor([0, 2])]", "index") == {"indices[1]": "alive"}


HOOKED = """
from torch.autograd.graph import saved_tensors_hooks

unpacked = []
with saved_tensors_hooks(lambda t: t.tolist(), lambda p: unpacked.append(p) or torch.tensor(p)):
    x = leaf(2)
    y = x.sin()
"""


def test_packed_tensor_is_not_unpacked() -> None:
    """What a hook packed is said to be packed; the hook is not run, and the shape is not guessed."""
    ran = run(HOOKED)
    kept = saved(ran.graph, function(ran.graph, "sin").id)["self"]

    assert (kept.state, kept.meta) == ("packed", None)
    assert ran.namespace["unpacked"] == []


def test_packed_tensor_is_freed_like_others() -> None:
    """After backward, a packed tensor is freed."""
    assert states(HOOKED + "y.sum().backward()", "sin") == {"self": "freed"}


CUSTOM = """
class Keeps(Function):
    @staticmethod
    def forward(ctx, x, w):
        out = x * w
        ctx.save_for_backward(x, w, out)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, w, _ = ctx.saved_tensors
        return grad * w, grad * x

x, w = leaf(2), torch.ones(2)
y = Keeps.apply(x, w)
"""


def test_custom_function_keeps_inputs_and_output() -> None:
    """Of a custom function, the saved input, constant and output are told apart."""
    graph = run(CUSTOM, options=ALL).graph
    keeps = function(graph, "Keeps")
    kept = saved(graph, keeps.id)

    assert graph.by_id[kept["saved_tensors[0]"].same_as].names == ("x",)  # type: ignore[union-attr]  # nodes with names
    assert graph.by_id[kept["saved_tensors[1]"].same_as].names == ("w",)  # type: ignore[union-attr]  # likewise
    assert kept["saved_tensors[2]"].same_as == keeps.id


def test_custom_function_tells_which_tensor_was_changed() -> None:
    """If one of a custom function's tensors was changed in place, the others are alive still."""
    assert states(CUSTOM + "w.add_(1)", "Keeps") == {
        "saved_tensors[0]": "alive",
        "saved_tensors[1]": "modified",
        "saved_tensors[2]": "alive",
    }


def test_custom_function_freed() -> None:
    """After backward, PyTorch does not tell how many tensors a custom function kept, only that they are gone."""
    assert states(CUSTOM + "y.sum().backward()", "Keeps") == {"saved_tensors": "freed"}


def test_hooks_around_a_custom_function() -> None:
    """The tensors of a custom function can be packed as well."""
    code = "from torch.autograd.graph import save_on_cpu\nwith save_on_cpu():\n    y = SavesNone.apply(leaf(2))"

    assert states(code, "SavesNone") == {"saved_tensors[0]": "packed"}


def test_ctx_attributes_that_look_like_ours() -> None:
    """Attributes of a ctx that are called as those of PyTorch's nodes are no leaf and no saved tensor."""
    graph = run("""
        class Odd(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.variable = x.shape
                ctx._saved_self = "odd"
                ctx._raw_saved_self = 1
                return x.clone()

            @staticmethod
            def backward(ctx, grad):
                return grad

        y = Odd.apply(leaf(2))
        """).graph
    odd = function(graph, "Odd")

    assert [attribute.name for attribute in odd.attributes] == ["variable", "_saved_self", "_raw_saved_self"]
    assert saved(graph, odd.id) == {}


@pytest.mark.parametrize(
    ("code", "forward", "attribute"),
    [
        ("y = leaf(2, 3).sum(-1)", "sum", Attribute("dim", "(-1,)")),
        ("y = F.mse_loss(leaf(2), torch.ones(2))", "mse_loss", Attribute("reduction", "'mean'")),
        ("y = F.mse_loss(leaf(2), torch.ones(2), reduction='sum')", "mse_loss", Attribute("reduction", "'sum'")),
        ("y = leaf(2) ** 2.5", "pow", Attribute("exponent", "2.5")),
        ("y = F.gelu(leaf(2), approximate='tanh')", "gelu", Attribute("approximate", "'tanh'")),
        ("y = leaf(1, 1, 3, 3).to(torch.float64)", "to_copy", None),
        ("y = torch.add(leaf(2), leaf(2), alpha=2)", "add", Attribute("alpha", "2")),
        ("y = torch.add(leaf(2), leaf(2), alpha=2.0)", "add", Attribute("alpha", "2.0")),
        ("y = leaf(2, 3).roll(-1, 0)", "roll", Attribute("shifts", "(-1,)")),
        (
            "y = F.grid_sample(leaf(1, 1, 2, 2), torch.zeros(1, 2, 2, 2), 'nearest', 'border', False)",
            "grid_sampler_2d",
            Attribute("padding_mode", "'border'"),
        ),
        ("y = leaf(2)[0]", "select", Attribute("index", "0")),
        ("y = F.cross_entropy(leaf(1, 2), torch.tensor([0]))", "nll_loss", Attribute("ignore_index", "-100")),
    ],
)
def test_attributes_have_their_values(code: str, forward: str, attribute: Attribute | None) -> None:
    """Numbers are signed, numbers that stand for words are words, and 2 is not 2.0."""
    graph = run(code).graph
    found = [fn for fn in functions(graph) if fn.forward == forward]

    assert found
    assert attribute is None or attribute in found[0].attributes


def test_strides_that_were_not_kept_are_not_told() -> None:
    """Strides that PyTorch left out as it does not need them are not told as empty."""
    attributes = {
        attribute.name for attribute in function(run("y = leaf(2, 3) @ torch.ones(3, 1)").graph, "mm").attributes
    }

    assert "self_sym_sizes" in attributes
    assert "mat2_sym_strides" not in attributes


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((1,), "(1,)"),
        ([1.5, "a", None], "[1.5, 'a', None]"),
        ({2, 1}, "{1, 2}"),
        (frozenset(), "frozenset()"),
        (torch.float64, "torch.float64"),
        (torch.device("cpu"), "'cpu'"),
        (torch.ones(2, 3), "tensor of shape (2, 3)"),
        (torch.nn.Linear, "Linear"),
        (object(), "object object"),
        (list(range(102)), f"[{', '.join(map(str, range(100)))}, ... 2 more]"),
        ([[[[[1]]]]], "[[[[list of 1]]]]"),
    ],
)
def test_values_are_written_without_addresses(value: object, text: str) -> None:
    """Values come out as Python writes them, without an address, and cut where they are very long or deep."""
    assert value_text(value) == text


@pytest.mark.parametrize(
    ("name", "forward"),
    [
        ("AddmmBackward0", "addmm"),
        ("LogSoftmaxBackward0", "log_softmax"),
        ("NllLoss2DBackward0", "nll_loss2d"),
        ("UpsampleNearest2DBackward1", "upsample_nearest2d"),
        ("MaxPool2DWithIndicesBackward0", "max_pool2d_with_indices"),
        ("ViewBackward0_copy", "view"),
        ("CopyBackwards", "copy"),
        ("CopySlices", "copy_slices"),
        ("TBackward0", "t"),
        ("Im2ColBackward0", "im2col"),
        ("GeneratedBackwardFor_torch_nn__linear_cross_entropy_defaultBackward", "linear_cross_entropy"),
    ],
)
def test_operations_are_called_as_in_torch(name: str, forward: str) -> None:
    """The name of a backward function tells the operation as PyTorch's functions are called."""
    assert operation(name) == forward
