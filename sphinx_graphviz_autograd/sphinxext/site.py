"""All pages of a site with their results, for one builder: what is to run, to warn of, to draw, and to write again."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sphinx_graphviz_autograd import __version__
from sphinx_graphviz_autograd.drawing import layout
from sphinx_graphviz_autograd.errors import GraphvizNotFoundError
from sphinx_graphviz_autograd.model import Graph
from sphinx_graphviz_autograd.sphinxext import config, figures, outcomes, pictures
from sphinx_graphviz_autograd.sphinxext.files import write
from sphinx_graphviz_autograd.sphinxext.layouts import Layouts
from sphinx_graphviz_autograd.sphinxext.ledger import open_ledger
from sphinx_graphviz_autograd.sphinxext.pages import pages
from sphinx_graphviz_autograd.sphinxext.pictures import Wanted
from sphinx_graphviz_autograd.sphinxext.problems import Problem, Subtype, warn
from sphinx_graphviz_autograd.sphinxext.references import references
from sphinx_graphviz_autograd.sphinxext.results import opened
from sphinx_graphviz_autograd.sphinxext.sessions import runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

    from sphinx_graphviz_autograd.drawing.layout import Engine
    from sphinx_graphviz_autograd.execution.session import Session, SessionResult
    from sphinx_graphviz_autograd.sphinxext.figures import Medium
    from sphinx_graphviz_autograd.sphinxext.outcomes import Outcome, Results
    from sphinx_graphviz_autograd.sphinxext.pages import Block, Mention
    from sphinx_graphviz_autograd.sphinxext.pictures import Drawn
    from sphinx_graphviz_autograd.sphinxext.references import References
    from sphinx_graphviz_autograd.sphinxext.sessions import Run

FOLDER: Final = "autograd_graph"
"""Where we keep things under the doctrees."""


class Page:
    """A page with the results of all its sessions."""

    def __init__(self, site: Site, docname: str) -> None:
        self.docname = docname
        self.blocks = site.blocks(docname)
        self.outcomes = [outcomes.of_idle(block) for block in self.blocks]
        self._sessions: dict[int, tuple[int, ...]] = {}
        self._results: dict[Session, Results] = {}
        for run in site.runs(docname):
            results = site.results.find(run.session)
            members = [self.blocks[number] for number in run.numbers]
            for number, outcome in zip(run.numbers, outcomes.of_session(members, results), strict=True):
                self.outcomes[number] = outcome
                self._sessions[number] = run.numbers
            self._results[run.session] = results
        trouble = site.results.troubles.get(docname)
        self._troubles = [Problem(Subtype.STORE, trouble, self.blocks[0].at)] if trouble else []
        self._site = site

    def digest(self) -> str:
        """Return a digest of everything that the page is made of, but for how figures look."""
        parts = [self.docname, *map(repr, self.blocks), self._site.results.digest(self.docname, self._results)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @property
    def problems(self) -> Iterator[Problem]:
        """What the author is to be warned of, in the order of the page."""
        yield from self._troubles
        for outcome in self.outcomes:
            yield from outcome.problems
            if outcome.failure:
                yield outcome.failure

    def wanted(self, number: int, expression: str = "") -> Wanted | None:
        """Return the figure of a block, or of one of its expressions, if there is a graph for it."""
        block, result = self.blocks[number], self.outcomes[number].result
        found = [one for one in result.figures if not expression or one.expression == expression] if result else []
        if not found:
            return None
        numbers = self._sessions[number]
        members = [self.blocks[one] for one in numbers]
        words = figures.place_words(members, numbers.index(number))
        lines = figures.line_ids(members, self._site.config)
        return Wanted(found[0], figures.view_of(block.options, self._site.config), words, block.at, lines)

    def unrun(self, number: int) -> list[int]:
        """Return the lines of a block that did not run, as far as the graphs of its session tell."""
        numbers = self._sessions.get(number, ())
        results = [self.outcomes[one].result for one in numbers]
        graphs = [figure.graph for result in results if result for figure in result.figures]
        times: dict[int, int] = {}
        for graph in graphs:
            for line in graph.lines if isinstance(graph, Graph) else ():
                if line.block == numbers.index(number):
                    times[line.line] = max(line.times, times.get(line.line, 0))
        return [line for line, often in sorted(times.items()) if not often]

    def all_wanted(self) -> Iterator[Wanted]:
        """Yield all figures of the page."""
        for number, block in enumerate(self.blocks):
            for expression in block.expressions if block.options.separate else ("",):
                wanted = self.wanted(number, expression)
                if wanted:
                    yield wanted


class Site:
    """The pages that have blocks, for one builder."""

    def __init__(self, app: Sphinx) -> None:
        self._app = app
        self.config = config.checked(app.config)
        self.root = Path(app.srcdir)
        self.folder = Path(app.doctreedir) / FOLDER
        store = Path(app.confdir) / self.config.store if self.config.store else self.folder / "results"
        self.results = opened(store, self.root, self.config.execute)
        self._ledger = open_ledger(self.folder / "written", app.builder)
        self._page: Page | None = None
        self._digests: dict[str, str] = {}
        self._told: set[Problem | Subtype] = set()

    @property
    def docnames(self) -> list[str]:
        """The names of the pages, in alphabetical order."""
        return sorted(pages(self._app.env).blocks)

    @property
    def mentioning(self) -> list[str]:
        """The names of the pages that use the role `autograd-node`, in alphabetical order."""
        return sorted(pages(self._app.env).mentions)

    def blocks(self, docname: str) -> list[Block]:
        """Return the blocks of a page."""
        return pages(self._app.env).blocks.get(docname, [])

    def mentions(self, docname: str) -> list[Mention]:
        """Return the uses of the role `autograd-node` of a page."""
        return pages(self._app.env).mentions.get(docname, [])

    def runs(self, docname: str) -> list[Run]:
        """Return the sessions of a page."""
        return runs(self._app.env, docname, self.blocks(docname), self.config)

    def waiting(self, docname: str) -> list[tuple[Run, str]]:
        """Return the sessions of a page that must run, and for each why."""
        return [(run, why) for run in self.runs(docname) if (why := self.results.why(run.session))]

    def keep(self, run: Run, result: SessionResult) -> None:
        """Store what came of running a session."""
        docname = run.session.docname
        self.results.keep(run.session, [one.session for one in self.runs(docname)], result)
        self._page = None
        self._digests.pop(docname, None)

    def tidy(self) -> None:
        """Take out of the store what belongs to no block any more."""
        self.results.tidy({docname: [run.session for run in self.runs(docname)] for docname in self.docnames})

    def page(self, docname: str) -> Page:
        """Return a page with its results; the last one asked for is at hand."""
        if self._page is None or self._page.docname != docname:
            self._page = Page(self, docname)
        return self._page

    def is_old(self, page: Page) -> bool:
        """Return whether a page is made of other things than when it was last written."""
        return self._ledger.before.get(page.docname) != self._digest(page)

    def checked_pages(self) -> Iterator[tuple[Page, list[Problem]]]:
        """Yield each page and what the author is to be warned of.

        The figures of pages that must be written again are laid out on the way, several at a time.
        """
        workers = os.cpu_count() or 1
        window: deque[tuple[Page, list[Future[Drawn]]]] = deque()
        with ThreadPoolExecutor(workers) as threads:
            for docname in self.docnames:
                page = self.page(docname)
                figures_ = page.all_wanted() if self.is_old(page) else ()
                window.append((page, [threads.submit(self._draw, wanted) for wanted in figures_]))
                if len(window) > 2 * workers:
                    yield _checked(*window.popleft())
            while window:
                yield _checked(*window.popleft())

    def warn(self, problem: Problem) -> None:
        """Issue a warning, unless it has been issued; that Graphviz is missing is the same for all figures."""
        key = problem.subtype if problem.subtype is Subtype.GRAPHVIZ else problem
        if key not in self._told:
            self._told.add(key)
            warn(problem, self.root)

    def note_written(self) -> None:
        """Remember what the pages that were written are made of."""
        self._ledger.save(frozenset(self.docnames))

    # what the post-transform asks for

    def block(self, docname: str, number: int) -> Block:
        """Return a block."""
        return self.page(docname).blocks[number]

    def outcome(self, docname: str, number: int) -> Outcome:
        """Return the outcome of a block, whose page is being written."""
        page = self.page(docname)
        self._ledger.written.setdefault(docname, self._digest(page))
        return page.outcomes[number]

    def drawn(self, docname: str, number: int, expression: str) -> Drawn | None:
        """Return a figure; None if there is no graph for it."""
        wanted = self.page(docname).wanted(number, expression)
        if wanted is None:
            return None
        drawn = self._draw(wanted)
        if drawn.problem:
            self._ledger.written[docname] = ""  # so that it is tried again, and warned of again
            self.warn(drawn.problem)
        return drawn

    def image(self, drawn: Drawn) -> str:
        """Give a picture to the builder as a file, and return the name under which the builder knows it."""
        data = drawn.standalone()
        ending = "svg" if drawn.medium == "inline" else drawn.medium
        name = f"autograd-graph-{hashlib.sha256(data).hexdigest()[:16]}.{ending}"
        path = self.folder / "pictures" / name
        write(path, data)
        self._app.builder.images[path.as_posix()] = name
        return path.as_posix()

    @property
    def writes_html(self) -> bool:
        """Whether pages are HTML, in an EPUB or not."""
        return self._app.builder.format == "html"

    @cached_property
    def references(self) -> References:
        """Where PyTorch's documentation describes operations."""
        return references(self._app)

    @cached_property
    def medium(self) -> Medium:
        """How the builder takes pictures."""
        return figures.medium(self._app.builder, self.config, pdf=self._pdf is not None)

    @cached_property
    def layouts(self) -> Layouts | Problem:
        """What makes layouts; a problem if nothing does."""
        try:
            engine = layout.engine(self.config.dot)
        except GraphvizNotFoundError as error:
            return Problem(Subtype.GRAPHVIZ, str(error), pages(self._app.env).blocks[self.docnames[0]][0].at)
        return Layouts(self.folder / "layouts", engine, self._pdf, self.config.layout_timeout)

    @cached_property
    def _pdf(self) -> Engine | None:
        try:
            return layout.engine("dot")
        except GraphvizNotFoundError:
            return None

    def _draw(self, wanted: Wanted) -> Drawn:
        return pictures.draw(wanted, self.medium, self.layouts)

    def _digest(self, page: Page) -> str:
        if page.docname not in self._digests:
            self._digests[page.docname] = hashlib.sha256(f"{page.digest()}{self._looks}".encode()).hexdigest()
        return self._digests[page.docname]

    @cached_property
    def _looks(self) -> str:
        """What figures depend on beside their graphs."""
        layouts = self.layouts
        engine = layouts.message if isinstance(layouts, Problem) else f"{layouts.engine.name} {layouts.engine.version}"
        links = self.references.digest if self.writes_html else ""
        return repr((__version__, self.config.looks, self.medium, engine, links))


def _checked(page: Page, figures_: list[Future[Drawn]]) -> tuple[Page, list[Problem]]:
    drawn = [figure.result() for figure in figures_]
    return page, [*page.problems, *(figure.problem for figure in drawn if figure.problem)]
