"""Catching what a session prints, by Python, by C code and by child processes, and making it fit to be kept."""

from __future__ import annotations

import codecs
import ctypes
import io
import os
import re
import sys
import warnings
from typing import TYPE_CHECKING, Final, NoReturn

from sphinx_graphviz_autograd.execution.paths import Folders, hide_folders
from sphinx_graphviz_autograd.execution.session import Text
from sphinx_graphviz_autograd.execution.spools import LIMIT, STREAMS, Piece, Spools, Stream

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
"""Escape sequences of terminals: colours, cursor, titles."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that no XML may hold."""

_ADDRESS: Final = re.compile(r"\bat 0x[0-9A-Fa-f]{6,16}\b")
"""What the `repr` of an object without a better one ends in."""

_TRIGGERED: Final = re.compile(r" \(Triggered internally at [^)]*\)")
"""Where in PyTorch's C++ sources a warning was made: a path of the machine that compiled it."""

_NO_INPUT: Final = "nobody can answer while documents are built: standard input is not available"


def tidy(text: str, folders: Folders) -> str:
    """Return printed text as it is kept: the same on every machine, and without what only terminals understand."""
    text = _ESCAPE.sub("", text)
    if "\r" in text:
        text = "\n".join(_overwritten(line) for line in text.replace("\r\n", "\n").split("\n"))
    text = _CONTROL.sub(lambda match: repr(match[0])[1:-1], text)
    return hide_folders(_ADDRESS.sub("at 0x...", text), folders)


def capture_output(spools: Spools) -> None:
    """Let all that this process prints from now on come to the spools, and nobody ask it for input."""
    spools.redirect()
    sys.stdout = sys.__stdout__ = _Stream(spools, "stdout", 1)  # type: ignore[misc, assignment]  # a text stream as well
    sys.stderr = sys.__stderr__ = _Stream(spools, "stderr", 2)  # type: ignore[misc, assignment]  # likewise
    sys.breakpointhook = _no_debugger
    sys.stdin = sys.__stdin__ = _NoInput()  # type: ignore[misc, assignment]  # likewise
    warnings.formatwarning = _format_warning


def flush_output() -> None:
    """Have what C code has printed come to the spools, and make the streams ready for another block."""
    for stream in (sys.__stdout__, sys.__stderr__):
        vars(stream).pop("write", None)
    if sys.platform != "win32":
        ctypes.CDLL(None).fflush(None)  # until now it has waited in a buffer of the C library


def printed(spools: Spools, folders: Folders) -> tuple[tuple[Text, ...], bool]:
    """Return what was printed since the last time, in order, and whether there was more than is kept."""
    pieces, is_cut = spools.take()
    texts = [Text(stream, tidy(text, folders)) for stream, text in _joined(pieces)]
    if is_cut:
        last = texts.pop()
        end = last.text.rfind("\n")
        texts.append(Text(last.stream, last.text[:end] + "\n"))
        texts.append(Text("stderr", f"... the rest is left out: more than {LIMIT} bytes were printed\n"))
    return tuple(text for text in texts if text.text), is_cut


def _joined(pieces: list[Piece]) -> list[tuple[Stream, str]]:
    """Decode the pieces, and join neighbours of one stream."""
    decoders = {stream: codecs.getincrementaldecoder("utf-8")("backslashreplace") for stream in STREAMS}
    joined: list[tuple[Stream, list[str]]] = []
    for stream, data in pieces:
        text = decoders[stream].decode(data)
        if joined and joined[-1][0] == stream:
            joined[-1][1].append(text)
        else:
            joined.append((stream, [text]))
    return [(stream, "".join(parts)) for stream, parts in joined]


def _overwritten(line: str) -> str:
    """Return what a terminal would show of a line with carriage returns, as progress bars print them."""
    shown = ""
    for part in line.split("\r"):
        shown = part + shown[len(part) :]
    return shown


def _format_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,  # noqa: ARG001  # the signature is Python's
    lineno: int,  # noqa: ARG001  # likewise
    line: str | None = None,  # noqa: ARG001  # likewise
) -> str:
    """Word a warning without its path, which differs between machines."""
    return f"{category.__name__}: {_TRIGGERED.sub('', str(message))}\n"


class _Raw(io.RawIOBase):
    """The bytes under `sys.stdout` or `sys.stderr`."""

    def __init__(self, spools: Spools, stream: Stream, descriptor: int) -> None:
        self.name = f"<{stream}>"
        self.mode = "wb"
        self._spools = spools
        self._stream: Stream = stream
        self._descriptor = descriptor
        self._process = os.getpid()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: ReadableBuffer, /) -> int:
        written = bytes(data)
        if os.getpid() != self._process:  # a fork, as a worker of a `DataLoader`; the journal has one writer
            return os.write(self._descriptor, written)
        self._spools.note(self._stream, written)
        return len(written)


class _Stream(io.TextIOBase):
    """Takes the place of `sys.stdout` or `sys.stderr`; quicker than a text wrapper, above all when nothing is kept."""

    encoding = "utf-8"
    errors = "backslashreplace"
    mode = "w"

    def __init__(self, spools: Spools, stream: Stream, descriptor: int) -> None:
        self.name = f"<{stream}>"
        self.buffer = _Raw(spools, stream, descriptor)
        self._spools = spools

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.buffer.fileno()

    def reconfigure(self, **options: object) -> None:
        """Change nothing: encoding and buffering are ours."""

    def write(self, text: str, /) -> int:
        if self._spools.room:
            self.buffer.write(text.encode(self.encoding, self.errors))
        else:
            self.write = len  # type: ignore[method-assign]  # is no call that a trace function would see
        return len(text)


def _no_debugger(*_arguments: object, **_options: object) -> NoReturn:
    """Take the place of what `breakpoint()` starts."""
    raise EOFError(_NO_INPUT)


class _NoInput(io.TextIOBase):
    """A standard input that says why there is none."""

    def readable(self) -> bool:
        return True

    def read(self, _size: int | None = -1, /) -> NoReturn:
        raise EOFError(_NO_INPUT)

    def readline(self, _size: int = -1, /) -> NoReturn:  # type: ignore[override]  # never returns, on purpose
        self.read()
