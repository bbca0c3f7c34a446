"""Whether stored results are those that running the code now would give, and if not, why: in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from sphinx_graphviz_autograd.execution.dependencies import file_digest, installed_version, python_version
from sphinx_graphviz_autograd.execution.session import Session, block_keys
from sphinx_graphviz_autograd.execution.store import Stored, StoreError, load, stored_docnames

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

StaleKind: TypeAlias = Literal["missing", "code", "environment", "dependency"]
"""Why stored results do not fit.

`missing`: there are none. `code`: they belong to other blocks. `environment`: other packages made them. `dependency`: a
file of the project's own that they depend on has changed. Of the last two, the results can be used where PyTorch is not
installed, as nothing better is to be had.
"""


@dataclass(frozen=True, slots=True)
class Stale:
    """Why stored results do not fit."""

    kind: StaleKind
    """The kind of reason."""
    reason: str
    """The reason in words, as `torch 2.13.0 -> 2.14.1`."""


class Present:
    """What is installed and what the project's files contain at present; each is looked up once."""

    def __init__(self, root: Path) -> None:
        """Know nothing yet; paths of files are relative to `root`, the source folder."""
        self._root = root
        self._versions = {"python": python_version()}
        self._digests: dict[str, str] = {}

    def version(self, distribution: str) -> str:
        """Return an installed version, or Python's own; empty if it is not installed."""
        if distribution not in self._versions:
            self._versions[distribution] = installed_version(distribution)
        return self._versions[distribution]

    def digest(self, file: str) -> str:
        """Return the SHA-256 of a file; empty if it cannot be read."""
        if file not in self._digests:
            self._digests[file] = file_digest(self._root / file)
        return self._digests[file]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something stored that is not as it should be."""

    docname: str
    """The document."""
    session: str
    """The name of the session; empty for the document's ordinary one, or if it is about the document."""
    problem: str
    """What is wrong, in words."""


def staleness(session: Session, stored: Stored | None, present: Present) -> Stale | None:
    """Return why the stored results of a session do not fit; None if they do."""
    if stored is None:
        return Stale("missing", "nothing is stored")
    keys = block_keys(session)
    if stored.keys != keys:
        return Stale("code", _changed_block(stored.keys, keys))
    for name, version in sorted(stored.environment.items()):
        now = present.version(name)
        if now != version:
            return Stale("environment", f"{name} {version} -> {now or 'not installed'}")
    for file, digest in sorted(stored.dependencies.items()):
        now = present.digest(file)
        if now != digest:
            return Stale("dependency", f"`{file}` {'changed' if now else 'is missing'}")
    return None


def findings(store: Path, sessions: Iterable[Session], present: Present) -> list[Finding]:
    """Return all that is stale, missing, orphaned or damaged in a store, given all sessions of the site."""
    documents: dict[str, list[Session]] = {}
    for session in sessions:
        documents.setdefault(session.docname, []).append(session)
    found = []
    for docname in sorted({*documents, *stored_docnames(store)}):
        wanted = documents.get(docname, [])
        try:
            known = {stored.name: stored for stored in load(store, docname)}
        except StoreError as error:
            found.append(Finding(docname, "", str(error)))
            continue
        for session in wanted:
            stale = staleness(session, known.pop(session.name, None), present)
            if stale is not None:
                found.append(Finding(docname, session.name, stale.reason))
        found += [Finding(docname, name, "no block belongs to it any more") for name in sorted(known)]
    return found


def _changed_block(before: tuple[str, ...], now: tuple[str, ...]) -> str:
    """Say which block is the first whose key differs."""
    for number, (old, new) in enumerate(zip(before, now, strict=False), 1):
        if old != new:
            return f"block {number} changed" if number > 1 else "block 1, the prelude or the settings changed"
    return f"{len(before)} blocks -> {len(now)}"
