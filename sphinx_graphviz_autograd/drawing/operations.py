"""Words and signs for PyTorch's operations, and which of them only rearrange a tensor.

Autograd names its functions after the inner names of operations, of which some are not those that authors write.
"""

# ruff: noqa: RUF001 - the signs of mathematics are meant

from __future__ import annotations

from typing import Final

PUBLIC: Final = {
    "convolution": "conv",
    "cudnn_batch_norm": "batch_norm",
    "cudnn_convolution": "conv",
    "fused_dropout": "dropout",
    "log_sigmoid": "logsigmoid",
    "max_pool2d_with_indices": "max_pool2d",
    "max_pool3d_with_indices": "max_pool3d",
    "mkldnn_convolution": "conv",
    "native_batch_norm": "batch_norm",
    "native_dropout": "dropout",
    "native_group_norm": "group_norm",
    "native_layer_norm": "layer_norm",
    "reshape_alias": "reshape",
    "rsub": "sub",
    "safe_softmax": "softmax",
    "scaled_dot_product_efficient_attention": "scaled_dot_product_attention",
    "scaled_dot_product_flash_attention": "scaled_dot_product_attention",
    "scaled_dot_product_flash_attention_for_cpu": "scaled_dot_product_attention",
    "to_copy": "to",
    "unsafe_split": "split",
    "unsafe_view": "view",
}
"""What authors call an operation that autograd calls otherwise."""

SIGNS: Final = {
    "abs": "|x|",
    "add": "+",
    "addmm": "@ +",
    "addmv": "@ +",
    "baddbmm": "@ +",
    "bmm": "@",
    "div": "÷",
    "dot": "@",
    "exp": "eˣ",
    "linalg_vector_norm": "‖x‖",
    "log": "ln",
    "matmul": "@",
    "mm": "@",
    "mul": "×",
    "mv": "@",
    "neg": "−x",
    "norm": "‖x‖",
    "pow": "xⁿ",
    "prod": "Π",
    "reciprocal": "1/x",
    "rsqrt": "1/√x",
    "sigmoid": "σ",
    "sqrt": "√x",
    "sub": "−",
    "sum": "Σ",
    "t": "xᵀ",
    "transpose": "xᵀ",
}
"""The usual sign of an operation, where it has one, by what authors call it."""

PLUMBING: Final = frozenset(
    {
        "alias",
        "as_strided",
        "clone",
        "expand",
        "permute",
        "reshape",
        "reshape_alias",
        "squeeze",
        "t",
        "to_copy",
        "transpose",
        "unsafe_view",
        "unsqueeze",
        "view",
    }
)
"""Operations that pass their one tensor on, in another shape, type or place, without computing anything with it."""


def forward_words(forward: str) -> str:
    """Return what authors call the operation `forward`, after its usual sign if it has one: `× mul`."""
    name = PUBLIC.get(forward, forward)
    sign = SIGNS.get(name, "")
    return f"{sign} {name}" if sign else name
