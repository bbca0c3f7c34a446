"""The process that imports PyTorch once, and forks a process for each session."""

from __future__ import annotations

import contextlib
import gc
import os
import selectors
import signal
import tempfile
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Final, assert_never

from sphinx_graphviz_autograd.execution.failures import dumped_place
from sphinx_graphviz_autograd.execution.messages import Answer, Gone, Kill, Run, answer_line, read_order
from sphinx_graphviz_autograd.execution.outputs import printed
from sphinx_graphviz_autograd.execution.paths import Folders, folders_of
from sphinx_graphviz_autograd.execution.processes import (
    adopt_orphans,
    ask_where,
    die_with_parent,
    kill_group,
    kill_orphans,
)
from sphinx_graphviz_autograd.execution.runner import import_torch, run_alone
from sphinx_graphviz_autograd.execution.spools import Spools

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.execution.session import Session
    from sphinx_graphviz_autograd.model import Place

TICK: Final = 0.2
"""Seconds between looks at how much was printed, and whether the parent is alive."""

_ENDING: Final = (signal.SIGTERM, signal.SIGINT)
"""Signals that tell the server to end."""


@dataclass(slots=True)
class _Child:
    """The process of a session."""

    number: int
    """The number of the session."""
    process: int
    """The id of the process."""
    folders: Folders
    """What is shown for folders."""
    answers: int
    """The descriptor that its answers come from."""
    spools: Spools
    """What it prints."""
    dump: IO[bytes]
    """What `faulthandler` writes to."""
    unfinished: bytearray = field(default_factory=bytearray)
    """The beginning of an answer that has not come whole."""


class Server:
    """Forks a process for each session and passes on what it says."""

    def __init__(self, channel: IO[bytes]) -> None:
        """Make a server that answers on a channel; it takes orders from standard input."""
        self._channel = channel
        self._parent = os.getppid()
        self._orders = bytearray()
        self._children: dict[int, _Child] = {}
        self._selector = selectors.DefaultSelector()
        self._ended = False

    def serve(self) -> None:
        """Do as told until standard input ends."""
        self._answer(import_torch())
        die_with_parent(yes=False)  # from now on there may be children, which are to be killed first
        adopt_orphans()
        gc.freeze()  # or the garbage collector of each fork would copy what could be shared
        self._watch_signals()
        os.set_blocking(0, False)
        self._selector.register(0, selectors.EVENT_READ)
        while not self._ended and os.getppid() == self._parent:
            for key, _ in self._selector.select(TICK):
                if key.data is not None:
                    self._pass_on(key.data)
                elif key.fd == 0:
                    self._take_orders()
                else:
                    os.read(key.fd, 4096)
            self._reap()
            for child in self._children.values():
                child.spools.trim()
        self._kill_all()

    def _watch_signals(self) -> None:
        """Let the end of a child, and being told to end, wake the selector."""
        read, write = os.pipe()
        os.set_blocking(read, False)
        os.set_blocking(write, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in _ENDING:
            signal.signal(number, self._end)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        self._selector.register(read, selectors.EVENT_READ)

    def _end(self, *_: object) -> None:
        self._ended = True

    def _answer(self, answer: Answer) -> None:
        self._write(answer_line(answer))

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[self._channel.write(view) :]
        except BrokenPipeError:  # nobody listens any more
            self._kill_all()
            os._exit(1)

    def _take_orders(self) -> None:
        """Read orders and carry them out."""
        data = os.read(0, 1 << 16)
        self._ended = not data
        self._orders += data
        *lines, rest = self._orders.split(b"\n")
        self._orders = bytearray(rest)
        for line in lines:
            match read_order(bytes(line)):
                case Run(number, session):
                    self._fork(number, session)
                case Kill(number):
                    self._kill(number)
                case other:
                    assert_never(other)

    def _fork(self, number: int, session: Session) -> None:
        read, write = os.pipe()
        spools, dump = Spools(), tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # closed by `_bury`
        process = os.fork()
        if process == 0:
            leave = os._exit
            try:
                self._become_child(read)
                with os.fdopen(write, "wb", buffering=0) as channel:
                    run_alone(number, session, spools, dump.fileno(), channel)
            finally:
                leave(0)
        os.close(write)
        os.set_blocking(read, False)
        self._children[process] = child = _Child(number, process, folders_of(session), read, spools, dump)
        self._selector.register(read, selectors.EVENT_READ, child)

    def _become_child(self, own: int) -> None:
        """Let go of all that is the server's, in a fresh fork."""
        os.setsid()
        die_with_parent()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, *_ENDING):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._selector.close()
        self._channel.close()
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.close(own)
        for child in self._children.values():
            os.close(child.answers)
            child.spools.close()
            child.dump.close()

    def _pass_on(self, child: _Child) -> None:
        """Pass on the answers that have come whole."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(child.answers, 1 << 16):
                child.unfinished += data
            if child.answers in self._selector.get_map():
                self._selector.unregister(child.answers)  # all is said, and its end would wake us for ever
        end = child.unfinished.rfind(b"\n") + 1
        if end:
            self._write(bytes(child.unfinished[:end]))
            del child.unfinished[:end]

    def _kill(self, number: int) -> None:
        """Kill a session's process, after asking it where it is."""
        for child in self._children.values():
            if child.number == number:
                ask_where(child.process, child.dump)
                kill_group(child.process)

    def _reap(self) -> None:
        """Bury the processes that have ended, and tell of those that were a session's."""
        with contextlib.suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if process == 0:
                    break
                child = self._children.pop(process, None)
                if child is not None:
                    self._bury(child, os.waitstatus_to_exitcode(status))

    def _bury(self, child: _Child, code: int) -> None:
        kill_group(child.process)
        if not self._children:
            kill_orphans()
        self._pass_on(child)
        if child.answers in self._selector.get_map():
            self._selector.unregister(child.answers)
        os.close(child.answers)
        output, cut = printed(child.spools, child.folders)
        self._answer(Gone(child.number, code, _place_of_death(child.dump), output, cut))
        child.spools.close()
        child.dump.close()

    def _kill_all(self) -> None:
        for process in self._children:
            kill_group(process)
        kill_orphans()


def _place_of_death(dump: IO[bytes]) -> Place | None:
    """Return the line of a block that is noted in what `faulthandler` wrote; None if none is."""
    dump.seek(0)
    return dumped_place(dump.read().decode(errors="replace"))
