"""Where PyTorch's documentation describes an operation."""

from __future__ import annotations

from typing import Final

_TORCH: Final = """
    abs acos acosh add addbmm addcdiv addcmul addmm addmv addr amax amin asin asinh atan atan2 atanh
    baddbmm bmm cat cdist ceil cholesky_inverse clamp clone conj copysign cos cosh cross cummax
    cummin cumprod cumsum deg2rad diag diag_embed diagonal diff digamma dist div dot einsum erf erfc
    erfinv exp exp2 expm1 flip floor fmod frac gather hypot index_add index_copy index_select inner
    kron kthvalue lerp lgamma log log10 log1p log2 logaddexp logaddexp2 logcumsumexp logdet logit
    logsumexp masked_select matmul matrix_exp max maximum mean median min minimum mm mode mul mv
    narrow neg norm outer permute polygamma pow prod rad2deg reciprocal remainder renorm reshape
    roll rot90 round rsqrt scatter scatter_add select sigmoid sign sin sinc sinh slogdet sort sqrt
    square squeeze stack std sub sum t take tan tanh topk trace transpose tril triu trunc unbind
    unsqueeze var where xlogy
"""

_FUNCTIONAL: Final = """
    adaptive_avg_pool2d adaptive_max_pool2d avg_pool2d batch_norm binary_cross_entropy
    binary_cross_entropy_with_logits celu conv1d conv2d conv3d cosine_similarity cross_entropy
    dropout elu embedding gelu glu grid_sample group_norm hardshrink hardsigmoid hardswish hardtanh
    huber_loss instance_norm l1_loss layer_norm leaky_relu linear log_softmax logsigmoid max_pool2d
    mish mse_loss nll_loss normalize pixel_shuffle pixel_unshuffle relu relu6 rms_norm
    scaled_dot_product_attention selu silu smooth_l1_loss softmax softplus softshrink threshold
    unfold
"""

DESCRIBED: Final = {
    "torch": frozenset(_TORCH.split()),
    "torch.nn.functional": frozenset(_FUNCTIONAL.split()),
}
"""The operations that have a page of their own, by the module that they are functions of."""

_ALSO: Final = {
    "_softmax": "softmax",
    "_log_softmax": "log_softmax",
    "native_batch_norm": "batch_norm",
    "native_dropout": "dropout",
    "native_group_norm": "group_norm",
    "native_layer_norm": "layer_norm",
    "fused_dropout": "dropout",
    "rsub": "sub",
    "log_sigmoid": "logsigmoid",
}
"""Under which of these names an operation is described that autograd knows by another."""


def page(forward: str) -> str:
    """Return the address of the page that describes the operation `forward`; empty if it has none."""
    name = _ALSO.get(forward, forward)
    module = next((module for module, names in DESCRIBED.items() if name in names), "")
    return f"https://docs.pytorch.org/docs/stable/generated/{module}.{name}.html" if module else ""
