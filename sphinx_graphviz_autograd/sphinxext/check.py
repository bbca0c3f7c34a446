"""Whether the stored results of a site are those that running its code now would give. Runs nothing, writes nothing."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.application import Sphinx
from sphinx.errors import SphinxError

from sphinx_graphviz_autograd.errors import AutogradGraphError
from sphinx_graphviz_autograd.execution.staleness import Present, findings
from sphinx_graphviz_autograd.sphinxext.config import checked
from sphinx_graphviz_autograd.sphinxext.pages import Pages, pages
from sphinx_graphviz_autograd.sphinxext.sessions import runs

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.execution.staleness import Finding


class CheckError(AutogradGraphError):
    """Raised when a site cannot be checked; says why."""


def check(folder: Path) -> list[Finding]:
    """Read the documents of the site in `folder`, and return all that is stale, missing, orphaned or damaged.

    Raises:
        CheckError: the site cannot be read, does not use this extension, or has no folder of stored results.
    """
    folder = folder.resolve()
    if not (folder / "conf.py").is_file():
        raise CheckError(f"there is no `conf.py` in `{folder}`")
    with tempfile.TemporaryDirectory() as scratch:
        try:
            app = Sphinx(
                srcdir=folder,
                confdir=folder,
                outdir=Path(scratch, "out"),
                doctreedir=Path(scratch, "doctrees"),
                buildername="dummy",
                confoverrides={"nb_execution_mode": "off"},  # else MyST-NB would run notebooks while they are read
                status=None,
                warning=io.StringIO(),
            )
            if Pages.name not in app.env.domaindata:
                raise CheckError("`sphinx_graphviz_autograd` is not among the `extensions` of `conf.py`")
            app.builder.read()
        except SphinxError as error:
            raise CheckError(" ".join(str(error).split())) from error
        return _findings(app)


def _findings(app: Sphinx) -> list[Finding]:
    values = checked(app.config)
    if not values.store:
        raise CheckError("`autograd_graph_store` is not set in `conf.py`, so no results are kept beside it")
    sessions = [
        run.session
        for docname, blocks in sorted(pages(app.env).blocks.items())
        for run in runs(app.env, docname, blocks, values)
    ]
    return findings(Path(app.confdir) / values.store, sessions, Present(Path(app.srcdir)))
