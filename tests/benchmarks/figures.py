"""Whole figures, from capturing to SVG: how long they take, and how many boxes they have."""

from __future__ import annotations

import gzip
import subprocess
import time
from typing import TYPE_CHECKING, Final

from sphinx_graphviz_autograd.drawing import layout, svg
from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.passes import View, apply
from tests.benchmarks import models
from tests.benchmarks.capturing import captured, dot_text, place, torchviz_dot
from tests.benchmarks.measuring import Row, fastest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sphinx_graphviz_autograd.tracing.record import Recorder
    from tests.benchmarks.measuring import Scale

_LARGE: Final = {
    "12-layer TransformerEncoder": models.TRANSFORMER,
    "16-block ResNet": models.RESNET,
    "GPT-2 with 12 layers": models.GPT,
}


def recurrent_rows(scale: Scale) -> Iterator[Row]:
    """Draw recurrent networks with shared weights, against `dot` on torchviz's DOT text."""
    namespace, recorder = models.recorded(models.SHARED.format(nodes=scale.steps))
    [ours] = fastest(scale.rounds, lambda: _picture(namespace, recorder))
    theirs = _seconds_of_dot(str(torchviz_dot(namespace)), scale.limit)
    spent = f"{theirs:.0f} s" if theirs < scale.limit else f"more than {scale.limit:.0f} s, when it was stopped"
    yield Row(
        f"figure of a recurrent network of {scale.steps} steps, from capturing to SVG",
        "`dot` on torchviz's DOT text",
        f"{theirs / ours:.0f} times as fast{' at least' * (theirs >= scale.limit)}: {ours:.3f} s against {spent}",
        "200 times as fast",
        theirs >= 200 * ours,
    )
    namespace, recorder = models.recorded(models.SHARED.format(nodes=scale.long))
    [ours] = fastest(scale.rounds, lambda: _picture(namespace, recorder))
    boxes = len(apply(captured(namespace, recorder), View()).nodes)
    yield Row(
        f"the same of {scale.long:,} steps",
        "",
        f"{ours:.2f} s, {boxes} boxes",
        "at most 1 s and 60 boxes",
        ours <= 1 and boxes <= 60,
    )


def layout_rows(scale: Scale) -> Iterator[Row]:
    """Draw large networks in the default view."""
    for name, code in _LARGE.items():
        namespace, recorder = models.recorded(code)
        view = View()
        drawn = apply(captured(namespace, recorder), view)
        dot = to_dot(drawn, view, place)
        engine = layout.engine()
        [seconds] = fastest(scale.rounds, lambda: layout.lay_out(dot, engine, "svg", 60))  # noqa: B023 - runs at once
        yield Row(
            f"default view of a {name}",
            "",
            f"{len(drawn.nodes)} boxes, laid out in {seconds:.2f} s",
            "at most 100 boxes and 0.3 s",
            len(drawn.nodes) <= 100 and seconds <= 0.3,
        )
        yield _size(layout.lay_out(dot, engine, "svg", 60).data, len(drawn.nodes))


def _size(theirs: bytes, boxes: int) -> Row:
    """Compare the picture that stands in a page with the one that Graphviz wrote."""
    ours = svg.inline(theirs, prefix="autograd-1", title="Autograd graph of loss", description="").encode()
    zipped = [len(gzip.compress(picture, mtime=0)) / boxes for picture in (ours, theirs)]
    return Row(
        "size of the same in a page",
        "the SVG that Graphviz wrote",
        f"{len(ours) / len(theirs):.2f} times its bytes; gzipped {zipped[0]:.0f} bytes a box against {zipped[1]:.0f}",
        "at most 1.3 times",
        len(ours) <= 1.3 * len(theirs),
    )


def _picture(namespace: Mapping[str, object], recorder: Recorder) -> bytes:
    return layout.lay_out(dot_text(namespace, recorder), layout.engine(), "svg", 60).data


def _seconds_of_dot(dot: str, limit: float) -> float:
    """Return how long `dot` takes, or the limit at which it was stopped."""
    start = time.perf_counter()
    try:
        subprocess.run(["dot", "-Tsvg"], input=dot.encode(), stdout=subprocess.DEVNULL, timeout=limit, check=True)  # noqa: S607 - Graphviz, wherever it is
    except subprocess.TimeoutExpired:
        return limit
    return time.perf_counter() - start
