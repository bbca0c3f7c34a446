"""Capturing for callers of the Python interface: a graph, or an exception that says why there is none."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.errors import NoGraphError
from sphinx_graphviz_autograd.model import CaptureOptions
from sphinx_graphviz_autograd.tracing import capture as capturing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx_graphviz_autograd.model import Graph
    from sphinx_graphviz_autograd.tracing.record import Recorder


def capture(
    values: Mapping[str, object],
    *,
    namespace: Mapping[str, object] | None = None,
    recorder: Recorder | None = None,
    gradients: bool = False,
) -> Graph:
    """Return the autograd graph behind tensors, as plain data.

    `values` maps names to tensors, or to tuples, lists, dicts and dataclasses of tensors, each of which is an output of
    the graph. Leaves and functions are called as the variables in `namespace` are, for example `globals()`, and as
    the parameters of its modules are. Lines, modules and inputs without gradient come from the `recorder` under which
    the code ran. With `gradients`, a backward pass is run that leaves `.grad` alone.

    Capturing changes nothing: the graph can be used afterwards as before.

    Raises:
        NoGraphError: none of the values has a graph; the exception says why.

    Warns:
        UserWarning: one of the values has no graph while others have, or the gradients could not be computed.
    """
    options = CaptureOptions(data=recorder is not None and recorder.options.data, gradients=gradients)
    captured = capturing.capture(values, recorder=recorder, namespace=namespace, options=options)
    if captured.graph is None:
        raise NoGraphError([refusal.message() for refusal in captured.refusals])
    for refusal in captured.refusals:
        warnings.warn(refusal.message(), stacklevel=2)
    return captured.graph
