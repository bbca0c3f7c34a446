"""Words and signs for PyTorch's operations, and which of them only rearrange a tensor."""

# ruff: noqa: RUF001 - the signs of mathematics are meant

from __future__ import annotations

from typing import Final

SIGNS: Final = {
    "add": "+",
    "sub": "−",
    "rsub": "−",
    "mul": "×",
    "div": "÷",
    "pow": "xⁿ",
    "neg": "−x",
    "mm": "@",
    "matmul": "@",
    "bmm": "@",
    "mv": "@",
    "dot": "@",
    "addmm": "@ +",
    "addmv": "@ +",
    "baddbmm": "@ +",
    "sum": "Σ",
    "prod": "Π",
    "sqrt": "√",
    "abs": "|x|",
    "exp": "eˣ",
    "sigmoid": "σ",
    "t": "xᵀ",
}
"""The usual sign of an operation, where it has one."""

PLUMBING: Final = frozenset(
    {
        "t",
        "view",
        "_unsafe_view",
        "unsafe_view",
        "reshape",
        "_reshape_alias",
        "reshape_alias",
        "alias",
        "expand",
        "transpose",
        "permute",
        "squeeze",
        "unsqueeze",
        "as_strided",
        "to_copy",
        "_to_copy",
        "clone",
    }
)
"""Operations that pass their one tensor on, in another shape, type or place, without computing anything with it."""


def sign(forward: str) -> str:
    """Return the usual sign of the operation `forward`; empty if it has none."""
    return SIGNS.get(forward, "")
