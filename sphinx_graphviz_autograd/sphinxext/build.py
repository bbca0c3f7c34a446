"""One build of a site: which sessions run and when, what is warned of, and which pages are written again.

Code runs when all pages have been read, in the main process, and only for builders that write something: the others
(`linkcheck`, `dummy`, ...) leave everything as it is for the builder that comes next.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sphinx.util import logging
from sphinx.util.display import status_iterator

from sphinx_graphviz_autograd.execution.pool import Pool
from sphinx_graphviz_autograd.sphinxext import roles
from sphinx_graphviz_autograd.sphinxext.problems import ExecutionFailedError
from sphinx_graphviz_autograd.sphinxext.site import Site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_graphviz_autograd.execution.pool import Done

logger = logging.getLogger(__name__)


class Build:
    """What one run of Sphinx has beside its environment: the workers, and the site that they work for."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._pool: Pool | None = None
        self.site: Site | None = None
        """The site; None for a builder that takes no results."""

    def connect(self, app: Sphinx) -> None:
        """Listen to Sphinx."""
        app.connect("builder-inited", self._begin)
        app.connect("doctree-read", self._page_was_read)
        app.connect("env-merge-info", self._pages_were_merged)
        app.connect("env-updated", self._all_was_read)
        app.connect("build-finished", self._end)

    def _begin(self, app: Sphinx) -> None:
        self.site = Site(app) if app.builder.format else None

    def _page_was_read(self, app: Sphinx, _doctree: nodes.document) -> None:
        """Start the workers as soon as it is known that something must run, so that PyTorch is imported meanwhile."""
        if os.getpid() == self._process:  # under `-j` this is a fork, which could not use them
            self._start_early([app.env.docname])

    def _pages_were_merged(
        self, _app: Sphinx, _env: BuildEnvironment, docnames: Iterable[str], _other: BuildEnvironment
    ) -> None:
        self._start_early(docnames)

    def _start_early(self, docnames: Iterable[str]) -> None:
        if self.site and not self._pool and any(self.site.waiting(docname) for docname in docnames):
            self._start(self.site)

    def _start(self, site: Site) -> Pool:
        if not self._pool:
            self._pool = Pool(site.config.jobs or os.cpu_count() or 1, site.config.timeout, cuda=site.config.cuda)
            self._pool.start()
        return self._pool

    def _all_was_read(self, app: Sphinx, _env: BuildEnvironment) -> list[str]:
        """Run what must run, warn of what is not as it should be, and return the pages to be written again."""
        if not self.site:
            return []
        try:
            self._run(self.site, app.verbosity)
        finally:
            self._close()
        self.site.tidy()
        return list(_old_pages(self.site))

    def _run(self, site: Site, verbosity: int) -> None:
        waiting = [(run, why) for docname in site.docnames for run, why in site.waiting(docname)]
        if not waiting:
            return
        for run, why in waiting:
            logger.verbose("autograd-graph: running %s: %s", run, why)
        runs = {run.session: run for run, _ in waiting}

        def words(done: Done) -> str:
            return str(runs[done[0]])

        done = self._start(site).run(runs)
        shown = status_iterator(
            done, "running PyTorch code... ", "purple", len(waiting), verbosity, stringify_func=words
        )
        for session, result in shown:
            site.keep(runs[session], result)
            if result.failure and site.config.on_error == "raise":
                page = site.page(session.docname)
                failures = [outcome.failure for outcome in page.outcomes if outcome.failure]
                raise ExecutionFailedError(failures[0], site.root)

    def _end(self, _app: Sphinx, exception: Exception | None) -> None:
        self._close()
        if self.site and exception is None:
            self.site.note_written()

    def _close(self) -> None:
        if self._pool:
            self._pool.close()
            self._pool = None


def _old_pages(site: Site) -> Iterator[str]:
    """Issue the warnings of all pages, and yield those to be written again once their figures have been laid out."""
    for page, problems in site.checked_pages():
        for problem in problems:
            site.warn(problem)
        if site.is_old(page):
            yield page.docname
    for docname in site.mentioning:
        for problem in roles.problems(site, docname):
            site.warn(problem)
