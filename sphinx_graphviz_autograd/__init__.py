"""Draw the autograd graphs of PyTorch code in Sphinx documents.

Importing the package imports neither torch nor Sphinx.
"""

from __future__ import annotations

__version__ = "0.1.0"
