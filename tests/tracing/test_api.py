"""The Python interface: a graph, or an exception that says why there is none."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

import sphinx_graphviz_autograd
from sphinx_graphviz_autograd import capture
from sphinx_graphviz_autograd.errors import NoGraphError
from sphinx_graphviz_autograd.model import CaptureOptions
from sphinx_graphviz_autograd.tracing.record import Recorder
from tests.tracing.running import data, formula, leaves


def test_graph_of_a_tensor() -> None:
    """`capture({"loss": loss})` gives the graph; a namespace gives names."""
    w = torch.ones(2, requires_grad=True)
    loss = (w * 2).sum()

    assert formula(capture({"loss": loss})) == "loss = sum(mul(leaf, -))"
    assert formula(capture({"loss": loss}, namespace={"w": w})) == "loss = sum(mul(w, -))"


def test_gradients_on_request() -> None:
    """With `gradients`, they are in the graph, and `.grad` is as it was."""
    w = torch.ones(2, requires_grad=True)
    graph = capture({"loss": (w * 2).sum()}, gradients=True)

    assert [leaf.gradient.values for leaf in leaves(graph) if leaf.gradient is not None] == ["[2, 2]"]
    assert w.grad is None


def test_recorder_tells_lines_and_inputs() -> None:
    """A recorder that looked at inputs gives them, with lines."""
    recorder = Recorder(CaptureOptions(data=True))
    code = "x = torch.ones(2)\ny = torch.ones(2, requires_grad=True) * x"
    recorder.add_block("<b>", 0, code)
    namespace: dict[str, object] = {"torch": torch}
    with recorder:
        exec(compile(code, "<b>", "exec"), namespace)  # noqa: S102 -- the code above

    graph = capture({"y": namespace["y"]}, recorder=recorder, namespace=namespace)

    assert [box.names for box in data(graph)] == [("x",)]
    assert [run.times for run in graph.lines] == [1, 1]


def test_no_graph_is_an_exception() -> None:
    """If no value has a graph, the exception says why for each."""
    with pytest.raises(NoGraphError) as caught:
        capture({"x": torch.ones(2), "n": None})

    assert [reason.split()[0] for reason in caught.value.reasons] == ["`x`", "`n`"]
    assert "`x` does not require grad" in str(caught.value)


def test_nothing_to_capture() -> None:
    """Without any value there is nothing to capture."""
    with pytest.raises(NoGraphError, match="there is no value to capture"):
        capture({})


def test_value_without_graph_beside_others_is_a_warning() -> None:
    """A value without a graph beside others is told as a warning at the caller's line."""
    w = torch.ones(2, requires_grad=True)

    with pytest.warns(UserWarning, match="`x` does not require grad") as caught:
        graph = capture({"y": w * 2, "x": torch.ones(2)})

    assert [warning.filename for warning in caught] == [__file__]
    assert [output.name for output in graph.outputs] == ["y"]


def test_unknown_attribute() -> None:
    """Any other attribute of the package is an `AttributeError`."""
    with pytest.raises(AttributeError, match="no attribute `missing`"):
        _ = sphinx_graphviz_autograd.missing


def test_without_torch_it_says_what_to_install() -> None:
    """Where PyTorch is missing, the interface says what to install, and the package itself can be imported."""
    code = "import sys; sys.modules['torch'] = None; import sphinx_graphviz_autograd; sphinx_graphviz_autograd.capture"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "TorchNotFoundError: capturing needs PyTorch: `pip install" in done.stderr
