"""Draw the autograd graphs of PyTorch code in Sphinx documents.

Importing the package imports neither torch nor Sphinx.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx  # noqa: TID251 - the name of a type, which nothing imports when it runs
    from sphinx.util.typing import ExtensionMetadata  # noqa: TID251 - likewise

__version__ = "0.1.0"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set the extension up; Sphinx calls this."""
    from sphinx_graphviz_autograd.sphinxext import connect  # noqa: PLC0415 - else importing the package imports Sphinx

    connect(app)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
