"""Laying out: real Graphviz, both engines, and what is done when one fails."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from sphinx_graphviz_autograd.drawing import layout
from sphinx_graphviz_autograd.drawing.dot import to_dot
from sphinx_graphviz_autograd.drawing.layout import Engine, engine, lay_out
from sphinx_graphviz_autograd.drawing.passes import View, apply
from sphinx_graphviz_autograd.errors import GraphvizNotFoundError, LayoutFailedError, LayoutTimeoutError
from tests.drawing.graphs import loss, place

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sphinx_graphviz_autograd.drawing.layout import Format

DOT = to_dot(apply(loss(), View()), View(), place)
FRAMED = "digraph {\nsubgraph cluster_0 {\na\n}\na -> b\n}\n"


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Engine]:
    """Make a program of a shell script, to stand for an engine that misbehaves."""

    def make(text: str) -> Engine:
        path = tmp_path / "engine"
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return Engine("graphviz-pure", str(path))

    return make


def test_wheel_is_preferred_and_found_off_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """`graphviz-pure` is found beside the Python that runs, whatever the path is."""
    monkeypatch.setenv("PATH", "/nowhere")

    assert engine("auto").name == "graphviz-pure"
    assert engine("graphviz-pure") == engine("auto")


def test_missing_engine_is_an_error_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `dot`, asking for it tells how to get it."""
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(GraphvizNotFoundError, match="found no `dot` to lay out the graph: install"):
        engine("dot")


@pytest.mark.parametrize(("format_", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_both_engines_draw(dot: str, format_: Format, start: bytes) -> None:
    """Each makes SVG and PNG, and PDF is made by `dot` for either."""
    for one in (engine("auto"), Engine("dot", dot)):
        picture = lay_out(DOT, one, format_, 30)

        assert picture.data.startswith(start)
        assert picture.note == ""


@pytest.mark.parametrize("format_", ["svg", "png", "pdf"])
def test_pictures_are_the_same_every_time(dot: str, format_: Format) -> None:
    """No date and no random number is in any picture."""
    for one in (engine("auto"), Engine("dot", dot)):
        assert lay_out(DOT, one, format_, 30) == lay_out(DOT, one, format_, 30)


def test_failure_is_told_with_what_graphviz_said() -> None:
    """A graph that no engine takes is one error with engine, status and message."""
    with pytest.raises(
        LayoutFailedError, match=r"`graphviz-pure` could not lay out the graph \(exit status 1\): .*syntax"
    ):
        lay_out("digraph { a ->", engine("graphviz-pure"), "svg", 30)


def test_failure_does_not_tell_of_what_is_harmless() -> None:
    """That letters cannot be measured is no cause."""
    with pytest.raises(LayoutFailedError) as caught:
        lay_out("digraph { a [label=<é>] a ->", engine("graphviz-pure"), "svg", 30)

    assert "non-ASCII" not in str(caught.value)


def test_frames_that_make_an_engine_fail_are_left_out(script: Callable[[str], Engine]) -> None:
    """If it fails on a graph with frames, it is tried without, and the picture says so."""
    fails = script("text=$(cat); case $text in *cluster*) echo overlap >&2; exit 1;; esac; echo '<svg/>'")

    picture = lay_out(FRAMED, fails, "svg", 30)

    assert picture.data == b"<svg/>\n"
    assert picture.note.startswith("laid out without frames around modules, since `graphviz-pure` could not")


def test_engine_that_fails_gives_way_to_the_other(dot: str, script: Callable[[str], Engine]) -> None:
    """If one engine fails, the other is tried, and the picture says so."""
    assert dot

    picture = lay_out(DOT, script("cat >/dev/null; exit 3"), "svg", 30)

    assert b"<svg" in picture.data
    assert picture.note.startswith(
        "laid out by `dot`, since `graphviz-pure` could not lay out the graph (exit status 3)"
    )


def test_timeout_is_an_error(script: Callable[[str], Engine]) -> None:
    """An engine that takes too long is ended, and no other is tried: a coarser view is what helps."""
    with pytest.raises(LayoutTimeoutError, match=r"within 0\.2 seconds"):
        lay_out(DOT, script("exec sleep 60"), "svg", 0.2)


def test_letters_that_the_wheel_has_not_are_drawn_by_dot(dot: str) -> None:
    """A PNG with Chinese or Japanese letters is left to `dot`, if it is there."""
    text = 'digraph { a [label="損失"] }'

    assert lay_out(text, engine("auto"), "png", 30) == lay_out(text, Engine("dot", dot), "png", 30)


def test_torchviz_fonts_are_measured_as_what_they_are() -> None:
    """The wheel has no measures for `monospace`; boxes are as wide as Courier needs."""
    text = "digraph { node [shape=box fontname={}] a [label=iiiiiiiiiiiiiiiiiiii] }"
    courier, monospace = (
        lay_out(text.replace("{}", font), engine("graphviz-pure"), "svg", 30).data for font in ("Courier", "monospace")
    )

    assert courier == monospace


def test_engines_say_their_version(dot: str) -> None:
    """The version is part of what a cache of pictures is keyed by."""
    assert "graphviz-pure" in engine("auto").version
    assert "graphviz version" in Engine("dot", dot).version


def test_frames_are_only_renamed() -> None:
    """A graph without frames is laid out by the same text, but for the names of its clusters."""
    assert layout._without_frames(FRAMED) == FRAMED.replace("cluster_0", "group_0")
