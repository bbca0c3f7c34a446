"""Draw the autograd graphs of PyTorch code in Sphinx documents.

Importing the package imports neither torch nor Sphinx.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx  # noqa: TID251 - the name of a type, which nothing imports when it runs
    from sphinx.util.typing import ExtensionMetadata  # noqa: TID251 - likewise

    from sphinx_graphviz_autograd.tracing.api import capture

__all__ = ["__version__", "capture", "setup"]

__version__ = "0.1.0"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set the extension up; Sphinx calls this."""
    from sphinx_graphviz_autograd.quick import collector_at_rest  # noqa: PLC0415 - else importing the package does it

    with collector_at_rest():  # which would look through all of Sphinx meanwhile, for a quarter of the time
        from sphinx_graphviz_autograd.sphinxext import connect  # noqa: PLC0415 - else the package imports Sphinx

    connect(app)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}


def __getattr__(name: str) -> object:
    """Import the Python interface when it is first used, since it needs PyTorch.

    Raises:
        TorchNotFoundError: PyTorch is not installed.
    """
    if name != "capture":
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    from sphinx_graphviz_autograd.errors import TorchNotFoundError  # noqa: PLC0415 - as in `setup`

    try:
        from sphinx_graphviz_autograd.tracing.api import capture  # noqa: PLC0415 - else the package imports PyTorch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise TorchNotFoundError from error
    return capture
