"""What only the operating system can do for us: ending processes with all their children, and with their parents."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Final

_DIE_WITH_PARENT: Final = 1
_ADOPT_ORPHANS: Final = 36
"""`PR_SET_PDEATHSIG` and `PR_SET_CHILD_SUBREAPER`, see prctl(2)."""

DUMP_SIGNAL: Final = getattr(signal, "SIGUSR1", None)
"""Asks a session's process to note where it is, before it is killed; not on Windows."""


def die_with_parent(*, yes: bool = True) -> None:
    """Have the kernel kill this process when its parent dies, however it dies; only Linux can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL if yes else 0, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of all processes below this one whose own parent dies; only Linux can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0)


def children() -> frozenset[int]:
    """Return the ids of this process's children; none where it cannot be known."""
    try:
        lists = [file.read_text() for file in Path("/proc/self/task").glob("*/children")]
    except OSError:
        return frozenset()
    return frozenset(int(word) for words in lists for word in words.split())


def kill_orphans() -> None:
    """Kill all children that are left, and theirs, who come to us when their parents die."""
    while left := children():
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def kill_group(process: int) -> None:
    """Kill a process that leads a group of its own, and all that are in the group; it need not be there any more."""
    if sys.platform == "win32":
        taskkill = ["taskkill", "/F", "/T", "/PID", str(process)]
        subprocess.run(taskkill, check=False, capture_output=True)  # noqa: S603  # the command is ours
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process, signal.SIGKILL)


def ask_where(process: int, dump: IO[bytes]) -> None:
    """Ask a session's process to note where it is; wait a little for it."""
    if DUMP_SIGNAL is None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, DUMP_SIGNAL)
    done = threading.Event()
    for _ in range(50):
        if os.fstat(dump.fileno()).st_size or done.wait(0.01):
            return
