"""Build a site of one page with the package as it is installed, and see that its figure is there.

Started by itself in an environment that has the wheel and nothing of the source tree: `python tests/wheel.py FOLDER`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CONF = 'extensions = ["sphinx_graphviz_autograd"]\n'

PAGE = """\
A page
======

.. autograd-graph:: yhat
   :caption: The graph of a line

   import torch

   b = torch.ones(1, requires_grad=True)
   w = torch.ones(1, requires_grad=True)
   yhat = b + w * torch.ones(80, 1)
"""


def main(folder: Path) -> None:
    """Build the page into `folder`, and leave with status 1 if Sphinx warns or the figure is not there."""
    folder.mkdir(parents=True)
    (folder / "conf.py").write_text(CONF, encoding="utf-8")
    (folder / "index.rst").write_text(PAGE, encoding="utf-8")
    # Started there, as Python would otherwise import the package from a source tree in the current folder.
    subprocess.run([sys.executable, "-m", "sphinx", "-nW", ".", "html"], cwd=folder, check=True)
    page = (folder / "html" / "index.html").read_text(encoding="utf-8")
    missing = [word for word in ("<svg", "MulBackward0", "(80, 1)", "The graph of a line") if word not in page]
    if missing:
        sys.exit(f"the page has no {', '.join(missing)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
