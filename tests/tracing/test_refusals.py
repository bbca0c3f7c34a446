"""Why a value has no graph: the reason, and the line that caused it."""

from __future__ import annotations

from typing import get_args

import pytest

from sphinx_graphviz_autograd.model import CaptureOptions, Place
from sphinx_graphviz_autograd.refusal import Refusal, RefusalReason
from tests.tracing.running import ALL, PLAIN, run


@pytest.mark.parametrize(
    ("code", "reason", "line"),
    [
        ("x = torch.ones(2)\ny = x * 2", "no_grad_input", 2),
        ("w = leaf(2)\nwith torch.no_grad():\n    y = w * 2", "no_grad_mode", 2),
        ("w = leaf(2)\n@torch.no_grad()\ndef f(t):\n    return t * 2\ny = f(w)", "untracked", 5),
        ("torch.set_grad_enabled(False)\ny = leaf(2) * 2\ntorch.set_grad_enabled(True)", "no_grad_mode", 2),
        ("w = leaf(2)\nwith torch.inference_mode():\n    y = w * 2", "inference_mode", 2),
        ("w = leaf(2)\ny = (w * 2).detach()", "detached", 2),
        ("w = leaf(2)\nh = w * 2\ny = h.data", "detached", 3),
        ("y = leaf(2).argmax()", "integer", 1),
        ("y = leaf(2) > 0", "integer", 1),
        ("y = leaf(2)", "leaf", 1),
        ("y = nn.Linear(2, 2)", "module", None),
        ("def y(t):\n    return t", "function", None),
        ("y = None", "none", None),
        ("y = []", "empty", None),
        ("y = 3.5", "other", None),
        ("y = 'text'", "other", None),
        ("w = leaf(2)\nw.sin().sum().backward()\ny = w.grad", "gradient", 3),
        ("w = leaf(2)\n(y,) = torch.autograd.grad(w.sin().sum(), w)", "gradient", 2),
        ("w = leaf(2)\ny = torch.zeros_like(w)", "untracked", 2),
        ("m = nn.Linear(2, 2)\nm.requires_grad_(False)\ny = m(torch.ones(1, 2))", "no_grad_input", 3),
        ("m = nn.Linear(2, 2)\nm.forward = torch.no_grad()(m.forward)\ny = m(torch.ones(1, 2))", "untracked", 3),
        ("x = torch.ones(2)\ny = x.detach() * 2", "no_grad_input", 2),
        ("x = leaf(2) * 1\nb = torch.zeros(2)\nwith torch.no_grad():\n    y = b[:1]\nb.mul_(x)", "stale_view", 4),
    ],
)
def test_reason_and_line(code: str, reason: RefusalReason, line: int | None) -> None:
    """Each way to have no graph is told apart, with the line that caused it where that is known."""
    ran = run(code)

    assert ran.found is None
    (refusal,) = ran.refusals
    assert (refusal.reason, refusal.place and refusal.place.line) == (reason, line)


@pytest.mark.parametrize(
    ("code", "reason", "line"),
    [
        ("w = leaf(2)\nh = w * 2\nc = h.detach()\ny = c * 3", "detached", 3),
        ("w = leaf(2)\nwith torch.no_grad():\n    h = w * 2\ny = h + 1", "no_grad_mode", 3),
        ("w = leaf(2)\ny = w * 2\ny.detach_()", "detached", 3),
    ],
)
def test_recorded_cut_is_found_further_back(code: str, reason: RefusalReason, line: int) -> None:
    """Where inputs are recorded, a cut is found on the line that made it, also if other lines came after it."""
    (refusal,) = run(code, options=ALL).refusals

    assert (refusal.reason, refusal.place and refusal.place.line) == (reason, line)


@pytest.mark.parametrize("options", [PLAIN, ALL])
def test_cut_in_the_expression_itself(options: CaptureOptions) -> None:
    """An expression that is asked for may cut by itself."""
    (refusal,) = run("h = leaf(2) * 2", "h.detach()", options=options).refusals

    assert (refusal.reason, refusal.detail, refusal.place) == ("detached", "h.detach()", None)


def test_others_are_drawn() -> None:
    """A value without a graph does not keep others from being drawn; items of a nest that have none are left out."""
    code = "w = leaf(2)\nx = torch.ones(2)\nout = {'y': w * x, 'at': torch.tensor([1])}"
    ran = run(code, "out", "x")

    assert [output.name for output in ran.graph.outputs] == ['out["y"]']
    assert [(refusal.expression, refusal.reason) for refusal in ran.refusals] == [("x", "no_grad_input")]


def test_nest_without_any_graph_tells_its_first_tensor() -> None:
    """Of a nest in which nothing has a graph, the reason of its first tensor is told."""
    (refusal,) = run("y = {'a': torch.ones(1), 'b': 2}").refusals

    assert (refusal.expression, refusal.reason, refusal.place) == ('y["a"]', "no_grad_input", Place(1, 1))


@pytest.mark.parametrize("reason", get_args(RefusalReason))
def test_every_reason_is_a_sentence(reason: RefusalReason) -> None:
    """Every reason makes one sentence that begins with the expression, if there is one, and may tell a line."""
    refusal = Refusal("x[0]", reason, "{what} it was")

    assert refusal.message().startswith("`x[0]` ") or reason == "no_expression"
    assert "{where}" not in refusal.message("line 3")
    assert not refusal.message().endswith(".")


def test_message_says_why_and_what_to_do() -> None:
    """The commonest message in full."""
    (refusal,) = run("x = torch.ones(2)", "x").refusals

    assert refusal.message() == (
        "`x` does not require grad, so PyTorch recorded nothing for it: "
        "let a tensor that it is computed from require grad"
    )
    assert "does not require grad (line 7), so" in refusal.message("line 7")


def test_expression_may_be_any_text() -> None:
    """The name of a value need not be Python, as where it stands for a file."""
    from sphinx_graphviz_autograd.tracing.capture import capture  # noqa: PLC0415 -- this test alone

    (refusal,) = capture({"a b{c}": run("x = torch.ones(2)", "x").namespace["x"]}).refusals

    assert refusal.message().startswith("`a b{c}` does not")
