"""Results on disk: when they are written, what is kept of them, and when they are stale."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sphinx_graphviz_autograd.execution.session import (
    BlockResult,
    Drawing,
    Failure,
    Figure,
    Session,
    SessionResult,
    Snippet,
    Text,
    block_keys,
)
from sphinx_graphviz_autograd.execution.staleness import Finding, Present, Stale, findings, staleness
from sphinx_graphviz_autograd.execution.store import Stored, StoreError, load, prune, save, stored_docnames
from sphinx_graphviz_autograd.model import Edge, Graph, Leaf, Output, Place, TensorMeta

GRAPH = Graph((Output("n0", "w", TensorMeta((2,))), Leaf("n1", TensorMeta((2,)))), (Edge("n1", "n0", "output"),))
RESULT = SessionResult(
    (
        BlockResult((Text("stdout", "1\n"),)),
        BlockResult(figures=(Figure("w", GRAPH), Figure("d", Drawing("digraph {}")))),
    ),
    None,
    {"python": f"{sys.version_info.major}.{sys.version_info.minor}"},
    {},
)
FAILED = SessionResult((BlockResult(),), Failure("execution", 0, Place(0, 1), "ValueError: bad"))


def session(name: str = "", *codes: str, docname: str = "guide/page") -> Session:
    """Return a session of a page."""
    return Session(docname, name, "/docs/guide", "/docs", tuple(Snippet(code) for code in codes or ("print(1)", "w")))


def test_what_is_stored_comes_back(tmp_path: Path) -> None:
    """Results of several sessions come back as they were, in the order of the document."""
    sessions = [session("b"), session("a", "x")]
    other = replace(RESULT, blocks=(BlockResult(expected="KeyError: 'x'"),))

    assert save(tmp_path, "guide/page", sessions, {"a": other, "b": RESULT})
    assert [(stored.name, stored.result, stored.keys) for stored in load(tmp_path, "guide/page")] == [
        ("b", RESULT, block_keys(sessions[0])),
        ("a", other, block_keys(sessions[1])),
    ]
    assert stored_docnames(tmp_path) == ["guide/page"]


def test_a_file_is_made_to_be_read(tmp_path: Path) -> None:
    """A stored graph has a line for each node and edge, so that a difference shows what changed."""
    save(tmp_path, "page", [session()], {"": RESULT})
    lines = (tmp_path / "page.autograd.json").read_text().splitlines()

    assert '{"id": "n1", "meta": {"shape": [2]}, "type": "Leaf"}' in lines
    assert '{"kind": "output", "source": "n1", "target": "n0"}' in lines
    assert '"schema": 1,' in lines


def test_what_does_not_change_is_not_written(tmp_path: Path) -> None:
    """A file is written only if its bytes change, so that its time does not either."""
    save(tmp_path, "page", [session()], {"": RESULT})
    path = tmp_path / "page.autograd.json"
    os.utime(path, (1, 1))

    assert not save(tmp_path, "page", [session()], {"": RESULT})
    assert not save(tmp_path, "page", [session()], {})
    assert path.stat().st_mtime == 1


def test_failures_are_not_stored(tmp_path: Path) -> None:
    """A failed session leaves no file; a result that fits its present code is kept nevertheless."""
    assert not save(tmp_path, "page", [session()], {"": FAILED})
    assert stored_docnames(tmp_path) == []

    save(tmp_path, "page", [session()], {"": RESULT})
    assert not save(tmp_path, "page", [session()], {"": FAILED})
    assert save(tmp_path, "page", [session("", "new")], {"": FAILED})
    assert load(tmp_path, "page") == ()
    assert stored_docnames(tmp_path) == []


def test_what_belongs_to_nothing_is_dropped(tmp_path: Path) -> None:
    """When a document is saved, sessions that are no more, or have other code, are dropped, and the others kept."""
    old = [session("kept"), session("changed"), session("gone")]
    save(tmp_path, "page", old, {one.name: RESULT for one in old})
    save(tmp_path, "page", [session("kept"), session("changed", "new"), session("added")], {"added": RESULT})

    assert [stored.name for stored in load(tmp_path, "page")] == ["kept", "added"]


def test_files_of_no_document_are_pruned(tmp_path: Path) -> None:
    """Files of documents that are no more go, with folders that get empty and what a killed build has left."""
    for docname in ("page", "old/deep/page", "old/page"):
        save(tmp_path, docname, [session()], {"": RESULT})
    (tmp_path / "notes.json").write_text("{}")
    (tmp_path / "page.autograd.json.new").write_text("half")

    assert prune(tmp_path, ["page", "old/page"]) == ["old/deep/page"]
    assert prune(tmp_path / "nowhere", []) == []
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == [
        "notes.json",
        "old",
        "old/page.autograd.json",
        "page.autograd.json",
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is no JSON (Expecting value: line 1 column 1 (char 0)): it is replaced"),
        (b"\xff", "cannot be read: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
        (b'{"nodes": []}', "is not one of this extension: it is replaced"),
        (b"[]", "is not one of this extension: it is replaced"),
        (
            b'{"format": "autograd-graph results", "schema": 2, "pages": {}}',
            "was written by a newer release of this extension: it is replaced",
        ),
        (
            b'{"format": "autograd-graph results", "schema": 2, "sessions": []}',
            "was written by a newer release of this extension: it is replaced",
        ),
        (
            b'{"format": "autograd-graph results", "schema": 0, "sessions": []}',
            "was written by an older release of this extension: it is replaced",
        ),
        (
            b'{"format": "autograd-graph results", "schema": 1, "sessions": [{"name": 5}]}',
            "is damaged (at `_Document.sessions[0].name`: str expected, found 5): it is replaced",
        ),
        (b"[" * 100_000, "is no JSON (it is nested too deeply): it is replaced"),
    ],
)
def test_a_file_that_is_no_good_is_told_and_replaced(tmp_path: Path, content: bytes, problem: str) -> None:
    """A file that is corrupt, foreign or of another release is an error that says so, and saving puts it right."""
    (tmp_path / "page.autograd.json").write_bytes(content)
    with pytest.raises(StoreError) as raised:
        load(tmp_path, "page")

    assert str(raised.value) == f"the file of stored results `page.autograd.json` {problem}"
    assert save(tmp_path, "page", [session()], {"": RESULT})
    assert load(tmp_path, "page")[0].result == RESULT


def test_a_half_written_file_is_no_good(tmp_path: Path) -> None:
    """A file with its end cut off, or with the marks of a merge conflict, is never half believed."""
    save(tmp_path, "page", [session()], {"": RESULT})
    path = tmp_path / "page.autograd.json"
    text = path.read_text()
    for damaged in (text[:-20], text.replace('"schema": 1,', '<<<<<<< HEAD\n"schema": 1,')):
        path.write_text(damaged)
        with pytest.raises(StoreError, match="is no JSON"):
            load(tmp_path, "page")


def test_a_store_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """If the folder of the store cannot be made or written, the error names the file and the cause, not the folder."""
    (tmp_path / "store").touch()
    with pytest.raises(StoreError) as raised:
        save(tmp_path / "store", "page", [session()], {"": RESULT})

    assert str(raised.value) == "the file of stored results `page.autograd.json` cannot be written: File exists"


WRITER = """
import sys
from pathlib import Path
from sphinx_graphviz_autograd.execution.session import BlockResult, Session, SessionResult, Snippet
from sphinx_graphviz_autograd.execution.store import load, save

