"""Layouts made once: a cache under the doctrees, keyed by DOT text, engine, its version and the format."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing import layout
from sphinx_graphviz_autograd.drawing.layout import Picture
from sphinx_graphviz_autograd.errors import LayoutFailedError, LayoutTimeoutError
from sphinx_graphviz_autograd.sphinxext.files import write

if TYPE_CHECKING:
    from pathlib import Path

    from sphinx_graphviz_autograd.drawing.layout import Engine, Format


@dataclass(slots=True)
class Layouts:
    """The layouts of one build."""

    folder: Path
    """Where they are kept."""
    engine: Engine
    """What lays out."""
    pdf: Engine | None
    """What makes PDF, if anything does."""
    timeout: float
    """How many seconds a layout may take."""
    _failed: dict[str, LayoutFailedError | LayoutTimeoutError] = field(default_factory=dict)
    """What could not be laid out in this build, by key; it is tried again in the next."""

    def get(self, dot: str, format_: Format) -> Picture:
        """Return the picture of a graph.

        Raises:
            LayoutFailedError: no engine could do it.
            LayoutTimeoutError: it took too long.
        """
        engine = self.pdf or self.engine if format_ == "pdf" else self.engine
        key = _key(dot, engine, format_)
        if key in self._failed:
            raise self._failed[key]
        path = self.folder / f"{key}.{format_}"
        note = path.with_suffix(".txt")
        if path.is_file():
            return Picture(path.read_bytes(), note.read_text(encoding="utf-8") if note.is_file() else "")
        try:
            picture = layout.lay_out(dot, engine, format_, self.timeout)
        except (LayoutFailedError, LayoutTimeoutError) as error:
            self._failed[key] = error
            raise
        if picture.note:
            write(note, picture.note.encode())
        write(path, picture.data)
        return picture


def _key(dot: str, engine: Engine, format_: Format) -> str:
    parts = (engine.name, engine.version, format_, dot)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]
