"""Capturing and recording, against torchviz, a bare walk, and the same code unrecorded."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Final, cast

import torch
import torchviz

from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.passes import View, apply
from sphinx_graphviz_autograd.tracing.capture import capture
from sphinx_graphviz_autograd.tracing.record import Recorder
from tests.benchmarks import models
from tests.benchmarks.measuring import Row, fastest, python

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torch.autograd.graph import Node

    from sphinx_graphviz_autograd.model import Graph, Place
    from tests.benchmarks.measuring import Scale

_MODELS: Final = {
    "chain": models.CHAIN,
    "chain that keeps tensors": models.SCALED,
    "recurrent network": models.RECURRENT,
    "perceptron": models.PERCEPTRON,
    "Transformer": models.ENCODER,
}

_BLOCK: Final = """
for _ in range({times}):
    out = net(x)
"""


def place(where: Place) -> str:
    """Say in words where a line is, as a figure does."""
    return f"line {where.line}"


def captured(namespace: Mapping[str, object], recorder: Recorder | None) -> Graph:
    """Return the graph of `loss`."""
    graph = capture({"loss": namespace["loss"]}, recorder=recorder, namespace=namespace).graph
    if graph is None:
        raise ValueError("`loss` has no graph")
    return graph


def dot_text(namespace: Mapping[str, object], recorder: Recorder) -> str:
    """Capture the graph of `loss`, apply the passes, and return the DOT text of what is drawn."""
    view = View()
    return to_dot(apply(captured(namespace, recorder), view), view, place)


def torchviz_dot(namespace: Mapping[str, object]) -> object:
    """Return torchviz's drawing of `loss`, with the names of parameters, as its users write it."""
    found = [value for value in namespace.values() if isinstance(value, torch.nn.Module)]
    names = dict(found[0].named_parameters()) if found else {"w": namespace.get("w")}
    return torchviz.make_dot(namespace["loss"], params=names if all(v is not None for v in names.values()) else None)


def walk(namespace: Mapping[str, object]) -> int:
    """Walk all nodes behind `loss`, and return how many there are."""
    root = cast("torch.Tensor", namespace["loss"]).grad_fn
    seen: set[Node] = set()
    waiting = [root] if root is not None else []
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting.extend([source for source, _ in node.next_functions if source is not None])
    return len(seen)


def capture_rows(scale: Scale) -> Iterator[Row]:
    """Capture, passes and DOT text against `torchviz.make_dot`."""
    for name, code in _MODELS.items():
        for size in scale.sizes:
            namespace, recorder = models.recorded(code.format(nodes=size))
            rounds = scale.rounds if size < 50_000 else min(scale.rounds, 3)
            ours, theirs = fastest(
                rounds,
                lambda: dot_text(namespace, recorder),  # noqa: B023 - runs in this round of the loop
                lambda: torchviz_dot(namespace),  # noqa: B023 - likewise
                clock=time.process_time,
            )
            nodes = walk(namespace)
            each = [f"{seconds / nodes * 1e6:.1f}" for seconds in (ours, theirs)]
            yield Row(
                f"capture, passes and DOT text of a {name}, {nodes:,} autograd nodes",
                "`torchviz.make_dot`",
                f"{theirs / ours:.2f} times as fast: {each[0]} µs a node against {each[1]}",
                "2 times as fast",
                theirs >= 2 * ours,
            )


def million_rows(scale: Scale) -> Iterator[Row]:
    """Capture a very long chain against a bare walk over it, each in processes of their own."""
    captures: list[dict[str, float]] = []
    walks: list[dict[str, float]] = []
    for _ in range(min(scale.rounds, 3)):
        for kind, results in (("capture", captures), ("walk", walks)):
            results.append(json.loads(python("-m", "tests.benchmarks.million", kind, str(scale.million))))
    nodes = int(walks[0]["nodes"])
    ours, bare = (min(result["seconds"] for result in results) for results in (captures, walks))
    each = [f"{seconds / nodes * 1e6:.2f}" for seconds in (ours, bare, min(result["resting"] for result in walks))]
    yield Row(
        f"capture of a chain, {nodes:,} autograd nodes",
        "a bare walk over `next_functions`",
        f"{ours / bare:.2f} times its time: {each[0]} µs a node against {each[1]}, "
        f"or {each[2]} if the garbage collector rests",
        "at most 5 times",
        ours <= 5 * bare,
    )
    kilobytes = max(result["bytes"] for result in captures) / nodes / 1024
    yield Row("memory of the same", "", f"at most {kilobytes:.2f} KB a node", "1.5 KB", kilobytes <= 1.5)


def recording_rows(scale: Scale) -> Iterator[Row]:
    """Run code recorded against the same code as it is."""
    rounds = scale.rounds * 4
    torch.set_num_threads(1)  # as in the workers that run the code of pages
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    ours, plain = _both(rounds, 3, encoder, torch.randn(1, 64, 256))
    yield Row(
        "recording a Transformer of width 256 over 64 tokens",
        "the same code, not recorded",
        f"{ours / plain:.2f} times its time",
        "at most 1.1 times",
        ours <= 1.1 * plain,
    )
    tiny = torch.nn.Sequential(*[torch.nn.Identity() for _ in range(500)])
    ours, plain = _both(rounds, 2, tiny, torch.ones(1))
    call = (ours - plain) / (2 * 501) * 1e6
    yield Row("recording a call of a module", "", f"{call:.1f} µs more", "at most 10 µs", call <= 10)
    ours, plain = _code(rounds, "for step in range(5000):\n    number = step\n    other = number\n")
    line = (ours - plain) / 15_000 * 1e6
    yield Row("recording a line", "", f"{line:.2f} µs more", "at most 3 µs", line <= 3)


def _both(rounds: int, times: int, net: torch.nn.Module, x: torch.Tensor) -> list[float]:
    return _code(rounds, _BLOCK.format(times=times), net=net, x=x)


def _code(rounds: int, code: str, **variables: object) -> list[float]:
    """Return how long a block takes that is recorded, and how long if not."""
    compiled = compile(code, "<block 0>", "exec")
    recorder = Recorder()
    recorder.add_block("<block 0>", 0, code)

    def plainly() -> None:
        exec(compiled, dict(variables))  # noqa: S102 - the code is ours

    def recording() -> None:
        with recorder:
            plainly()

    return fastest(rounds, recording, plainly, clock=time.process_time)
