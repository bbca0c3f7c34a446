"""Catching what a session prints: by Python, by C code and by child processes, in the order in which it comes.

Python's own streams write into a list. C code and child processes write into two files that stand in for the
descriptors 1 and 2; files, as a full pipe would stop the writer. Whenever Python writes, what has come to the files
is taken first, so that the order is kept.
"""

from __future__ import annotations

import codecs
import ctypes
import io
import os
import re
import sys
import tempfile
import warnings
from typing import IO, TYPE_CHECKING, Final, Literal, NoReturn, TypeAlias

from sphinx_graphviz_autograd.execution.paths import Folders, hide_folders
from sphinx_graphviz_autograd.execution.session import Text

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

LIMIT: Final = 100_000
"""How many bytes are kept of what a block prints."""

Stream: TypeAlias = Literal["stdout", "stderr"]

_STREAMS: Final[tuple[Stream, Stream]] = ("stdout", "stderr")

_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
"""Escape sequences of terminals: colours, cursor, titles."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that no XML may hold."""

_ADDRESS: Final = re.compile(r"\bat 0x[0-9A-Fa-f]{6,16}\b")
"""What the `repr` of an object without a better one ends in."""

_TRIGGERED: Final = re.compile(r" \(Triggered internally at [^)]*\)")
"""Where in PyTorch's C++ sources a warning was made: a path of the machine that compiled it."""


def tidy(text: str, folders: Folders) -> str:
    """Return printed text as it is kept: the same on every machine, and without what only terminals understand."""
    text = _ESCAPE.sub("", text)
    if "\r" in text:
        text = "\n".join(_overwritten(line) for line in text.replace("\r\n", "\n").split("\n"))
    text = _CONTROL.sub(lambda match: repr(match[0])[1:-1], text)
    return hide_folders(_ADDRESS.sub("at 0x...", text), folders)


def open_spools() -> tuple[IO[bytes], IO[bytes]]:
    """Return two unnamed files for what C code and child processes print."""
    spools = _open_spool(), _open_spool()
    if sys.platform != "win32":
        for spool in spools:  # so that whoever writes goes on at the end after `trim` has moved it
            fcntl.fcntl(spool, fcntl.F_SETFL, os.O_RDWR | os.O_APPEND)
    return spools


def _open_spool() -> IO[bytes]:
    return tempfile.TemporaryFile(buffering=0)


def trim(spools: tuple[IO[bytes], IO[bytes]]) -> None:
    """Keep the files from growing without end; to be called now and then by another process or thread."""
    for spool in spools:
        if os.fstat(spool.fileno()).st_size > 2 * LIMIT:
            os.truncate(spool.fileno(), 2 * LIMIT)


class Output:
    """What the session prints, from `begin` on."""

    def __init__(self, spools: tuple[IO[bytes], IO[bytes]], folders: Folders) -> None:
        self._spools = dict(zip(_STREAMS, spools, strict=True))
        self._taken = dict.fromkeys(_STREAMS, 0)
        self._folders = folders
        self._pieces: list[tuple[Stream, bytes]] = []
        self._room = LIMIT

    def begin(self) -> None:
        """Put the streams, the descriptors and the writing of warnings in place."""
        os.dup2(self._spools["stdout"].fileno(), 1)
        os.dup2(self._spools["stderr"].fileno(), 2)
        sys.stdout = sys.__stdout__ = _text_stream(self, "stdout", 1)  # type: ignore[misc]  # ours from here on
        sys.stderr = sys.__stderr__ = _text_stream(self, "stderr", 2)  # type: ignore[misc]  # likewise
        sys.stdin = sys.__stdin__ = _NoInput()  # type: ignore[misc, assignment]  # likewise; no more is asked of it
        warnings.formatwarning = _format_warning

    def add(self, stream: Stream, data: bytes) -> None:
        """Note what Python prints."""
        if self._room <= 0:
            return
        self._collect()
        self._note(stream, data)

    def take(self) -> tuple[tuple[Text, ...], bool]:
        """Return what was printed since the last time, and whether there was more than is kept."""
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        if sys.platform != "win32":
            ctypes.CDLL(None).fflush(None)  # what C code has printed waits in a buffer of the C library
        self._collect()
        cut = self._room < 0
        pieces, self._pieces, self._room = self._pieces, [], LIMIT
        for name, spool in self._spools.items():
            spool.truncate(0)
            spool.seek(0)
            self._taken[name] = 0
        return _texts(pieces, self._folders, cut=cut), cut

    def _collect(self) -> None:
        """Take over what C code and child processes have written."""
        for stream, spool in self._spools.items():
            size = os.fstat(spool.fileno()).st_size
            if size > self._taken[stream]:
                data = _read(spool, self._taken[stream], min(size - self._taken[stream], LIMIT + 1))
                self._taken[stream] = size
                self._note(stream, data)

    def _note(self, stream: Stream, data: bytes) -> None:
        if self._room > 0:
            self._pieces.append((stream, data[: self._room]))
        self._room = self._room - len(data) if self._room > 0 else -1


