"""Why a value has no graph to draw, in words for the author."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sphinx_graphviz_autograd.model import Place  # noqa: TC001 -- the codec evaluates the annotations

RefusalReason: TypeAlias = Literal[
    "no_grad_input",
    "no_grad_mode",
    "inference_mode",
    "detached",
    "untracked",
    "integer",
    "leaf",
    "gradient",
    "module",
    "function",
    "none",
    "empty",
    "stale_view",
    "freed",
    "backward",
    "undefined",
    "raised",
    "no_expression",
    "other",
]
"""Why a value has no graph to draw.

`freed` and `backward`: there is a graph, but its gradients could not be computed. `undefined` and `raised`: the
expression could not be evaluated. `no_expression`: none was written, and the block ends in none.
"""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why nothing, or not all that was asked for, could be captured of a value."""

    expression: str
    """The expression whose value it is, as written."""
    reason: RefusalReason
    """Which of the reasons it is."""
    detail: str = ""
    """What the sentence needs beside the reason: a type, a function, the text of an error."""
    place: Place | None = None
    """The line that caused it, where that is known."""

    def message(self, line: str = "") -> str:
        """Return one sentence that says why and what to do; `line` are words for `place`, as `line 12`."""
        where = f" ({line})" if line else ""
        if self.reason == "no_expression":
            return "there is nothing to draw: write the variables as argument, or end the block in an expression"
        return f"`{self.expression}` {_SENTENCES[self.reason].format(detail=self.detail, where=where)}"


_SENTENCES: dict[RefusalReason, str] = {
    "no_grad_input": "does not require grad{where}, so PyTorch recorded nothing for it: let a tensor that it is "
    "computed from require grad",
    "no_grad_mode": "was computed while gradients were off{where}, so PyTorch recorded nothing for it: compute it "
    "outside `torch.no_grad()`",
    "inference_mode": "was made in inference mode{where}, so PyTorch recorded nothing for it: compute it outside "
    "`torch.inference_mode()`",
    "detached": "was cut off from its graph by `{detail}`{where}: draw the tensor before the cut",
    "untracked": "does not require grad{where}, although `{detail}` uses what does: what it computes has no gradient, "
    "or gradients were off in it",
    "integer": "is a tensor of type {detail}, which never has a gradient: draw the floating-point tensor that it was "
    "made from",
    "leaf": "is a leaf{where}: it requires grad, but no recorded operation made it, so there is nothing to draw; draw "
    "something that is computed from it",
    "gradient": "is a gradient without a graph of its own{where}: run the backward pass with `create_graph=True`",
    "module": "is a module ({detail}), which has no graph before it is called: draw what it returns",
    "function": "is a function, which has no graph: call it and draw what it returns",
    "none": "is None, so there is no graph to draw",
    "empty": "holds no tensor, so there is no graph to draw",
    "stale_view": "is a view made while gradients were off, of a tensor that was changed in place afterwards{where}: "
    "PyTorch cannot tell its graph; make the view where gradients are on",
    "freed": "has a graph whose saved tensors were freed by backward, so its gradients cannot be computed again: draw "
    "it before `backward()`, or pass `retain_graph=True`",
    "backward": "has a graph, but its gradients could not be computed: {detail}",
    "undefined": "cannot be drawn: {detail}",
    "raised": "cannot be drawn, as evaluating it raised {detail}",
    "no_expression": "",
    "other": "is of type `{detail}`, which is no tensor: draw a tensor, or a tuple, list, dict or dataclass of tensors",
}