folder, own = sys.argv[1:]
sessions = [Session("page", name, "", "", (Snippet("x" * 10000),)) for name in "abcdefgh"]
for name in own:
    save(Path(folder), "page", sessions, {name: SessionResult((BlockResult(expected=name * 10000),))})
    load(Path(folder), "page")
"""


def test_two_builds_at_once_lose_nothing(tmp_path: Path) -> None:
    """Processes that save results of one document at the same time end up with those of all."""
    root = Path(__file__).parents[2]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), own], cwd=root) for own in ("aceg", "bdfh")
    ]

    assert [writer.wait() for writer in writers] == [0, 0]
    assert [stored.name for stored in load(tmp_path, "page")] == list("abcdefgh")
    assert [path.name for path in tmp_path.iterdir()] == ["page.autograd.json"]


def test_a_killed_writer_leaves_a_whole_file(tmp_path: Path) -> None:
    """A process that is killed while it saves over and over leaves a file that can be read and replaced."""
    root = Path(__file__).parents[2]
    for _ in range(5):
        command = [sys.executable, "-c", WRITER, str(tmp_path), "abcdefgh" * 1000]
        with subprocess.Popen(command, cwd=root) as writer:
            while not (tmp_path / "page.autograd.json").exists():
                assert writer.poll() is None
            writer.kill()
        found = load(tmp_path, "page")
        assert found
        assert all(one.blocks[0].expected == one.name * 10000 for one in found)

    assert save(tmp_path, "page", [session("new", docname="page")], {"new": RESULT})
    prune(tmp_path, ["page"])
    assert [path.name for path in tmp_path.iterdir()] == ["page.autograd.json"]


def stored(**changes: object) -> Stored:
    """Return a stored session that fits `session()`, with some fields changed."""
    fresh = Stored("", block_keys(session()), RESULT.blocks, RESULT.environment)
    return replace(fresh, **changes)  # type: ignore[arg-type]  # tests change fields of several types


@pytest.mark.parametrize(
    ("found", "stale"),
    [
        (stored(), None),
        (None, Stale("missing", "nothing is stored")),
        (stored(keys=("0", "1")), Stale("code", "block 1, the prelude or the settings changed")),
        (stored(keys=(block_keys(session())[0], "1")), Stale("code", "block 2 changed")),
        (stored(keys=block_keys(session())[:1]), Stale("code", "1 blocks -> 2")),
        (stored(environment={"python": "2.7"}), Stale("environment", f"python 2.7 -> {RESULT.environment['python']}")),
        (stored(environment={"no-such-thing": "1.0"}), Stale("environment", "no-such-thing 1.0 -> not installed")),
        (stored(dependencies={"helper.py": "0"}), Stale("dependency", "`helper.py` changed")),
        (stored(dependencies={"gone.py": "0"}), Stale("dependency", "`gone.py` is missing")),
    ],
)
def test_what_is_stale_says_why(tmp_path: Path, found: Stored | None, stale: Stale | None) -> None:
    """A stored result is stale if code, packages or files of the project are others now, and says which."""
    (tmp_path / "helper.py").touch()

    assert staleness(session(), found, Present(tmp_path)) == stale


def test_a_file_that_is_as_it_was_is_no_reason(tmp_path: Path) -> None:
    """Files count by what is in them, not by their times."""
    (tmp_path / "data.csv").touch()
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    found = stored(dependencies={"docs/../data.csv": empty, "data.csv": empty})
    (tmp_path / "docs").mkdir()

    assert staleness(session(), found, Present(tmp_path)) is None


def test_a_check_finds_all_that_is_wrong(tmp_path: Path) -> None:
    """Stale, missing, orphaned and damaged results are found, by document and session."""
    good, gone = session("good", docname="a"), session("gone", docname="a")
    save(tmp_path, "a", [good, gone], {"good": RESULT, "gone": RESULT})
    save(tmp_path, "orphan", [session("", docname="orphan")], {"": RESULT})
    (tmp_path / "bad.autograd.json").write_text("")
    sessions = [good, session("new", docname="a"), session("", docname="b"), session("", docname="bad")]

    assert findings(tmp_path, sessions, Present(tmp_path)) == [
        Finding("a", "new", "nothing is stored"),
        Finding("a", "gone", "no block belongs to it any more"),
        Finding("b", "", "nothing is stored"),
        Finding(
            "bad",
            "",
            "the file of stored results `bad.autograd.json` is no JSON "
            "(Expecting value: line 1 column 1 (char 0)): it is replaced",
        ),
        Finding("orphan", "", "no block belongs to it any more"),
    ]
    assert findings(tmp_path / "nowhere", [good], Present(tmp_path)) == [Finding("a", "good", "nothing is stored")]


def test_a_stored_file_names_no_folder(tmp_path: Path) -> None:
    """Neither the folder of the document nor that of the store is in the file."""
    save(tmp_path, "guide/page", [session()], {"": RESULT})
    data = json.loads((tmp_path / "guide" / "page.autograd.json").read_text())

    assert "/docs" not in json.dumps(data)
    assert str(tmp_path) not in json.dumps(data)
