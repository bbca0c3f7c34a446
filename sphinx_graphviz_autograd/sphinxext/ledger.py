"""What each page was made of when it was last written, for one builder and its output folder.

Sphinx does not know that a page is old if only its results have changed, or if another builder has run in between.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sphinx_graphviz_autograd.sphinxext.files import write

if TYPE_CHECKING:
    from sphinx.builders import Builder


@dataclass(slots=True)
class Ledger:
    """The digests of pages as they were written."""

    path: Path
    """The file that keeps them."""
    before: dict[str, str]
    """By name of page, as of the last build that came to its end."""
    written: dict[str, str] = field(default_factory=dict)
    """Of the pages that this build has written; an empty digest has a page written again in the next."""

    def save(self, existing: frozenset[str]) -> None:
        """Write the file: what was written now and before, of pages that still exist."""
        digests = {docname: digest for docname, digest in (self.before | self.written).items() if docname in existing}
        if digests != self.before:
            write(self.path, (json.dumps(digests, indent=0, sort_keys=True) + "\n").encode())


def open_ledger(folder: Path, builder: Builder) -> Ledger:
    """Return the ledger of a builder; an empty one if there is none, or none that can be read."""
    where = Path(os.path.relpath(builder.outdir, folder)).as_posix()
    path = folder / f"{builder.name}-{hashlib.sha256(where.encode()).hexdigest()[:8]}.json"
    try:
        before = cast("object", json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        before = None
    return Ledger(path, cast("dict[str, str]", before) if isinstance(before, dict) else {})