def _read(spool: IO[bytes], start: int, length: int) -> bytes:
    """Read without moving to where others write."""
    if sys.platform == "win32":
        spool.seek(start)
        data = spool.read(length)
        spool.seek(0, os.SEEK_END)
        return data
    return os.pread(spool.fileno(), length, start)


class _Raw(io.RawIOBase):
    """The bytes under `sys.stdout` or `sys.stderr`."""

    def __init__(self, output: Output, stream: Stream, descriptor: int) -> None:
        self.name = f"<{stream}>"
        self._output = output
        self._stream: Stream = stream
        self._descriptor = descriptor
        self._process = os.getpid()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: ReadableBuffer, /) -> int:
        written = bytes(data)
        if os.getpid() == self._process:
            self._output.add(self._stream, written)
        else:  # a fork of this process, as a worker of a `DataLoader`, has a list of its own that nobody reads
            os.write(self._descriptor, written)
        return len(written)


class _NoInput(io.TextIOBase):
    """A standard input that says why there is none."""

    def readable(self) -> bool:
        return True

    def read(self, _size: int | None = -1, /) -> NoReturn:
        raise EOFError("nobody can answer while documents are built: standard input is not available")

    def readline(self, _size: int = -1, /) -> NoReturn:  # type: ignore[override]  # never returns, on purpose
        self.read()


def _text_stream(output: Output, stream: Stream, descriptor: int) -> io.TextIOWrapper:
    raw = _Raw(output, stream, descriptor)
    return io.TextIOWrapper(raw, "utf-8", "backslashreplace", newline="\n", write_through=True)


def _format_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,  # noqa: ARG001  # the signature is Python's
    lineno: int,  # noqa: ARG001  # likewise
    line: str | None = None,  # noqa: ARG001  # likewise
) -> str:
    """Word a warning without its path, which differs between machines."""
    return f"{category.__name__}: {_TRIGGERED.sub('', str(message))}\n"


def _texts(pieces: list[tuple[Stream, bytes]], folders: Folders, *, cut: bool) -> tuple[Text, ...]:
    """Join neighbours of one stream, decode and tidy them."""
    decoders = {stream: codecs.getincrementaldecoder("utf-8")("backslashreplace") for stream in _STREAMS}
    joined: list[tuple[Stream, list[str]]] = []
    for stream, data in pieces:
        text = decoders[stream].decode(data)
        if joined and joined[-1][0] == stream:
            joined[-1][1].append(text)
        else:
            joined.append((stream, [text]))
    texts = [Text(stream, tidy("".join(parts), folders)) for stream, parts in joined]
    if cut:
        texts[-1] = Text(texts[-1].stream, texts[-1].text[: texts[-1].text.rfind("\n") + 1])
        texts.append(Text("stderr", f"... the rest is left out: more than {LIMIT} bytes were printed\n"))
    return tuple(text for text in texts if text.text)


def _overwritten(line: str) -> str:
    """Return what a terminal would show of a line with carriage returns, as progress bars print them."""
    shown = ""
    for part in line.split("\r"):
        shown = part + shown[len(part) :]
    return shown
