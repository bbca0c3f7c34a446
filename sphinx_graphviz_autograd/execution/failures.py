"""Exceptions and deaths of the author's code as data: in which block and line, and in words without our own frames."""

from __future__ import annotations

import ast
import linecache
import re
import signal
import traceback
from typing import TYPE_CHECKING, Final

from sphinx_graphviz_autograd.execution.outputs import tidy
from sphinx_graphviz_autograd.execution.paths import PACKAGE, Folders, shown_file
from sphinx_graphviz_autograd.execution.session import Failure, FailureKind, block_name
from sphinx_graphviz_autograd.model import Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx_graphviz_autograd.execution.session import Session

_LONGEST: Final = 500
"""How many characters of an exception a warning shows."""

_BLOCK_NAME: Final = re.compile(r"<autograd-graph (\d+)>")

_DUMPED: Final = re.compile(r'File "<autograd-graph (\d+)>", line (\d+)')
"""A frame of a block in what `faulthandler` writes."""


def remember_source(name: str, source: str) -> None:
    """Let tracebacks and `inspect` find the source text of code that is in no file."""
    linecache.cache[name] = (len(source), None, [f"{row}\n" for row in source.split("\n")], name)


def exception_failure(error: BaseException, block: int, folders: Folders) -> Failure:
    """Return the failure that an exception is, which ended a block."""
    kind: FailureKind = "execution"
    message = exception_line(error, folders)
    if isinstance(error, SystemExit):
        kind = "crash"
        code = "" if error.code is None else _words(lambda: repr(error.code))
        message = _one_line(tidy(f"the code called sys.exit({code})", folders))
    return Failure(kind, block, _innermost_place(error, block), message, _traceback_text(error, folders))


def syntax_failure(error: Exception, block: int, source: str, folders: Folders) -> Failure:
    """Return the failure that an exception of the compiler is."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    rows = source.rstrip().split("\n")  # `splitlines` would end lines where Python does not, as at a form feed
    last = max(1, len(rows))
    if isinstance(error, SyntaxError) and error.text is None and line and line <= len(rows):
        error.text = rows[line - 1]  # what is wrong beyond the grammar comes without it
    text = tidy("".join(traceback.TracebackException(type(error), error, None).format_exception_only()), folders)
    return Failure("syntax", block, Place(block, min(line or 0, last)), exception_line(error, folders), text)


def exception_line(error: BaseException, folders: Folders) -> str:
    """Return an exception on one line, as `ValueError: bad`."""
    return _one_line(exception_text(error, folders))


def exception_text(error: BaseException, folders: Folders) -> str:
    """Return an exception as the end of its traceback has it, which may be several lines."""
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__ not in {"builtins", "__main__"}:
        name = f"{kind.__module__}.{name}"
    words = _words(lambda: (error.msg or "") if isinstance(error, SyntaxError) else str(error)).strip()
    return tidy(f"{name}: {words}" if words else name, folders)


def _words(describe: Callable[[], str]) -> str:
    """Return what the author's `__str__` or `__repr__` gives, which may do anything."""
    try:
        return describe()
    except BaseException as error:  # noqa: BLE001  # anything indeed
        return f"<no text, as {type(error).__name__} was raised>"


def _one_line(text: str) -> str:
    line = text.partition("\n")[0].rstrip()
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "..."


def is_expected(error: BaseException, name: str) -> bool:
    """Return whether an exception is one of those that `raises` names; an empty name stands for any."""
    names = {part for kind in type(error).__mro__ for part in (kind.__name__, f"{kind.__module__}.{kind.__qualname__}")}
    return not name or name in names


def dumped_place(dump: str) -> Place | None:
    """Return the innermost line of a block in what `faulthandler` wrote when the process died, if there is one."""
    frame = _DUMPED.search(dump)
    return Place(int(frame[1]), int(frame[2])) if frame else None


def death_failure(session: Session, block: int, code: int, place: Place | None, limit: float | None) -> Failure:
    """Return the failure that the end of a session's process is.

    Args:
        session: the session.
        block: the block that was running.
        code: the exit status; a signal as a negative number.
        place: a line that was running, if that is known.
        limit: how many seconds the session had, if it was ended because it took longer.
    """
    if limit is not None:
        kind: FailureKind = "timeout"
        message = f"the code did not end within {limit:g} seconds (`autograd_graph_timeout`)"
    else:
        kind = "crash"
        message = (
            f"the code called os._exit({code})"
            if code >= 0 and place is not None
            else f"the process that ran the code {death(code)}"
        )
    if place is None or place.block >= len(session.snippets):
        return Failure(kind, block, Place(block, 0), message)
    line = statement_line(session.snippets[place.block].code, place.line)
    return Failure(kind, block, Place(place.block, line), message)


def death(code: int) -> str:
    """Return in words how a process ended that should not have."""
    if code >= 0:
        return f"ended with exit status {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = "unknown"
    hint = ", perhaps as memory ran out" if name == "SIGKILL" else ""
    return f"ended with signal {-code} ({name}){hint}"


def _traceback_text(error: BaseException, folders: Folders) -> str:
    shaped = traceback.TracebackException(type(error), error, error.__traceback__, compact=True)
    seen: set[int] = set()
    waiting: list[traceback.TracebackException | None] = [shaped]
    while waiting:
        part = waiting.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        part.stack = traceback.StackSummary.from_list(_shown_frames(part.stack, folders))
        waiting += [part.__cause__, part.__context__, *(part.exceptions or ())]
    return tidy("".join(shaped.format()), folders)


def _shown_frames(stack: traceback.StackSummary, folders: Folders) -> list[traceback.FrameSummary]:
    frames = [frame for frame in stack if not frame.filename.startswith(PACKAGE)]
    for frame in frames:
        _ = frame.line  # is read now, while the file can be found under its name
        frame.filename = shown_file(frame.filename, folders)
    return frames


def _innermost_place(error: BaseException, block: int) -> Place:
    """Return the place of the innermost frame in the document's own code."""
    place = Place(block, 0)
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        match = _BLOCK_NAME.fullmatch(code.co_filename)
        # while lines are recorded, a recursion that is too deep ends in a call that has not reached its first line
        if match and not (isinstance(error, RecursionError) and trace.tb_lineno == code.co_firstlineno):
            place = Place(int(match[1]), trace.tb_lineno)
        trace = trace.tb_next
    return Place(place.block, statement_line("".join(linecache.getlines(block_name(place.block))), place.line))


def statement_line(source: str, line: int) -> int:
    """Return the first line of the statement that spans a line."""
    try:
        statements = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return line
    spanning = [node for node in statements if node.lineno <= line <= (node.end_lineno or node.lineno)]
    if not spanning:
        return line
    innermost = max(spanning, key=lambda node: (node.lineno, node.col_offset))
    body = getattr(innermost, "body", [])
    if body and line >= body[0].lineno:  # the head of an `except` or `case` is no statement of its own
        return line
    return innermost.lineno
