"""The processes that run sessions: `python -m sphinx_graphviz_autograd.execution.worker` is told what to do by lines.

Orders come on standard input and answers go to standard output, one JSON message a line. With the argument `serve` it
imports PyTorch once and forks a process for each session. With `once` it imports PyTorch, runs one session itself and
ends: for systems where a fork is not to be had. When standard input ends, everything is killed.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib
import os
import selectors
import signal
import sys
import tempfile
import threading
import traceback
from dataclasses import dataclass, field
from typing import IO, Final, assert_never

from sphinx_graphviz_autograd.execution.blocks import run_session
from sphinx_graphviz_autograd.execution.failures import dumped_place
from sphinx_graphviz_autograd.execution.messages import (
    Answer,
    Begun,
    Ended,
    Gone,
    Kill,
    Ready,
    Run,
    answer_line,
    read_order,
)
from sphinx_graphviz_autograd.execution.outputs import Output, open_spools, trim
from sphinx_graphviz_autograd.execution.paths import folders_of
from sphinx_graphviz_autograd.execution.processes import (
    DUMP_SIGNAL,
    adopt_orphans,
    ask_where,
    children,
    die_with_parent,
    kill_group,
)
from sphinx_graphviz_autograd.execution.session import Failure, Session
from sphinx_graphviz_autograd.model import Place

TICK: Final = 0.2
"""Seconds between looks at how much was printed, and whether the parent is alive."""


def main() -> None:
    """Run as one of the two kinds of process."""
    channel = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what importing prints must not get between the answers
    die_with_parent()
    if sys.argv[1:] == ["serve"]:
        _Server(channel).serve()
    else:
        _run_once(channel)


def _import_torch() -> Ready:
    """Import PyTorch, which takes seconds, and the modules that use it."""
    try:
        importlib.import_module("sphinx_graphviz_autograd.tracing.capture")
        importlib.import_module("sphinx_graphviz_autograd.tracing.record")
    except Exception as error:  # noqa: BLE001  # a broken installation of PyTorch can raise anything
        return Ready(f"PyTorch cannot be imported: {type(error).__name__}: {error}".partition("\n")[0])
    return Ready()


def _run(number: int, session: Session, spools: tuple[IO[bytes], IO[bytes]], dump: int, channel: IO[bytes]) -> None:
    """Run a session in this process, which is there for it alone."""
    faulthandler.enable(dump, all_threads=False)
    if DUMP_SIGNAL is not None:
        faulthandler.register(DUMP_SIGNAL, dump, all_threads=False)
    _note_exit(dump)

    def tell(answer: Answer) -> None:
        line = memoryview(answer_line(answer))
        while line:
            line = line[channel.write(line) :]

    folders = folders_of(session)
    output = Output(spools, folders)
    output.begin()
    tell(Begun(number))
    try:
        run_session(number, session, output, folders, tell)
    except BaseException as error:  # noqa: BLE001  # a defect of ours must not look like one of the author's
        words = f"the extension itself failed, please report it: {type(error).__name__}: {error}".partition("\n")[0]
        tell(Ended(number, Failure("crash", 0, Place(0, 0), words, "".join(traceback.format_exception(error)))))


def _note_exit(dump: int) -> None:
    """Have `os._exit` note where it was called; nothing else tells."""
    leave = os._exit
    process = os.getpid()

    def noting_exit(status: int) -> None:
        if os.getpid() == process:
            faulthandler.dump_traceback(dump, all_threads=False)
        leave(status)

    os._exit = noting_exit  # type: ignore[assignment]  # it does not return either


@dataclass(slots=True)
class _Child:
    """The process of a session."""

    number: int
    process: int
    answers: int
    """The descriptor that its answers come from."""
    spools: tuple[IO[bytes], IO[bytes]]
    dump: IO[bytes]
    """What `faulthandler` writes to."""
    unfinished: bytearray = field(default_factory=bytearray)
    """The beginning of an answer that has not come whole."""


class _Server:
    """Forks a process for each session and passes on what it says."""

    def __init__(self, channel: IO[bytes]) -> None:
        self._channel = channel
        self._parent = os.getppid()
        self._orders = bytearray()
        self._children: dict[int, _Child] = {}
        self._selector = selectors.DefaultSelector()

    def serve(self) -> None:
        """Do as told until standard input ends."""
        self._answer(_import_torch())
        die_with_parent(yes=False)  # from now on there may be children, which are to be killed first
        adopt_orphans()
        gc.freeze()  # or the garbage collector of each fork would copy what could be shared
        self._watch_children()
        os.set_blocking(0, False)
        self._selector.register(0, selectors.EVENT_READ)
        while os.getppid() == self._parent:
            for key, _ in self._selector.select(TICK):
                if key.data is not None:
                    self._pass_on(key.data)
                elif key.fd == 0 and not self._take_orders():
                    self._kill_all()
                    return
                elif key.fd != 0:
                    os.read(key.fd, 4096)
            self._reap()
            for child in self._children.values():
                trim(child.spools)
        self._kill_all()

    def _watch_children(self) -> None:
        """Let the end of a child wake the selector."""
        read, write = os.pipe()
        os.set_blocking(read, False)
        os.set_blocking(write, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        self._selector.register(read, selectors.EVENT_READ)

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

    def _take_orders(self) -> bool:
        """Read orders and carry them out; False when there will be no more."""
        with contextlib.suppress(BlockingIOError):
            data = os.read(0, 1 << 16)
            if not data:
                return False
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
        return True

    def _fork(self, number: int, session: Session) -> None:
        read, write = os.pipe()
        spools, dump = open_spools(), tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # closed by `_reap`
        process = os.fork()
        if process == 0:
            leave = os._exit
            try:
                self._become_child(read)
                with os.fdopen(write, "wb", buffering=0) as channel:
                    _run(number, session, spools, dump.fileno(), channel)
            finally:
                leave(0)
        os.close(write)
        os.set_blocking(read, False)
        self._children[process] = child = _Child(number, process, read, spools, dump)
        self._selector.register(read, selectors.EVENT_READ, child)

    def _become_child(self, own: int) -> None:
        """Let go of all that is the server's, in a fresh fork."""
        os.setsid()
        die_with_parent()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        self._channel.close()
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.close(own)
        for child in self._children.values():
            os.close(child.answers)
            for file in (*child.spools, child.dump):
                file.close()

    def _pass_on(self, child: _Child) -> None:
        """Pass on the answers that have come whole."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(child.answers, 1 << 16):
                child.unfinished += data
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
            _kill_orphans()
        self._pass_on(child)
        self._selector.unregister(child.answers)
        os.close(child.answers)
        self._answer(Gone(child.number, code, place_of_death(child.dump)))
        for file in (*child.spools, child.dump):
            file.close()

    def _kill_all(self) -> None:
        for process in self._children:
            kill_group(process)
        _kill_orphans()


def _kill_orphans() -> None:
    """Kill the children that are left, and theirs, who come to us when their parents die."""
    while left := children():
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def place_of_death(dump: IO[bytes]) -> Place | None:
    """Return the line of a block that is noted in what `faulthandler` wrote; None if none is."""
    dump.seek(0)
    return dumped_place(dump.read().decode(errors="replace"))


def _run_once(channel: IO[bytes]) -> None:
    """Run the one session that is ordered, in this process."""
    orders = os.fdopen(os.dup(0), "rb")
    dump = os.dup(2)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    channel.write(answer_line(_import_torch()))
    line = orders.readline()
    if not line:
        return
    order = read_order(line)
    spools = open_spools()
    threading.Thread(target=_watch_orders, args=(orders, spools), daemon=True).start()
    leave = os._exit
    if isinstance(order, Run):
        _run(order.number, order.session, spools, dump, channel)
    leave(0)


def _watch_orders(orders: IO[bytes], spools: tuple[IO[bytes], IO[bytes]]) -> None:
    """Kill this process and its children when the orders end."""
    ended = threading.Event()

    def read() -> None:
        orders.read()
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    while not ended.wait(TICK):
        trim(spools)
    kill_group(os.getpid())


if __name__ == "__main__":
    main()
