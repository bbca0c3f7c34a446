"""Two hundred sessions: what they cost the process of Sphinx, and how many run at a time."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from tests.sphinxext import sites
from tests.sphinxext.test_failures import MARK

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

PAGES, SESSIONS, JOBS = 50, 4, 2

CONF = """
import resource
extensions = [{extensions}]
autograd_graph_jobs = {jobs}

def tell_peak(app, exception):
    print("peak memory:", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, "KB")

def setup(app):
    app.connect("build-finished", tell_peak, priority=900)
"""

CODE = """
   import torch
   from pathlib import Path

   def is_ours(process):
       try:
           command, environment = ((process / name).read_bytes() for name in ("cmdline", "environ"))
       except OSError:
           return False
       return b"execution.worker" in command and MARK in environment

   print("workers:", sum(is_ours(process) for process in Path("/proc").glob("[0-9]*")))
   w = torch.randn(3, requires_grad=True)
   yhat = (w * 2).sum()
"""


def make(folder: Path, directive: str, extensions: str) -> Path:
    """Write a site of many pages with many blocks."""
    source = folder / "source"
    source.mkdir()
    (source / "conf.py").write_text(CONF.format(extensions=extensions, jobs=JOBS), encoding="utf-8")
    (source / "index.rst").write_text("Index\n=====\n\n.. toctree::\n   :glob:\n\n   page*\n", encoding="utf-8")
    code = CODE.replace("MARK", repr(f"{MARK}={folder}".encode()))
    for page in range(PAGES):
        blocks = [f".. {directive.format(session=session)}\n{code}\n" for session in range(SESSIONS)]
        (source / f"page{page}.rst").write_text(f"Page {page}\n=======\n\n" + "\n".join(blocks), encoding="utf-8")
    return source


def peak(built: sites.Built) -> int:
    """Return the peak memory of the process of Sphinx in MB."""
    found = re.search(r"peak memory: (\d+) KB", built.log)
    assert found, built.errors
    return int(found[1]) // 1024


def test_two_hundred_sessions(tmp_path: Path) -> None:
    """They cost Sphinx less than 40 MB, and never more processes than allowed, and one server, have PyTorch."""
    (tmp_path / "ours").mkdir()
    (tmp_path / "bare").mkdir()
    ours = make(tmp_path / "ours", "autograd-graph:: yhat\n   :session: {session}", "'sphinx_graphviz_autograd'")
    bare = make(tmp_path / "bare", "code-block:: python", "")

    built = sites.build(ours, "-j2", "-W", env={MARK: str(tmp_path / "ours")})
    plain = sites.build(bare, "-j2", "-W")

    assert built.status == plain.status == 0, built.errors + plain.errors
    assert peak(built) - peak(plain) < 40
    counts = [
        int(count) for page in range(PAGES) for count in re.findall(r"workers: (\d+)", built.page(f"page{page}.html"))
    ]
    assert len(counts) == PAGES * SESSIONS
    assert max(counts) <= JOBS + 1
