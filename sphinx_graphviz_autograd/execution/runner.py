"""Running one session in a process that is there for it alone."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import traceback
import weakref
from typing import IO, TYPE_CHECKING

from sphinx_graphviz_autograd.execution.blocks import run_session
from sphinx_graphviz_autograd.execution.dependencies import installed_version
from sphinx_graphviz_autograd.execution.messages import Answer, Begun, BlockDone, Ended, Ready, answer_line
from sphinx_graphviz_autograd.execution.outputs import capture_output, tidy
from sphinx_graphviz_autograd.execution.paths import folders_of, machine_folders
from sphinx_graphviz_autograd.execution.processes import DUMP_SIGNAL
from sphinx_graphviz_autograd.execution.session import Failure, Session
from sphinx_graphviz_autograd.model import Place

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.execution.spools import Spools


def import_torch() -> Ready:
    """Import PyTorch, which takes seconds, and do all else beforehand that would take every session time."""
    try:
        importlib.import_module("sphinx_graphviz_autograd.tracing.capture")
        importlib.import_module("sphinx_graphviz_autograd.tracing.record")
    except Exception as error:  # noqa: BLE001  # a broken installation of PyTorch can raise anything
        words = tidy(f"{type(error).__name__}: {error}", machine_folders())
        return Ready("PyTorch cannot be imported: " + words.partition("\n")[0])
    with contextlib.suppress(ImportError):
        importlib.import_module("numpy.random")  # it loads late, and what is not loaded is not given the seed
    installed_version("torch")
    for finalizer in list(getattr(weakref.finalize, "_registry", ())):
        finalizer.atexit = False  # PyTorch's take half a second; those of the author's code will run
    return Ready()


def run_alone(number: int, session: Session, spools: Spools, dump: int, channel: IO[bytes]) -> None:
    """Run a session in this process, which is there for it alone."""
    faulthandler.enable(dump, all_threads=False)
    if DUMP_SIGNAL is not None:
        faulthandler.register(DUMP_SIGNAL, dump, all_threads=False)
    _note_exit(dump)

    done: list[BlockDone] = []

    def tell(answer: Answer) -> None:
        if isinstance(answer, BlockDone):
            done.append(answer)
        line = memoryview(answer_line(answer))
        while line:
            line = line[channel.write(line) :]

    folders = folders_of(session)
    capture_output(spools)
    tell(Begun(number))
    try:
        run_session(number, session, spools, folders, tell)
    except BaseException as error:  # noqa: BLE001  # a defect of ours must not look like one of the author's
        words = f"the extension itself failed, please report it: {type(error).__name__}: {error}".partition("\n")[0]
        trace = "".join(traceback.format_exception(error))
        block = min(len(done), len(session.snippets) - 1)
        tell(Ended(number, Failure("crash", block, Place(block, 0), tidy(words, folders), tidy(trace, folders))))


def _note_exit(dump: int) -> None:
    """Have `os._exit` note where it was called; nothing else tells."""
    leave = os._exit
    process = os.getpid()

    def noting_exit(status: int) -> None:
        if os.getpid() == process:
            faulthandler.dump_traceback(dump, all_threads=False)
        leave(status)

    os._exit = noting_exit  # type: ignore[assignment]  # it does not return either
