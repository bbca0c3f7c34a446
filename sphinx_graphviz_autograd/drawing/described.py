"""Under which names PyTorch's documentation may describe an operation: what to look up in an inventory of it."""

from __future__ import annotations

from typing import Final

from sphinx_graphviz_autograd.drawing.operations import PUBLIC

_ALSO: Final = {
    "copy": "Tensor.copy_",
    "im2col": "nn.functional.unfold",
    "col2im": "nn.functional.fold",
    "unfold": "Tensor.unfold",  # the function of this name is `im2col`
    "grid_sampler_2d": "nn.functional.grid_sample",
    "grid_sampler_3d": "nn.functional.grid_sample",
    "native_batch_norm": "nn.functional.batch_norm",
    "native_layer_norm": "nn.functional.layer_norm",
    "prelu_kernel": "nn.functional.prelu",
}
"""Names that follow from no rule, without `torch.`."""

_MODULES: Final = ("linalg", "special", "fft")
"""The modules that stand before the names of their operations: `linalg_det`."""


def names_of(forward: str) -> tuple[str, ...]:
    """Return the names under which the operation `forward` may be described, the best first."""
    own = forward.lstrip("_")
    if own in _ALSO:
        return (f"torch.{_ALSO[own]}",)
    name = PUBLIC.get(own, own)
    module, _, rest = name.partition("_")
    if module in _MODULES and rest:
        return (f"torch.{module}.{rest}",)
    return (f"torch.{name}", f"torch.nn.functional.{name}", f"torch.Tensor.{name}", f"torch.Tensor.{name}_")
