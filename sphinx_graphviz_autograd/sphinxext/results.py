"""The results of the site's sessions: what is stored, whether it may be used, and what has just been run."""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from sphinx.util import logging

from sphinx_graphviz_autograd.codec import to_json
from sphinx_graphviz_autograd.execution import store
from sphinx_graphviz_autograd.execution.staleness import Present, Stale, staleness
from sphinx_graphviz_autograd.execution.store import StoreError
from sphinx_graphviz_autograd.model import Graph
from sphinx_graphviz_autograd.sphinxext.outcomes import Absence
from sphinx_graphviz_autograd.sphinxext.problems import Subtype

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sphinx_graphviz_autograd.execution.session import Session, SessionResult
    from sphinx_graphviz_autograd.execution.store import Stored
    from sphinx_graphviz_autograd.sphinxext.outcomes import Results

_REMEMBERED: Final = 50_000
"""How many nodes of stored graphs are remembered, at about 1 KB each; after that, files are read again when needed."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class ResultsOfSite:
    """The results of all sessions, for one build."""

    folder: Path
    """Where results are stored."""
    present: Present
    """What is installed, and what the project's files contain."""
    mode: str
    """`auto`, `always` or `never`."""
    torch: bool = field(default_factory=lambda: is_installed("torch"))
    """Whether PyTorch is installed; nobody imports it here."""
    troubles: dict[str, str] = field(default_factory=dict)
    """What is wrong with the stored files, by page."""
    _loaded: dict[str, dict[str, Stored]] = field(default_factory=dict)
    """What is stored, by page and session, as far as it has been asked for and is not too much to remember."""
    _digests: dict[str, str] = field(default_factory=dict)
    """Digests of what has been loaded, by page."""
    _nodes: int = 0
    """How many nodes have been loaded."""
    _new: dict[tuple[str, str], SessionResult] = field(default_factory=dict)
    """Results of this build that are not in the store, as they failed or as it cannot be written."""
    _saved: set[str] = field(default_factory=set)
    """The pages whose files have been written in this build; they hold nothing but their sessions."""
    _ran: set[tuple[str, str]] = field(default_factory=set)
    """The sessions that ran in this build."""
    _told: set[str] = field(default_factory=set)
    """What the author was told about results that other packages made."""

    def why(self, session: Session) -> str:
        """Return why a session must run; empty if it need not, or may not."""
        if self.mode == "never" or (session.docname, session.name) in self._ran:
            return ""
        stale = self._stale(session)
        if stale is None:
            return "`autograd_graph_execute` is `always`" if self.mode == "always" and self.torch else ""
        return stale.reason if self.torch else ""

    def find(self, session: Session) -> Results:
        """Return what there is of a session once all that must run has run."""
        new = self._new.get((session.docname, session.name))
        if new is not None:
            return new
        stored = self._stored(session.docname).get(session.name)
        stale = self._stale(session)
        if stored is None or (stale is not None and stale.kind != "environment"):
            return self._absence(stale or Stale("missing", "nothing is stored"))
        if stale is not None and stale.reason not in self._told:
            self._told.add(stale.reason)
            logger.info("autograd-graph: stored results are used though other packages made them: %s", stale.reason)
        return stored.result

    def digest(self, docname: str, results: Mapping[Session, Results]) -> str:
        """Return a digest of what there is of a page's sessions, given what `find` returns for each."""
        self._stored(docname)
        new = (session for session in results if (session.docname, session.name) in self._new)
        unstored = [to_json(cast("SessionResult", results[session])) for session in new]
        absent = [repr(result) for result in results.values() if isinstance(result, Absence)]
        return hashlib.sha256("\0".join([self._digests[docname], *unstored, *absent]).encode()).hexdigest()

    def keep(self, session: Session, siblings: Sequence[Session], result: SessionResult) -> None:
        """Store what came of running a session; a failure is only kept for this build.

        `siblings` are all sessions of the page.
        """
        key = (session.docname, session.name)
        self._ran.add(key)
        self._loaded.pop(session.docname, None)
        if result.failure is not None:
            self._new[key] = result
            return
        try:
            store.save(self.folder, session.docname, siblings, {session.name: result})
            self._saved.add(session.docname)
        except StoreError as error:
            self.troubles[session.docname] = str(error)
            self._new[key] = result

    def tidy(self, sessions: dict[str, list[Session]]) -> None:
        """Take out of the store what belongs to no session any more, given the sessions of all pages."""
        if self.mode == "never":
            return
        try:
            store.prune(self.folder, sessions.keys())
            for docname, wanted in sessions.items():
                names = {session.name for session in wanted}
                if docname not in self._saved and set(self._stored(docname)) - names:
                    store.save(self.folder, docname, wanted, {})
        except StoreError as error:
            docname = error.docname if error.docname in sessions else next(iter(sessions), "")
            self.troubles.setdefault(docname, str(error))

    def _stored(self, docname: str) -> dict[str, Stored]:
        if docname not in self._loaded:
            try:
                sessions, self._digests[docname] = store.load_with_digest(self.folder, docname)
                found = {stored.name: stored for stored in sessions}
            except StoreError as error:
                self.troubles[docname] = self._digests[docname] = str(error)
                found = {}
            self._nodes += sum(_nodes(stored) for stored in found.values())
            if self._nodes > _REMEMBERED:
                self._nodes = 0
                self._loaded.clear()
            self._loaded[docname] = found
        return self._loaded[docname]

    def _stale(self, session: Session) -> Stale | None:
        return staleness(session, self._stored(session.docname).get(session.name), self.present)

    def _absence(self, stale: Stale) -> Absence:
        cause = "PyTorch is not installed" if self.mode != "never" else "`autograd_graph_execute` is `never`"
        if stale.kind == "missing":
            message = f"there is no stored result, and nothing was run, as {cause}"
            return Absence(Subtype.MISSING, f"{message}{self._advice()}")
        message = f"the stored result is stale ({stale.reason}), and nothing was run, as {cause}"
        return Absence(Subtype.STALE, f"{message}{self._advice()}")

    def _advice(self) -> str:
        return "" if self.mode == "never" else ": `pip install sphinx_graphviz_autograd[torch]`"


def is_installed(module: str) -> bool:
    """Return whether a module can be found, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except ValueError:  # `conf.py` has put something in its stead into `sys.modules`
        return importlib.machinery.PathFinder.find_spec(module) is not None


def _nodes(stored: Stored) -> int:
    """Return how many nodes the graphs of a session have."""
    graphs = [figure.graph for block in stored.blocks for figure in block.figures]
    return sum(len(graph.nodes) for graph in graphs if isinstance(graph, Graph))


def opened(folder: Path, root: Path, mode: str) -> ResultsOfSite:
    """Return the results that are stored in `folder`, for a site whose source folder is `root`."""
    return ResultsOfSite(folder, Present(root), mode)
