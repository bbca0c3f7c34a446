"""Links to the pages that describe PyTorch's operations: by the inventory that intersphinx has, and else none."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from tests.sphinxext.sites import build, document_torch

if TYPE_CHECKING:
    from pathlib import Path

PAGE = """\
Page
====

.. autograd-graph:: y

   import torch
   import torch.nn.functional as F
   class Mul(torch.autograd.Function):
       @staticmethod
       def forward(ctx, x):
           return x * 2
       @staticmethod
       def backward(ctx, grad):
           return grad * 2
   w = torch.ones(2, 3, requires_grad=True)
   y = F.gelu(Mul.apply(w * w)).view(6).sin().sum()
"""

DESCRIBED = ("torch.mul", "torch.sum", "torch.nn.functional.gelu", "torch.Tensor.view")


def links(html: str) -> list[tuple[str, str]]:
    """Return the links in the column of operations."""
    return sorted(re.findall(r'<td><a href="([^"#][^"]*)">(\w+)</a>', html))


def test_operations_are_linked_by_the_inventory_of_pytorch(tmp_path: Path) -> None:
    """To what it describes, from any page; when it changes, pages are written again; without it there are no links."""
    source = tmp_path / "source"
    (source / "deep").mkdir(parents=True)
    (source / "index.rst").write_text(PAGE + "\n.. toctree::\n\n   deep/page\n", encoding="utf-8")
    (source / "deep" / "page.rst").write_text(PAGE, encoding="utf-8")
    conf = source / "conf.py"
    shutil.copy(document_torch(tmp_path / "torch", *DESCRIBED), source / "torch.inv")

    conf.write_text('extensions = ["sphinx_graphviz_autograd"]\n', encoding="utf-8")
    alone = build(source, "-nW")
    without = [links(alone.page(name)) for name in ("index.html", "deep/page.html")]
    conf.write_text(
        'extensions = ["sphinx_graphviz_autograd", "sphinx.ext.intersphinx"]\n'
        'intersphinx_mapping = {"torch": ("https://example.org/t", "torch.inv")}\n',
        encoding="utf-8",
    )
    far = build(source, "-nW")
    absolute = [links(far.page(name)) for name in ("index.html", "deep/page.html")]
    conf.write_text(conf.read_text(encoding="utf-8").replace("https://example.org/t", "elsewhere"), encoding="utf-8")
    near = build(source, "-nW")
    relative = [links(near.page(name)) for name in ("index.html", "deep/page.html")]

    assert [built.status for built in (alone, far, near)] == [0, 0, 0]
    assert without == [[], []]
    pages = [f"generated/{name}.html#{name}" for name in sorted(DESCRIBED, key=str.lower)]
    assert sorted(address for address, _ in absolute[0]) == sorted(f"https://example.org/t/{page}" for page in pages)
    assert absolute[0] == absolute[1]
    assert [operation for _, operation in absolute[0]].count("mul") == 1
    assert sorted(address for address, _ in relative[0]) == sorted(f"elsewhere/{page}" for page in pages)
    assert sorted(address for address, _ in relative[1]) == sorted(f"../elsewhere/{page}" for page in pages)
