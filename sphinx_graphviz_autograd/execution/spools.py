"""Files that hold what a session prints until a block ends; they outlive the process that printed.

C code and child processes write into two files that stand in for the descriptors 1 and 2: files, as a full pipe would
stop the writer. A third, the journal, keeps all that was printed in order: what Python prints is noted there, and
before it whatever has come to the other two since the last time.
"""

from __future__ import annotations

import os
import struct
import sys
import tempfile
from typing import IO, Final, Literal, TypeAlias

if sys.platform != "win32":
    import fcntl

LIMIT: Final = 100_000
"""How many bytes are kept of what a block prints."""

Stream: TypeAlias = Literal["stdout", "stderr"]
"""Where something was printed."""

STREAMS: Final[tuple[Stream, Stream]] = ("stdout", "stderr")

Piece: TypeAlias = tuple[Stream, bytes]
"""Something that was printed."""

_HEAD: Final = struct.Struct("<BBI")
"""Before each piece in the journal: the number of its stream, whether it comes from that stream's file, its length."""


class Spools:
    """The files of one session."""

    def __init__(self) -> None:
        """Make the files; they have no names, and are gone with the last process that has them."""
        self._files = dict(zip(STREAMS, (_unnamed_file(), _unnamed_file()), strict=True))
        self._journal = _unnamed_file()
        self._taken = dict.fromkeys(STREAMS, 0)
        self.room = LIMIT + 1
        """How much more of what the block prints is noted: one byte more than is kept tells that there was more."""

    def redirect(self) -> None:
        """Let the descriptors 1 and 2 of this process, and of its children, write into the files."""
        os.dup2(self._files["stdout"].fileno(), 1)
        os.dup2(self._files["stderr"].fileno(), 2)

    def note(self, stream: Stream, data: bytes) -> None:
        """Note what Python prints."""
        if self.room:
            self._collect()
            self._write(stream, data, from_file=False)

    def take(self) -> tuple[list[Piece], bool]:
        """Return what was printed since the last time, and whether there was more than is kept.

        Another process than the one that printed may ask as well, when that is dead.
        """
        self._resume()
        self._collect()
        pieces = [(stream, data) for stream, data, _ in self._pieces()]
        is_cut = not self.room
        if is_cut:
            stream, data = pieces.pop()
            pieces.append((stream, data[:-1]))
        for file in (*self._files.values(), self._journal):
            file.truncate(0)
            file.seek(0)
        self._resume()
        return pieces, is_cut

    def trim(self) -> None:
        """Keep the files from growing without end; to be called now and then by another process or thread."""
        for file in self._files.values():
            if os.fstat(file.fileno()).st_size > 2 * LIMIT:
                os.truncate(file.fileno(), 2 * LIMIT)

    def close(self) -> None:
        """Let go of the files."""
        for file in (*self._files.values(), self._journal):
            file.close()

    def _collect(self) -> None:
        """Note what C code and child processes have written."""
        for stream, file in self._files.items():
            size = os.fstat(file.fileno()).st_size
            if size > self._taken[stream] and self.room:
                data = _read(file, self._taken[stream], min(size - self._taken[stream], self.room))
                self._taken[stream] += len(data)
                self._write(stream, data, from_file=True)

    def _write(self, stream: Stream, data: bytes, *, from_file: bool) -> None:
        data = data[: self.room]
        if data:
            self.room -= len(data)
            self._journal.write(_HEAD.pack(STREAMS.index(stream), from_file, len(data)) + data)

    def _resume(self) -> None:
        """Take from the journal how far it has come."""
        self._taken = dict.fromkeys(STREAMS, 0)
        self.room = LIMIT + 1
        for stream, data, from_file in self._pieces():
            self.room -= len(data)
            self._taken[stream] += len(data) if from_file else 0

    def _pieces(self) -> list[tuple[Stream, bytes, bool]]:
        """Return what is in the journal; its last piece may be missing if its writer died over it."""
        journal = _read(self._journal, 0, os.fstat(self._journal.fileno()).st_size)
        pieces = []
        at = 0
        while at + _HEAD.size <= len(journal):
            number, from_file, length = _HEAD.unpack_from(journal, at)
            at += _HEAD.size + length
            if at <= len(journal):
                pieces.append((STREAMS[number], journal[at - length : at], bool(from_file)))
        return pieces


def _unnamed_file() -> IO[bytes]:
    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # closed by `close`
    if sys.platform != "win32":  # so that whoever writes goes on at the end after `trim` or `take` has moved it
        fcntl.fcntl(file, fcntl.F_SETFL, os.O_RDWR | os.O_APPEND)
    return file


def _read(file: IO[bytes], start: int, length: int) -> bytes:
    """Read without moving to where others write."""
    if sys.platform == "win32":
        file.seek(start)
        data = file.read(length)
        file.seek(0, os.SEEK_END)
        return data
    return os.pread(file.fileno(), length, start)
