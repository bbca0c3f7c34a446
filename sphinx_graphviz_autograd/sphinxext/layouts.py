"""Layouts made once: a cache under the doctrees, keyed by DOT text, engine, its version and the format."""

from __future__ import annotations

import hashlib
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.drawing import layout
from sphinx_graphviz_autograd.drawing.layout import Picture
from sphinx_graphviz_autograd.errors import LayoutFailedError, LayoutTimeoutError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from sphinx_graphviz_autograd.drawing.layout import Engine, Format


@dataclass(slots=True)
class Layouts:
    """The layouts of one build."""

    folder: Path
    """Where they are kept."""
    engine: Engine
    """What lays out."""
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
        key = self._key(dot, format_)
        if key in self._failed:
            raise self._failed[key]
        path = self.folder / f"{key}.{format_}"
        if path.is_file():
            return Picture(path.read_bytes())
        try:
            picture = layout.lay_out(dot, self.engine, format_, self.timeout)
        except (LayoutFailedError, LayoutTimeoutError) as error:
            self._failed[key] = error
            raise
        if not picture.note:  # one with a note is made anew in each build, so that its warning comes again
            write(path, picture.data)
        return picture

    def make(self, wanted: Iterable[tuple[str, Format]], jobs: int) -> None:
        """Make layouts beforehand, several at a time; what fails is told when it is asked for."""
        with ThreadPoolExecutor(jobs) as threads:
            for _ in threads.map(self._try, wanted):
                pass

    def _try(self, wanted: tuple[str, Format]) -> None:
        try:
            self.get(*wanted)
        except (LayoutFailedError, LayoutTimeoutError):
            return  # it is remembered, and raised again for whoever needs the picture

    def _key(self, dot: str, format_: Format) -> str:
        parts = (self.engine.name, self.engine.version, format_, dot)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


def write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, and not if it has these bytes already."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)  # noqa: PTH105 - `temporary` is a plain string
    except BaseException:
        os.unlink(temporary)  # noqa: PTH108 - likewise
        raise
