"""The picture of the README: made by the package itself, and kept in `docs/_static`.

`python -m tests.overview` makes it anew; a test sees to it that it is the one that the present code makes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing import passes, text
from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.layout import engine, lay_out
from sphinx_graphviz_autograd.drawing.svg import standalone
from sphinx_graphviz_autograd.tracing.capture import capture
from sphinx_graphviz_autograd.tracing.record import Recorder

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.model import Place

PICTURE = Path(__file__).parents[1] / "docs" / "_static" / "overview.svg"

CODE = """\
import torch
b = torch.randn(1, requires_grad=True)
w = torch.randn(1, requires_grad=True)
x_train, y_train = torch.randn(80, 1), torch.randn(80, 1)
yhat = b + w * x_train
loss = ((yhat - y_train) ** 2).mean()
"""


def make() -> str:
    """Return the picture as SVG that is complete by itself, light and dark."""
    recorder = Recorder()
    recorder.add_block("<overview>", 0, CODE)
    namespace: dict[str, object] = {}
    with recorder:
        exec(compile(CODE, "<overview>", "exec"), namespace)  # noqa: S102 - it is the code above
    graph = capture({"loss": namespace["loss"]}, recorder=recorder, namespace=namespace).graph
    assert graph is not None
    view = passes.View(direction="LR")
    drawn = passes.apply(graph, view)
    picture = lay_out(to_dot(drawn, view, _words), engine("graphviz-pure"), "svg", 20)
    return standalone(picture.data, title="Autograd graph of loss", description=text.sentence(drawn))


def _words(place: Place) -> str:
    return f"line {place.line}"


if __name__ == "__main__":
    PICTURE.write_text(make(), encoding="utf-8")
