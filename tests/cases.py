"""Small pieces of PyTorch code, each after something that users of graph-drawing tools complained of.

Every case is a block as an author would write it, run after `PRELUDE` in the same namespace. What is right in its graph
is asserted in `tests/tracing/test_cases.py`; other rooms take the cases as input that must not break them.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent

PRELUDE = '''\
from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Function
from torch.utils.checkpoint import checkpoint


class SavesNone(Function):
    """Doubles, and saves a tensor and a None for backward."""

    @staticmethod
    def forward(ctx, x, w=None):
        ctx.save_for_backward(x, w)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2, None


class ThreeOutputs(Function):
    """Gives two differentiable outputs and a mask that is not."""

    @staticmethod
    def forward(ctx, x):
        mask = x > 0
        ctx.mark_non_differentiable(mask)
        return x.clone(), x * 3, mask

    @staticmethod
    def backward(ctx, first, second, _mask):
        return first + 3 * second


class GivenGradient(Function):
    """Copies its input, and passes back a gradient that was given to it."""

    @staticmethod
    def forward(ctx, x, gradient):
        ctx.save_for_backward(gradient)
        return x.clone()

    @staticmethod
    def backward(ctx, _grad):
        (gradient,) = ctx.saved_tensors
        return gradient, None


class KeepsAttributes(Function):
    """Scales, and keeps plain values on its ctx."""

    @staticmethod
    def forward(ctx, x, k, mode):
        ctx.k = k
        ctx.mode = mode
        ctx.table = {"a": 1}
        return x * k

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.k, None, None


class KeepsItsOutput(Function):
    """Copies its input, and keeps the copy on its ctx: a cycle of graph and tensor."""

    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        ctx.y = y
        return y

    @staticmethod
    def backward(ctx, grad):
        return grad


class Sub(torch.Tensor):
    """A tensor subclass."""


def leaf(*shape):
    return torch.randn(*shape, requires_grad=True)
'''


@dataclass(frozen=True, slots=True)
class Case:
    """A piece of code and what of it is drawn."""

    code: str
    """The block."""
    draws: tuple[str, ...] = ("y",)
    """The expressions whose values are drawn."""


def _case(code: str, *draws: str) -> Case:
    return Case(dedent(code).strip() + "\n", draws or ("y",))


CASES = {
    "P01_deep_chain": _case("""
        x = leaf(2)
        y = x
        for _ in range(3000):
            y = y + 1
        """),
    "P02_deep_view_chain": _case("""
        base = leaf(4) * 1
        y = base
        for _ in range(2000):
            y = y.view(2, 2).view(4)
        """),
    "P03_subclass": _case("""
        a = torch.ones(5, requires_grad=True).as_subclass(Sub)
        y = a * 2
        """),
    "P04_list_out": _case("""
        x = leaf(3)
        y = [x * 2, x.sum()]
        """),
    "P06_saved_same_tensor_twice": _case("""
        a = leaf(5)
        y = a * a
        """),
    "P07_custom_saved_distinct": _case("""
        x = leaf(1)
        y = (GivenGradient.apply(x, torch.rand(1)) + GivenGradient.apply(x, torch.rand(1))).sum()
        """),
    "P08_custom_saved_none": _case("""
        x = leaf(3)
        y = SavesNone.apply(x)
        """),
    "P09_after_backward": _case("""
        x = leaf(3)
        y = (x.exp() * x).sum()
        y.backward()
        """),
    "P11_saved_then_mutated": _case("""
        q = leaf(3) * 1
        y = q.sin()
        q.add_(1)
        """),
    "P13_leaf_only": _case("""
        y = leaf(3)
        """),
    "P14_no_grad_output": _case("""
        x = torch.ones(3)
        y = x * 2
        """),
    "P15_input_without_grad_invisible": _case("""
        x = torch.randn(2, 3)
        w = leaf(3, 1)
        y = x @ w
        """),
    "P16_detach_breaks": _case("""
        x = leaf(3)
        h = x * 2
        y = (h * h.detach()).sum()
        """),
    "P17_data_swapped": _case("""
        x = leaf(1, 1)
        x.data = torch.rand(1, 1)
        y = nn.Linear(1, 1)(x)
        """),
    "P18_param_not_reached": _case("""
        a = nn.Linear(2, 2)
        b = nn.Linear(2, 2)
        y = a(torch.ones(1, 2)).sum()
        """),
    "P20_two_names_one_tensor": _case("""
        x = leaf(2)
        h = x * 2
        alias = h
        y = (h + alias).sum()
        """),
    "P22_multi_output_node_edges": _case("""
        both = leaf(2, 3)
        a, b = both.unbind(0)
        y = a / b
        """),
    "P23_negative_dim": _case("""
        x = leaf(2, 3)
        y = torch.cat([x.softmax(-1), x.transpose(-1, -2).reshape(2, 3)], -1)[..., -1]
        """),
    "P24_inplace_on_view": _case("""
        b = leaf(4, 4) * 1
        b[0].mul_(2)
        y = b.sum()
        """),
    "P26_output_is_view": _case("""
        x = leaf(2, 3) * 1
        y = x.t()[0]
        """),
    "P27_create_graph": _case(
        """
        x = torch.tensor(2.0, requires_grad=True)
        y = x**3
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        """,
        "y",
        "g",
    ),
    "P29_checkpoint_nonreentrant": _case("""
        runs = []

        def body(t):
            runs.append(len(runs))
            return t.sin().exp().cos()

        x = leaf(3)
        y = checkpoint(body, x, use_reentrant=False)
        """),
    "P30_checkpoint_reentrant": _case("""
        m = nn.Linear(3, 3)
        x = leaf(2, 3)
        y = checkpoint(lambda t: torch.tanh(m(t)), x, use_reentrant=True)
        """),
    "P32_compiled": _case("""
        m = nn.Linear(3, 3)
        f = torch.compile(lambda t: torch.tanh(m(t)).sum(), backend="aot_eager")
        x = torch.randn(2, 3)
        y = f(x)
        """),
    "P33_vmap": _case("""
        x = leaf(5, 3)
        y = torch.func.vmap(lambda t: (t.sin() * t).sum())(x).sum()
        """),
    "P35_nested_strided": _case("""
        n = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)], requires_grad=True)
        y = n * 2
        """),
    "P37_sparse": _case("""
        s = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2), check_invariants=True).requires_grad_()
        w = leaf(2, 2)
        y = torch.sparse.mm(s, w).sum()
        """),
    "P39_forward_ad": _case("""
        import torch.autograd.forward_ad as fwAD

        x = leaf(3)
        with fwAD.dual_level():
            d = fwAD.make_dual(x, torch.ones(3))
            y = fwAD.unpack_dual((d * d).sum()).tangent
        """),
    "P40_shared_weight_rnn": _case("""
        w = leaf(4, 4)
        h = torch.zeros(1, 4)
        for _ in range(80):
            h = torch.tanh(h @ w + torch.randn(1, 4))
        y = h.sum()
        """),
    "P41_lstm_module": _case(
        """
        m = nn.LSTM(3, 4)
        o, (h, c) = m(torch.randn(5, 1, 3))
        """,
        "o",
        "h",
        "c",
    ),
    "P42_transformer_layers": _case("""
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        m = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        y = m(torch.randn(1, 4, 8)).sum()
        """),
    "P43_branch_taken": _case("""
        x = torch.ones(3, requires_grad=True)
        if x.sum() > 0:
            h = x * 2
        else:
            h = x.sin()
        y = h.sum()
        """),
    "P44_ctx_attributes": _case("""
        x = leaf(3)
        y = KeepsAttributes.apply(x, 2.5, "fast")
        """),
    "P46_full_backward_hook": _case("""
        m = nn.Linear(2, 2)
        m.register_full_backward_hook(lambda *_: None)
        x = leaf(1, 2)
        y = m(x).sum()
        """),
    "P48_einsum_arrow_label": _case("""
        table = {'a|<b>{c}"\\\\n': leaf(2, 3)}
        b = leaf(3, 2)
        y = torch.einsum("ij,jk->ik", next(iter(table.values())), b)
        """),
    "P49_invalid_view": _case("""
        x = leaf(2) * 1
        b = torch.zeros(2)
        with torch.no_grad():
            y = b[:1]
        b.mul_(x)
        """),
    "P50_disconnected_outputs": _case("""
        x, z = leaf(2), leaf(2)
        y = (x * 2, z.exp())
        """),
    "P51_dropout_bn_train": _case("""
        m = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.5))
        y = m(torch.randn(4, 3)).sum()
        """),
    "P52_hf_like_dataclass": _case("""
        x = leaf(2, 3)
        y = OrderedDict(last_hidden_state=x * 2, pooler_output=x.mean(1))
        """),
    "P54_inference_tensor": _case("""
        with torch.inference_mode():
            c = torch.ones(3)
        x = leaf(3)
        y = (x + c).sum()
        """),
    "P55_ctx_holds_output": _case("""
        x = leaf(3)
        y = KeepsItsOutput.apply(x).sum()
        """),
    "P58_frozen_and_trainable": _case("""
        m = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
        m[0].requires_grad_(False)
        y = m(torch.randn(2, 3)).sum()
        """),
    "P60_grad_through_loss_two_heads": _case("""
        x = leaf(4, 3)
        h = torch.relu(nn.Linear(3, 5)(x))
        head_a = nn.Linear(5, 2)(h)
        head_b = nn.Linear(5, 1)(h)
        y = F.cross_entropy(head_a, torch.tensor([0, 1, 0, 1])) + F.mse_loss(head_b, torch.zeros(4, 1))
        """),
}
"""The cases by name. Numbers that are missing were found to be no case of their own."""
