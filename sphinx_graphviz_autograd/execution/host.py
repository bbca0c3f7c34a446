"""A process of ours that runs sessions, from the side of the process that has sessions to run."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sphinx_graphviz_autograd.execution.failures import death_failure
from sphinx_graphviz_autograd.execution.messages import Ended, Gone, Kill, Order, order_line
from sphinx_graphviz_autograd.execution.paths import PACKAGE
from sphinx_graphviz_autograd.execution.processes import ask_where, kill_group
from sphinx_graphviz_autograd.execution.session import BlockResult, Session, SessionResult

if TYPE_CHECKING:
    import queue
    from collections.abc import Mapping

_UNSET: Final = (
    *("PYTHONWARNINGS", "PYTHONOPTIMIZE", "PYTHONDEBUG", "PYTHONDEVMODE", "PYTHONINSPECT", "PYTHONVERBOSE"),
    *("PYTHONSTARTUP", "PYTHONBREAKPOINT", "PYTHONPROFILEIMPORTTIME", "PYTHONTRACEMALLOC", "PYTHON_COLORS"),
    *("FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES"),
)
"""Variables that would make results differ between machines."""

_SET: Final = {
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "PYTHONDONTWRITEBYTECODE": "1",  # new files in the source folder would start a watching build again
    "NO_COLOR": "1",
    "TQDM_DISABLE": "1",  # progress bars show times
    "MPLBACKEND": "Agg",  # a window would wait for somebody to close it
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"),
}
"""Variables that make results the same everywhere."""

_LAUNCH: Final = """\
import importlib.util, os, sys
name, folder = "sphinx_graphviz_autograd", sys.argv.pop(1)
spec = importlib.util.spec_from_file_location(name, os.path.join(folder, "__init__.py"))
sys.modules[name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules[name])
from sphinx_graphviz_autograd.execution.worker import main
main()
"""
"""Is `python -m sphinx_graphviz_autograd.execution.worker`, but with the very package that this process runs.

It may be one to which only `conf.py` knows the way, and the workers' search path must not change for it.
"""

if sys.platform == "win32":
    _CREATION_FLAGS: Final = subprocess.CREATE_NEW_PROCESS_GROUP
else:
    _CREATION_FLAGS: Final = 0


def worker_environment(own: Mapping[str, str], *, cuda: bool) -> dict[str, str]:
    """Return the environment of workers, made from that of the process that starts them."""
    environment = {name: value for name, value in own.items() if name not in _UNSET} | _SET
    if not cuda:
        environment["CUDA_VISIBLE_DEVICES"] = ""
    return environment


@dataclass(slots=True)
class Task:
    """A session that a process has been given."""

    session: Session
    deadline: float = float("inf")
    """When it is to be ended, on the monotonic clock."""
    limit: float | None = None
    """How many seconds it had, if it was ended because it took longer."""
    blocks: list[BlockResult] = field(default_factory=list)
    """What has come of it so far."""
    ended: Ended | None = None
    """How it came to its end, if it did."""

    def result(self, gone: Gone) -> SessionResult:
        """Return what came of it, now that its process is gone."""
        if self.ended is not None:
            return SessionResult(
                tuple(self.blocks), self.ended.failure, self.ended.environment, self.ended.dependencies
            )
        block = min(len(self.blocks), len(self.session.snippets) - 1)
        blocks = (*self.blocks, BlockResult(output=gone.output, cut=gone.cut))[: block + 1]
        return SessionResult(blocks, death_failure(self.session, block, gone.code, gone.place, self.limit))


class Host:
    """A process that runs sessions: a server that forks one for each, or a worker that runs one itself."""

    def __init__(self, *, once: bool, cuda: bool) -> None:
        """Start it; it will say when it is ready.

        Args:
            once: whether it is to run one session itself.
            cuda: whether it sees CUDA.
        """
        self.once = once
        self.ready = False
        self.tasks: dict[int, Task] = {}
        """The sessions that it has, by their numbers."""
        self.started = time.monotonic()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `close`
        self._thread: threading.Thread | None = None
        self._process = subprocess.Popen(  # noqa: S603  # the command is ours
            [sys.executable, "-P", "-c", _LAUNCH, PACKAGE, "once" if once else "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=worker_environment(os.environ, cuda=cuda),
            start_new_session=True,  # Ctrl-C in a terminal must not reach it before us
            creationflags=_CREATION_FLAGS,
        )

    def listen(self, heard: queue.SimpleQueue[tuple[Host, bytes | None]]) -> None:
        """Begin to pass on what the process says, and at its end None."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._read, args=(heard,), daemon=True)
            self._thread.start()

    def order(self, order: Order) -> None:
        """Tell the process what to do; if it is dead, that will be heard in another way."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.write(order_line(order))
                self._process.stdin.flush()

    def end(self, number: int, limit: float) -> None:
        """End a session that has taken longer than the limit, in seconds."""
        task = self.tasks[number]
        task.limit = limit
        task.deadline = float("inf")
        if self.once:
            ask_where(self._process.pid, self._errors)
            self._hang_up()
            self.kill()
        else:
            self.order(Kill(number))

    def kill(self) -> None:
        """Kill the process and its group."""
        kill_group(self._process.pid)

    def close(self) -> tuple[int, str]:
        """End the process and all below it; return its exit status and what it wrote to its standard error."""
        if self.tasks:  # else there is nothing below it that it would have to end itself
            self._hang_up()
        self.kill()
        code = self._process.wait()
        if self._thread is not None:
            self._thread.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was still to be sent
                    pipe.close()
        self._errors.seek(0)
        words = self._errors.read().decode(errors="replace")
        self._errors.close()
        return code, words

    def _hang_up(self) -> None:
        """Let the process end what is below it, and itself; wait a little for it."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        if not self.once:
            self._process.terminate()  # a fork of this process may hold the pipe open
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)

    def _read(self, heard: queue.SimpleQueue[tuple[Host, bytes | None]]) -> None:
        if self._process.stdout is not None:
            for line in self._process.stdout:
                heard.put((self, line))
        heard.put((self, None))
