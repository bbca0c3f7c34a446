"""Results on disk: one JSON file for each document, the same bytes on every machine, made to be committed and read.

What failed is never stored. A file that is corrupt, or of another release, is as good as none, and gets replaced.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from sphinx_graphviz_autograd.codec import CodecError, from_json, rows, to_json
from sphinx_graphviz_autograd.errors import AutogradGraphError
from sphinx_graphviz_autograd.execution.locking import locked
from sphinx_graphviz_autograd.execution.session import BlockResult, Session, SessionResult, block_keys

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

SCHEMA: Final = 1
"""Raised when the files change in a way that an older or newer release cannot read."""

SUFFIX: Final = ".autograd.json"
"""What the names of our files end in, so that nobody else's is ever touched."""

_FORMAT: Final = "autograd-graph results"


@dataclass(frozen=True, slots=True)
class Stored:
    """The stored results of one session."""

    name: str
    """The session's name."""
    keys: tuple[str, ...] = field(metadata=rows())
    """The code key of each block."""
    blocks: tuple[BlockResult, ...] = field(metadata=rows())
    """What came of each block."""
    environment: dict[str, str] = field(default_factory=dict, metadata=rows())
    """As in `SessionResult`."""
    dependencies: dict[str, str] = field(default_factory=dict, metadata=rows())
    """As in `SessionResult`."""

    @property
    def result(self) -> SessionResult:
        """What came of the session."""
        return SessionResult(self.blocks, None, self.environment, self.dependencies)


@dataclass(frozen=True, slots=True)
class _Document:
    """The content of a file."""

    format: Literal["autograd-graph results"]
    """What the file is."""
    schema: int
    """How it is laid out."""
    sessions: tuple[Stored, ...] = field(metadata=rows())
    """The sessions, in the order of the document."""


class StoreError(AutogradGraphError):
    """Raised when a file of stored results cannot be read or written; nothing is lost but the time to run again."""

    def __init__(self, docname: str, problem: str) -> None:
        self.docname = docname
        self.problem = problem
        super().__init__(f"the file of stored results `{docname}{SUFFIX}` {problem}")


def load(store: Path, docname: str) -> tuple[Stored, ...]:
    """Return what is stored for a document, in its order; nothing if there is no file.

    Raises:
        StoreError: the file is corrupt, foreign, or of another release.
    """
    return load_with_digest(store, docname)[0]


def load_with_digest(store: Path, docname: str) -> tuple[tuple[Stored, ...], str]:
    """Return what is stored for a document, as `load` does, and a digest of it; an empty one if there is no file.

    Raises:
        StoreError: as for `load`.
    """
    try:
        text = _path(store, docname).read_text(encoding="utf-8")
    except FileNotFoundError:
        return (), ""
    except (OSError, ValueError) as error:
        raise StoreError(docname, f"cannot be read: {_words(error)}") from error
    try:
        document = from_json(_Document, text)
    except CodecError as error:
        raise StoreError(docname, _what_is_wrong(text, error)) from error
    if document.schema != SCHEMA:
        raise StoreError(docname, _other_release(document.schema))
    return document.sessions, hashlib.sha256(text.encode()).hexdigest()


def save(store: Path, docname: str, sessions: Sequence[Session], results: Mapping[str, SessionResult]) -> bool:
    """Store new results of a document, and keep those of its other sessions that belong to their present code.

    What belongs to other code, or to no session any more, is dropped. The file is replaced as a whole, and only if it
    changes, so that it is complete at any moment; another build that does the same at the same time loses nothing.

    Args:
        store: the folder of the store; made if it is not there.
        docname: the document.
        sessions: all its sessions.
        results: new results, by the names of their sessions; what failed is not stored.

    Returns:
        Whether the file was changed.

    Raises:
        StoreError: the file cannot be written.
    """
    path = _path(store, docname)
    try:
        store.mkdir(parents=True, exist_ok=True)
        with locked(store):
            kept = _merged(_readable(store, docname), sessions, results)
            if kept:
                return _replace(path, to_json(_Document("autograd-graph results", SCHEMA, kept)).encode())
            return _remove(path)
    except OSError as error:
        raise StoreError(docname, f"cannot be written: {_words(error)}") from error


def stored_docnames(store: Path) -> list[str]:
    """Return the names of the documents that have a file, sorted."""
    return sorted(
        path.relative_to(store).as_posix().removesuffix(SUFFIX) for path in store.rglob(f"*{SUFFIX}") if path.is_file()
    )


def prune(store: Path, docnames: Collection[str]) -> list[str]:
    """Remove the files of all other documents than these, and what an interrupted build has left; return their names.

    Raises:
        StoreError: a file cannot be removed.
    """
    if not store.is_dir():
        return []
    orphans = [docname for docname in stored_docnames(store) if docname not in docnames]
    with locked(store):  # while it is held, nobody is writing: what is unfinished is left over
        for path in [*(_path(store, docname) for docname in orphans), *store.rglob(f"*{SUFFIX}.new")]:
            try:
                _remove(path)
            except OSError as error:
                raise StoreError(path.name.partition(SUFFIX)[0], f"cannot be removed: {_words(error)}") from error
            for folder in path.relative_to(store).parents[:-1]:
                with contextlib.suppress(OSError):  # it is not empty
                    (store / folder).rmdir()
    return orphans


def _path(store: Path, docname: str) -> Path:
    return store / f"{docname}{SUFFIX}"


def _readable(store: Path, docname: str) -> tuple[Stored, ...]:
    try:
        return load(store, docname)
    except StoreError:
        return ()


def _merged(
    before: Sequence[Stored], sessions: Sequence[Session], results: Mapping[str, SessionResult]
) -> tuple[Stored, ...]:
    known = {stored.name: stored for stored in before}
    merged = []
    for session in sessions:
        keys = block_keys(session)
        result = results.get(session.name)
        if result is not None and result.failure is None:
            merged.append(Stored(session.name, keys, result.blocks, result.environment, result.dependencies))
        elif session.name in known and known[session.name].keys == keys:
            merged.append(known[session.name])
    return tuple(merged)


def _replace(path: Path, content: bytes) -> bool:
    """Write a file that is not what it should be, so that there is never half a file."""
    with contextlib.suppress(FileNotFoundError):
        if path.read_bytes() == content:
            return False
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(content)
    new.replace(path)
    return True


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def _what_is_wrong(text: str, error: CodecError) -> str:
    """Say why a text is not the content of a file of ours."""
    try:
        data: object = json.loads(text)
    except (ValueError, RecursionError):
        return f"is no JSON ({error.problem}): it is replaced"
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        return "is not one of this extension: it is replaced"
    schema = data.get("schema")
    if isinstance(schema, int) and schema != SCHEMA:
        return _other_release(schema)
    return f"is damaged ({error}): it is replaced"


def _other_release(schema: int) -> str:
    age = "a newer" if schema > SCHEMA else "an older"
    return f"was written by {age} release of this extension: it is replaced"


def _words(error: Exception) -> str:
    """Word an error without the path in it, which is absolute."""
    return getattr(error, "strerror", None) or str(error)
