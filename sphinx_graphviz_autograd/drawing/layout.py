"""From DOT text to a picture: the only room that starts Graphviz."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from sphinx_graphviz_autograd.errors import GraphvizNotFoundError, LayoutFailedError, LayoutTimeoutError

if TYPE_CHECKING:
    from collections.abc import Iterator

EngineName: TypeAlias = Literal["graphviz-pure", "dot"]
"""The programs that can lay out a graph: the wheel's, and the system's Graphviz."""

Format: TypeAlias = Literal["svg", "png", "pdf"]
"""What a picture can be."""

_FIXED_FONT: Final = re.compile(r'\bfontname="?monospace"?')
"""The font of torchviz's drawings, by a name of which `graphviz-pure` has no measures."""

_HARMLESS: Final = re.compile("no value for width of non-ASCII character|no hard-coded metrics")
"""What `graphviz-pure` says of letters that it cannot measure; boxes have their sizes from us."""

_NAMES: Final[tuple[EngineName, ...]] = ("graphviz-pure", "dot")


_CREATED: Final = re.compile(rb"(?<=/CreationDate \(D:)\d{14}[^)]*")
"""When a PDF was made; cairo, which writes it, asks the clock whatever `SOURCE_DATE_EPOCH` says."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A program that lays out graphs."""

    name: EngineName
    """What it is called."""
    program: str
    """Path of the executable."""

    @property
    def version(self) -> str:
        """What it says of its version, for the keys of caches."""
        return _version(self.program)

    def draws(self, format_: Format) -> bool:
        """Whether it can make pictures of this format: `graphviz-pure` makes no PDF."""
        return format_ != "pdf" or self.name == "dot"


@dataclass(frozen=True, slots=True)
class Picture:
    """A graph laid out."""

    data: bytes
    """The file's content."""
    note: str = ""
    """What had to be done otherwise than asked, in words; empty if nothing."""


def engine(setting: str = "auto") -> Engine:
    """Return the engine for the setting `auto`, `graphviz-pure` or `dot`.

    Raises:
        GraphvizNotFoundError: it is not installed; or the setting is none of the three.
    """
    for found in _engines():
        if setting in {"auto", found.name}:
            return found
    raise GraphvizNotFoundError(setting)


def lay_out(dot: str, engine: Engine, format_: Format, timeout: float) -> Picture:
    """Return the picture of a graph; a PNG has twice the usual resolution.

    What fails is tried again without the frames around modules, then with the other engine if there is one; the
    picture's note then says so. An engine that cannot make the format gives way to one that can.

    Raises:
        LayoutFailedError: no engine could do it.
        LayoutTimeoutError: an engine took longer than `timeout` seconds.
    """
    failure: LayoutFailedError | None = None
    for one, text, note in _ways(dot, engine, format_):
        try:
            return Picture(_run(text, one, format_, timeout), note and f"{note}, since {failure}")
        except LayoutFailedError as error:
            failure = failure or error
    raise failure or LayoutFailedError(engine.name, 0, f"no installed engine makes {format_.upper()}")


def _ways(dot: str, first: Engine, format_: Format) -> Iterator[tuple[Engine, str, str]]:
    """Yield engine, DOT text and note of each try."""
    engines = [first, *(other for other in _engines() if other.name != first.name)]
    if format_ == "png" and not dot.isascii():
        engines.sort(key=lambda one: one.name != "dot")  # graphviz-pure has few letters beyond Latin, Greek, Cyrillic
    plain = _without_frames(dot)
    able = [one for one in engines if one.draws(format_)]
    for one in able:
        another = "" if one == able[0] else f"laid out by `{one.name}`"
        yield one, dot, another
        if plain != dot:
            yield one, plain, another or "laid out without frames around modules"


def _without_frames(dot: str) -> str:
    """Return DOT text whose clusters are ordinary subgraphs, which lay out no frame."""
    return re.sub(r"^(\s*)subgraph cluster_", r"\1subgraph group_", dot, flags=re.MULTILINE)


def _run(dot: str, engine: Engine, format_: Format, timeout: float) -> bytes:
    if engine.name == "graphviz-pure":
        dot = _FIXED_FONT.sub("fontname=Courier", dot)
    command = [engine.program, f"-T{format_}", *(["-Gdpi=192"] if format_ == "png" else [])]
    try:
        done = subprocess.run(  # noqa: S603 - the program was found by us, the graph goes through a pipe
            command,
            input=dot.encode(),
            capture_output=True,
            timeout=timeout,
            check=False,
            env=os.environ | {"TZ": "UTC"},  # else a PDF would tell where it was made
        )
    except subprocess.TimeoutExpired as error:
        raise LayoutTimeoutError(engine.name, timeout) from error
    except OSError as error:
        raise LayoutFailedError(engine.name, -1, str(error)) from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").splitlines()
        message = " ".join(line.strip() for line in said if not _HARMLESS.search(line))
        raise LayoutFailedError(engine.name, done.returncode, message[:500])
    return _CREATED.sub(_epoch, done.stdout) if format_ == "pdf" else done.stdout


def _engines() -> Iterator[Engine]:
    """Yield the engines that are installed, the wheel's first: it draws the same on every machine."""
    scripts = sysconfig.get_path("scripts")  # not always on the path
    for name in _NAMES:
        beside = shutil.which(name, path=scripts) if name == "graphviz-pure" else None
        program = beside or shutil.which(name)
        if program:
            yield Engine(name, str(Path(program)))


@cache
def _version(program: str) -> str:
    done = subprocess.run([program, "-V"], capture_output=True, check=False, timeout=30)  # noqa: S603 - found by us
    return " ".join((done.stdout + done.stderr).decode(errors="replace").split())


def _epoch(match: re.Match[bytes]) -> bytes:
    """Return a date of the same length, as a PDF tells where each of its parts begins."""
    return b"19700101000000Z".ljust(len(match[0]))[: len(match[0])]
