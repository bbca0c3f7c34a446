"""Capturing changes nothing: gradients, hooks, random numbers, versions, the graph, and what is kept alive."""

from __future__ import annotations

import gc
import weakref
from typing import cast

import pytest
import torch

from sphinx_graphviz_autograd.model import CaptureOptions
from sphinx_graphviz_autograd.tracing.capture import capture
from sphinx_graphviz_autograd.tracing.record import Recorder
from tests.cases import PRELUDE
from tests.tracing.running import ALL, PLAIN, run

CODE = """
calls = []
net = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.Linear(3, 1))
net.register_forward_hook(lambda *_: calls.append("forward"))
net.register_full_backward_hook(lambda *_: calls.append("backward"))
x = leaf(2, 3)
x.register_hook(lambda g: calls.append("tensor"))
h = net(x)
h.register_hook(lambda g: calls.append("intermediate"))
h.grad_fn.register_hook(lambda *_: calls.append("node"))
y = checkpoint(lambda t: t.sin().sum(), h, use_reentrant=False)
"""


def plain_run() -> dict[str, object]:
    """Run the code as an author would, with nothing of ours around it."""
    namespace: dict[str, object] = {}
    exec(PRELUDE, namespace)  # noqa: S102 -- the code above
    torch.manual_seed(0)
    exec(CODE, namespace)  # noqa: S102 -- likewise
    return namespace


def grads(namespace: dict[str, object]) -> list[torch.Tensor | None]:
    """Run backward and return the gradients of the parameters and of the input."""
    cast("torch.Tensor", namespace["y"]).backward()  # type: ignore[no-untyped-call]  # PyTorch's, without annotations
    net = cast("torch.nn.Module", namespace["net"])
    return [tensor.grad for tensor in (*net.parameters(), cast("torch.Tensor", namespace["x"]))]


@pytest.mark.parametrize("options", [PLAIN, ALL])
def test_recorded_and_captured_code_computes_the_same(options: CaptureOptions) -> None:
    """Values, gradients, calls of hooks and random numbers are those of code that nobody watched."""
    plain = plain_run()
    plain_state = torch.get_rng_state()
    ran = run(CODE, options=options)

    assert torch.equal(torch.get_rng_state(), plain_state)
    assert ran.namespace["calls"] == plain["calls"] == ["forward"]
    assert torch.equal(cast("torch.Tensor", ran.namespace["y"]), cast("torch.Tensor", plain["y"]))
    expected = grads(plain)
    for gradient, other in zip(grads(ran.namespace), expected, strict=True):
        assert gradient is not None
        assert other is not None
        assert torch.equal(gradient, other)
    assert ran.namespace["calls"] == plain["calls"]


def test_capturing_leaves_no_trace() -> None:
    """No gradient, version or metadata is different after capturing, and it can be done again with the same bytes."""
    namespace = plain_run()
    y, x = cast("torch.Tensor", namespace["y"]), cast("torch.Tensor", namespace["x"])
    node = y.grad_fn
    assert node is not None

    before = (x.grad, x._version, y._version, dict(cast("dict[object, object]", node.metadata)))
    first = capture({"y": y}, namespace=namespace).graph
    second = capture({"y": y}, namespace=namespace).graph

    assert (x.grad, x._version, y._version, dict(cast("dict[object, object]", node.metadata))) == before
    assert first is not None
    assert second is not None
    assert first.to_json() == second.to_json()


@pytest.mark.parametrize("options", [PLAIN, ALL, CaptureOptions(data=True, gradients=True)])
def test_nothing_is_kept_alive(options: CaptureOptions) -> None:
    """When the author's variables are gone, so are tensors and modules, although recorder and graph are there."""
    ran = run(CODE, options=options)
    references = [weakref.ref(ran.namespace[name]) for name in ("x", "h", "y", "net")]
    recorder, graph = ran.recorder, ran.graph

    ran.namespace.clear()
    gc.collect()

    assert [reference() for reference in references] == [None] * 4
    assert recorder.runs(frozenset({1}))
    assert graph.nodes


def test_subclass_does_not_see_us_look() -> None:
    """A subclass with a `__torch_function__` of its own is not called by capturing."""
    code = """
        class Watched(torch.Tensor):
            seen = []

            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                cls.seen.append(func)
                return super().__torch_function__(func, types, args, kwargs or {})

        x = torch.ones(2).as_subclass(Watched).requires_grad_()
        y = (x * 2).sum()
        seen = list(Watched.seen)
        """
    ran = run(code, options=ALL)
    watched = cast("type", ran.namespace["Watched"])
    plain: dict[str, object] = {}
    exec(PRELUDE, plain)  # noqa: S102 -- the code of the cases

    assert watched.seen == ran.namespace["seen"]  # type: ignore[attr-defined]  # the class above
    assert [output.meta.subclass for output in ran.graph.outputs] == ["Watched"]


def test_garbage_collector_is_as_it_was() -> None:
    """Capturing rests the collector for its time, and leaves it off where it was off."""
    y = torch.ones(2, requires_grad=True) * 2
    capture({"y": y})
    assert gc.isenabled()

    gc.disable()
    try:
        capture({"y": y})
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_recording_in_a_recorder() -> None:
    """A recorder that was left can be entered again, and one inside another gives the trace function back."""
    outer, inner = Recorder(), Recorder()
    code = "y = torch.ones(2, requires_grad=True) * 2"
    for recorder in (outer, inner):
        recorder.add_block("<b>", 0, code)
    namespace: dict[str, object] = {"torch": torch}

    with outer:
        with inner:
            exec(compile(code, "<b>", "exec"), namespace)  # noqa: S102 -- the code above
        exec(compile(code, "<b>", "exec"), namespace)  # noqa: S102 -- likewise

    assert [recorder.runs(frozenset({0}))[0].times for recorder in (outer, inner)] == [1, 1]
