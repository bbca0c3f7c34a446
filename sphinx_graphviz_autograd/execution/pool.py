"""Running sessions on warm workers: as many at a time as allowed, each within its time, and a sure end."""

from __future__ import annotations

import queue
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Final, Self, TypeAlias, assert_never

from sphinx_graphviz_autograd.codec import CodecError
from sphinx_graphviz_autograd.execution.failures import death, dumped_place
from sphinx_graphviz_autograd.execution.host import Host, Task
from sphinx_graphviz_autograd.execution.messages import Begun, BlockDone, Ended, Gone, Ready, Run, read_answer
from sphinx_graphviz_autograd.execution.outputs import tidy
from sphinx_graphviz_autograd.execution.paths import machine_folders
from sphinx_graphviz_autograd.execution.session import BlockResult, Failure, FailureKind, Session, SessionResult
from sphinx_graphviz_autograd.model import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

START_LIMIT: Final = 300.0
"""Seconds that importing PyTorch may take before it is given up."""

SPAWN: Final = sys.platform in {"win32", "darwin"}
"""Whether a fork is not to be had, or is not safe, as with macOS's system libraries."""

Done: TypeAlias = tuple[Session, SessionResult]
"""A session, and what came of it."""


class Pool:
    """Workers for sessions; `close` it, or use it as a context manager, and no process is left.

    Nothing is run in the process that has the pool. Between `start` and `run` that process may fork.
    """

    def __init__(self, jobs: int, timeout: float, *, cuda: bool = False, spawn: bool = SPAWN) -> None:
        """Make a pool; no process is started yet.

        Args:
            jobs: how many sessions run at a time.
            timeout: how many seconds each may take.
            cuda: whether they see CUDA.
            spawn: whether each gets a fresh process, for systems where a fork is not to be had.
        """
        self._jobs = max(1, jobs)
        self._timeout = timeout
        self._cuda = cuda
        self._spawn = spawn
        self._hosts: list[Host] = []
        self._heard: queue.SimpleQueue[tuple[Host, bytes | None]] = queue.SimpleQueue()
        self._waiting: deque[Session] = deque()
        self._count = 0
        self._problem = ""

    def start(self) -> None:
        """Start importing PyTorch in another process, if that has not been done; does not wait for it.

        The thread that calls it is to live on: on Linux the process ends with it.
        """
        if not self._hosts:
            self._hosts.append(Host(once=self._spawn, cuda=self._cuda))

    def run(self, sessions: Iterable[Session]) -> Iterator[Done]:
        """Run sessions, and yield each with what came of it as it ends; a failure is a result as well."""
        self._waiting.extend(sessions)
        try:
            while self._waiting or any(host.tasks for host in self._hosts):
                if self._problem:
                    yield from self._give_up("missing", self._problem)
                    continue
                self._provide()
                self._hand_out()
                try:
                    host, line = self._heard.get(timeout=self._patience())
                except queue.Empty:
                    self._end_overdue()
                else:
                    yield from self._end_of(host) if line is None else self._answer(host, line)
        finally:
            if self._waiting or any(host.tasks for host in self._hosts):  # whoever asked does not want the rest
                self.close()

    def close(self) -> None:
        """End all processes, those of sessions that are running as well."""
        self._waiting.clear()
        while self._hosts:
            self._hosts.pop().close()
        self._heard = queue.SimpleQueue()

    def __enter__(self) -> Self:
        """Return the pool itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def _provide(self) -> None:
        """Start the processes that are wanted, and listen to all."""
        if self._spawn:
            tasks = sum(len(host.tasks) for host in self._hosts)
            wanted = min(self._jobs, tasks + len(self._waiting))
        else:
            wanted = 1
        while len(self._hosts) < wanted:
            self._hosts.append(Host(once=self._spawn, cuda=self._cuda))
        for host in self._hosts:
            host.listen(self._heard)

    def _hand_out(self) -> None:
        for host in self._hosts:
            room = 1 if self._spawn else self._jobs
            while self._waiting and host.ready and len(host.tasks) < room:
                session = self._waiting.popleft()
                host.tasks[self._count] = Task(session)
                host.order(Run(self._count, session))
                self._count += 1

    def _patience(self) -> float:
        """Return how long to wait for an answer; not for ever, as Windows does not hear Ctrl-C meanwhile."""
        deadlines = [task.deadline for host in self._hosts for task in host.tasks.values()]
        return min(1.0, max(0.0, min(deadlines, default=float("inf")) - time.monotonic()))

    def _end_overdue(self) -> None:
        now = time.monotonic()
        for host in self._hosts:
            if not host.ready and now - host.started > START_LIMIT:
                host.kill()
            for number, task in host.tasks.items():
                if now > task.deadline:
                    host.end(number, self._timeout)

    def _answer(self, host: Host, line: bytes) -> Iterator[Done]:
        try:
            answer = read_answer(line)
        except CodecError:  # its writer died over it, and the news of that is on its way
            return
        match answer:
            case Ready(problem):
                host.ready = True
                self._problem = problem
            case Begun(number):
                host.tasks[number].deadline = time.monotonic() + self._timeout
            case BlockDone(number, result):
                host.tasks[number].blocks.append(result)
            case Ended(number):
                host.tasks[number].ended = answer
            case Gone(number):
                task = host.tasks.pop(number)
                yield task.session, task.result(answer)
            case other:
                assert_never(other)

    def _end_of(self, host: Host) -> Iterator[Done]:
        """Bury a process: a worker that has done its one session, or one that died."""
        self._hosts.remove(host)
        code, words = host.close()
        for number, task in host.tasks.items():
            yield task.session, task.result(Gone(number, code, dumped_place(words) if host.once else None))
        if not host.ready:
            reason = tidy(words, machine_folders()).strip().rpartition("\n")[2]
            yield from self._give_up("crash", f"PyTorch cannot be imported: the process {death(code)}: {reason}")

    def _give_up(self, kind: FailureKind, message: str) -> Iterator[Done]:
        """Let all sessions that wait fail."""
        while self._waiting:
            failure = Failure(kind, 0, Place(0, 0), message)
            yield self._waiting.popleft(), SessionResult((BlockResult(),), failure)
