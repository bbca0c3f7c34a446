"""What goes wrong in one block is told at its place, in every build, and leaves the rest of the site whole."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from tests.sphinxext import sites

TOLD = {
    "abort": ["8: crash"],
    "conf": ["9: option"],
    "execution": ["13: execution"],
    "exit3": ["8: crash"],
    "exit4": ["8: crash"],
    "expect": ["5: expect", "5: expect"],
    "input": ["6: execution"],
    "name": ["4: name"],
    "no_grad": ["4: no_grad", "4: no_grad", "4: no_grad"],
    "option": ["14: option", "17: option", "18: option", "5: option", "6: option", "7: option", "8: option"],
    "output": ["4: execution"],
    "raises": ["10: raises", "5: raises"],
    "syntax": ["14: syntax", "7: syntax", "9: syntax"],
    "timeout": ["8: timeout", "9: timeout"],
}
"""The lines and subtypes of the warnings of each page; a loop is interrupted at any line of it."""

MARK = "AUTOGRAD_GRAPH_TEST"


def left_processes(mark: str) -> list[str]:
    """Return the processes that have a mark in their environment, as Linux knows them."""
    left = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={mark}".encode() in path.read_bytes():
                left.append(path.parent.name)
        except OSError:
            continue  # it has just ended, or is another user's
    return left


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source folder of the site."""
    return sites.copy("failures", tmp_path_factory.mktemp("failures"))


@pytest.fixture(scope="module")
def first(source: Path) -> sites.Built:
    """The site, built once."""
    return sites.build(source, "-W", "--keep-going", env={MARK: str(source)})


@pytest.fixture(scope="module")
def second(first: sites.Built, source: Path) -> sites.Built:
    """The site, built once more with nothing changed."""
    assert first.status == 1
    return sites.build(source, "-W", "--keep-going", "-v", "-j2", env={MARK: str(source)})


def text(page: str) -> str:
    """Return what is read of a page."""
    return html.unescape(re.sub(r"<.*?>", "", page))


def places(built: sites.Built) -> dict[str, list[str]]:
    """Return line and subtype of all our warnings, by page."""
    found: dict[str, list[str]] = {}
    errors = re.sub(r"WARNING: ([^[]*?)\[autograd", r"[autograd", built.errors)
    for page, line, subtype in re.findall(r"/source/(\w+)\.\w+:(\d+): [^\n]*?\[autograd_graph\.(\w+)\]", errors):
        found.setdefault(page, []).append(f"{line}: {subtype}")
    return {page: sorted(told) for page, told in sorted(found.items())}


def test_everything_is_told_at_its_place(first: sites.Built) -> None:
    """Every mistake and every mishap is a warning of the documented subtype, at the line to look at."""
    told = places(first)
    loop = told.pop("timeout")

    assert told == {page: lines for page, lines in TOLD.items() if page != "timeout"}
    assert len(loop) == 1
    assert loop[0] in TOLD["timeout"]


def test_told_again(first: sites.Built, second: sites.Built) -> None:
    """With nothing changed, a second build with `-W` fails as the first did, with the same warnings of each subtype."""
    assert second.status == first.status == 1
    assert second.subtypes == first.subtypes
    loops = re.compile(r"timeout.rst:\d+")
    assert [loops.sub("", line) for line in second.warnings] == [loops.sub("", line) for line in first.warnings]


def test_only_failures_run_again(second: sites.Built) -> None:
    """A second build runs the sessions that failed, and says so; of the others the results are stored."""
    ran = re.findall(r"^autograd-graph: running ([^:]*): nothing is stored$", second.log, re.MULTILINE)

    assert ran == ["abort", "execution", "exit3", "exit4", "input", "syntax", "timeout"]
    assert "0 added, 1 changed, 0 removed" in second.log  # a page that names a file that is not there is read again


def test_no_process_is_left(first: sites.Built, second: sites.Built, source: Path) -> None:
    """When the build is over, so are all workers and what they started, however they were ended."""
    assert first.status == second.status
    assert left_processes(str(source)) == []


def test_the_rest_is_complete(first: sites.Built) -> None:
    """Other pages, other sessions of the page and what was captured before are as they would be without a failure."""
    assert sites.PICTURE in first.page("fine.html")
    page = first.page("execution.html")
    figures = re.findall(r"<figure.*?</figure>", page, re.DOTALL)

    assert [sites.PICTURE in figure for figure in figures] == [True, False, False, True]
    assert "printed before" in text(page)
    assert 'File "execution.rst", line 13, in fails' in text(page)
    assert "Not run, since a block before it failed." in text(page)
    assert "<b>news" not in page


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("timeout", "the code did not end within 3 seconds (autograd_graph_timeout)"),
        ("abort", "SIGABRT"),
        ("exit3", "SystemExit: 3"),
        ("exit4", "os._exit(4)"),
        ("output", "printed more than is kept"),
        ("input", "standard input is not available"),
        ("syntax", "invalid syntax"),
        ("syntax", "code stands under the directive, after an empty line"),
        ("option", "did you mean caption?"),
        ("option", "up is none of auto, TB, BT, LR, RL"),
        ("option", "cannot read nowhere.py"),
        ("no_grad", "x does not require grad"),
        ("name", "loss is not defined"),
        ("expect", "b is not among the leaves of the graph, which are w"),
        ("raises", "announces ValueError, but the code raised nothing"),
    ],
)
def test_readers_see_it(first: sites.Built, page: str, words: str) -> None:
    """What is wrong is said in the page as well."""
    assert words in text(first.page(f"{page}.html"))


def test_what_can_be_drawn_is_drawn(first: sites.Built) -> None:
    """A wrong option, or a value without a graph among others, does not keep the rest from being drawn."""
    for page in ("option", "no_grad", "name", "expect"):
        assert sites.PICTURE in first.page(f"{page}.html")


def test_the_first_failure_ends_the_build(source: Path, tmp_path: Path) -> None:
    """With `autograd_graph_on_error = "raise"` the build stops with what would have been the warning."""
    site = sites.copy("failures", tmp_path)
    for path in site.glob("*.rst"):
        if path.stem not in {"index", "fine", "execution"}:
            path.unlink()

    built = sites.build(site, "-D", "autograd_graph_on_error=raise", env={MARK: str(tmp_path)})

    assert source.name == site.name
    assert built.status == 2
    assert "execution.rst:13: ValueError: bad <b>news</b>" in built.errors
    assert 'File "execution.rst", line 17, in <module>' in built.errors
    assert "[autograd_graph.execution]" in built.errors
    assert not (built.out / "fine.html").exists()
    assert left_processes(str(tmp_path)) == []
