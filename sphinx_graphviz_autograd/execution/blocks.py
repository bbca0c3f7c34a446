"""Running the blocks of one session, in the process that is there for it alone."""

from __future__ import annotations
import __future__

import ast
import atexit
import builtins
import contextlib
import difflib
import os
import random
import sys
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Final, Protocol, cast

from sphinx_graphviz_autograd.execution.dependencies import ProjectFiles, imported_versions
from sphinx_graphviz_autograd.execution.drawings import as_drawing
from sphinx_graphviz_autograd.execution.failures import (
    exception_failure,
    exception_line,
    exception_text,
    is_expected,
    remember_source,
    syntax_failure,
)
from sphinx_graphviz_autograd.execution.messages import BlockDone, Ended
from sphinx_graphviz_autograd.execution.outputs import flush_output, printed
from sphinx_graphviz_autograd.execution.session import (
    PRELUDE_NAME,
    BlockResult,
    Failure,
    Figure,
    Session,
    Snippet,
    block_name,
)
from sphinx_graphviz_autograd.model import CaptureOptions, Place
from sphinx_graphviz_autograd.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sphinx_graphviz_autograd.execution.paths import Folders
    from sphinx_graphviz_autograd.execution.spools import Spools
    from sphinx_graphviz_autograd.tracing.record import Recorder

    class _Seeding(Protocol):
        """The modules `torch` and `numpy.random`, as far as they are used here."""

        def manual_seed(self, seed: int) -> object: ...
        def seed(self, seed: int) -> None: ...


_FUTURE: Final = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})
"""The compiler flags that `from __future__ import ...` sets; they hold for the blocks that follow."""


@dataclass
class _Running:
    """A session on its way."""

    session: Session
    folders: Folders
    namespace: dict[str, object]
    recorder: Recorder
    flags: int = 0
    recursion_limit: int = field(default_factory=sys.getrecursionlimit)
    """How deep the author's code may call; what runs around it keeps to a limit of its own."""
    last: list[object] = field(default_factory=list)
    """The value of the block's last expression, once there is one."""


def run_session(
    number: int, session: Session, spools: Spools, folders: Folders, tell: Callable[[BlockDone | Ended], None]
) -> None:
    """Run the blocks in order, tell what came of each, and at last how the session ended."""
    from sphinx_graphviz_autograd.tracing.record import Recorder  # noqa: PLC0415  # imports torch: in workers only

    namespace = _fresh_main(session.folder)
    files = ProjectFiles(session.root)
    files.watch()
    options = CaptureOptions(data=any(snippet.capture.data for snippet in session.snippets))
    running = _Running(session, folders, namespace, Recorder(options, folder=session.folder))
    _seed(session.seed)
    failure = _run_prelude(running)
    if failure is not None:
        tell(_block_done(number, BlockResult(), spools, folders))
    for block, snippet in enumerate(session.snippets):
        if failure is not None:
            break
        result, failure = (BlockResult(), None) if snippet.skip else _run_block(running, block, snippet)
        tell(_block_done(number, result, spools, folders))
    with contextlib.suppress(BaseException):  # the results are in; what the author's code leaves behind tidies up
        atexit._run_exitfuncs()  # noqa: SLF001  # the process will end without it
    dependencies = files.found()
    tell(Ended(number, failure, _environment(session, dependencies), dependencies))


def _block_done(number: int, result: BlockResult, spools: Spools, folders: Folders) -> BlockDone:
    """Add to a result what was printed."""
    flush_output()
    output, cut = printed(spools, folders)
    return BlockDone(number, replace(result, output=output, cut=cut))


def _fresh_main(folder: str) -> dict[str, object]:
    """Make the surroundings of a script in this folder, and return its namespace."""
    os.chdir(folder)
    sys.path[:] = [folder, *(path for path in sys.path if path not in {"", folder})]
    sys.argv[:] = [""]
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    return main.__dict__


def _seed(seed: int) -> None:
    """Set the random number generators of Python, PyTorch and NumPy, those that are loaded."""
    random.seed(seed)
    if "torch" in sys.modules:
        cast("_Seeding", sys.modules["torch"]).manual_seed(seed)
    if "numpy.random" in sys.modules:
        cast("_Seeding", sys.modules["numpy.random"]).seed(seed % 2**32)


def _run_prelude(running: _Running) -> Failure | None:
    source = running.session.prelude
    remember_source(PRELUDE_NAME, source)
    try:
        exec(compile(source, PRELUDE_NAME, "exec", dont_inherit=True), running.namespace)  # noqa: S102  # what this is for
    except BaseException as error:  # noqa: BLE001  # the author's code may raise anything
        failure = exception_failure(error, 0, running.folders)
        return Failure(
            failure.kind, 0, Place(0, 0), f"{failure.message} (in `autograd_graph_prelude`)", failure.traceback
        )
    return None


def _run_block(running: _Running, block: int, snippet: Snippet) -> tuple[BlockResult, Failure | None]:
    name = block_name(block)
    remember_source(name, snippet.code)
    try:
        codes = _compiled(running, snippet, name)
        running.recorder.add_block(name, block, snippet.code)
    except Exception as error:  # noqa: BLE001  # the compiler raises more than SyntaxError, and all of it is the author's
        if snippet.raises is not None and is_expected(error, snippet.raises):
            return BlockResult(expected=exception_text(error, running.folders)), None
        return BlockResult(), syntax_failure(error, block, snippet.code, running.folders)
    before = {name: id(value) for name, value in running.namespace.items()}  # which keeps nothing alive
    with running.recorder:
        raised = _execute(running, codes)
        unchanged = _unchanged(snippet.code, before, running.namespace) if raised else frozenset()
        values, refusals = _evaluate(running, snippet, unchanged)
    expected = raised is not None and snippet.raises is not None and is_expected(raised, snippet.raises)
    failed = raised is not None and not expected
    figures, more = _figures(running, snippet, values)
    running.last.clear()
    text = exception_text(raised, running.folders) if raised is not None and expected else ""
    result = BlockResult(figures=figures, refusals=() if failed else (*refusals, *more), expected=text)
    return result, exception_failure(raised, block, running.folders) if raised is not None and failed else None


def _compiled(running: _Running, snippet: Snippet, name: str) -> list[CodeType]:
    """Compile a block; if its last expression is to be drawn, that is a code of its own at the end."""
    tree = ast.parse(snippet.code, name)
    last = tree.body[-1] if tree.body else None
    parts: list[ast.Module | ast.Expression] = [tree]
    if snippet.draw and not snippet.expressions and isinstance(last, ast.Expr):
        tree.body.pop()
        parts.append(ast.Expression(last.value))
    codes = []
    for part in parts:
        mode = "exec" if isinstance(part, ast.Module) else "eval"
        codes.append(compile(part, name, mode, flags=running.flags, dont_inherit=True))
        running.flags |= codes[-1].co_flags & _FUTURE
    return codes


def _execute(running: _Running, codes: list[CodeType]) -> BaseException | None:
    """Run a block; return the exception that it raised."""
    process = os.getpid()
    own_limit = sys.getrecursionlimit()
    sys.setrecursionlimit(running.recursion_limit)
    try:
        exec(codes[0], running.namespace)  # noqa: S102  # what this is for
        running.last.extend(eval(code, running.namespace) for code in codes[1:])  # noqa: S307  # likewise
    except BaseException as error:  # noqa: BLE001  # the author's code may raise anything
        return error
    finally:
        if os.getpid() != process:
            os._exit(0)  # a fork that the author's code has made, and let run on into ours
        running.recursion_limit = sys.getrecursionlimit()
        sys.setrecursionlimit(own_limit)
    return None


def _unchanged(source: str, before: Mapping[str, int], after: Mapping[str, object]) -> frozenset[str]:
    """Return the names that a block was to assign and, as it failed, did not."""
    assigned = {
        node.id
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return frozenset(name for name in assigned if name not in after or before.get(name) == id(after[name]))


def _evaluate(
    running: _Running, snippet: Snippet, unchanged: frozenset[str]
) -> tuple[dict[str, object], list[Refusal]]:
    """Evaluate each expression of a block once; leave out those that are about names in `unchanged`."""
    if not snippet.draw:
        return {}, []
    if not snippet.expressions:
        if not running.last:
            return {}, [Refusal("", "no_expression")]
        return {_last_expression(snippet.code): running.last[0]}, []
    values: dict[str, object] = {}
    refusals = []
    for expression in snippet.expressions:
        try:
            code = compile(expression, "<autograd-graph argument>", "eval", flags=running.flags, dont_inherit=True)
            if unchanged.isdisjoint(code.co_names):
                values[expression] = eval(code, running.namespace)  # noqa: S307  # what this is for
        except NameError as error:
            refusals.append(Refusal(expression, "undefined", _undefined(error, running.namespace)))
        except BaseException as error:  # noqa: BLE001  # the author's code may raise anything
            refusals.append(Refusal(expression, "raised", exception_line(error, running.folders)))
    return values, refusals


def _last_expression(source: str) -> str:
    """Return the last expression of a block as written, but on one line."""
    segment = ast.get_source_segment(source, ast.parse(source).body[-1]) or ""
    return " ".join(line.strip() for line in segment.splitlines())


def _undefined(error: NameError, namespace: Mapping[str, object]) -> str:
    """Say which name is unknown, and which known one is most like it."""
    known = [name for name in _named(namespace) if not name.startswith("_")]
    close = difflib.get_close_matches(error.name or "", known, 1)
    hint = f"; did you mean `{close[0]}`?" if close else ""
    return f"`{error.name}` is not defined{hint}" if error.name else str(error)


def _named(namespace: Mapping[str, object]) -> dict[str, object]:
    """Return what has a name: `globals()[3] = x` is allowed."""
    return {name: value for name, value in namespace.items() if type(name) is str}


def _figures(
    running: _Running, snippet: Snippet, values: Mapping[str, object]
) -> tuple[tuple[Figure, ...], tuple[Refusal, ...]]:
    """Capture the graphs behind the values: a figure for each drawing, and one for the rest or for each of it."""
    from sphinx_graphviz_autograd.tracing.capture import capture  # noqa: PLC0415  # imports torch: in workers only

    figures: list[Figure] = []
    refusals: list[Refusal] = []
    namespace = _named(running.namespace)
    for part in _parts(running, snippet, values):
        drawing = as_drawing(next(iter(part.values())), running.folders)
        if drawing is not None:
            figures.append(Figure(next(iter(part)), drawing))
            continue
        with warnings.catch_warnings(action="ignore"):  # the author's filters are not meant for what we do
            captured = capture(part, recorder=running.recorder, namespace=namespace, options=snippet.capture)
        refusals.extend(captured.refusals)
        if captured.graph is not None:
            refused = {one.expression for one in captured.refusals if one.reason not in {"freed", "backward"}}
            drawn = [expression for expression in part if expression not in refused]
            figures.append(Figure(", ".join(drawn), captured.graph))
    return tuple(figures), tuple(refusals)


def _parts(running: _Running, snippet: Snippet, values: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Divide the values into figures."""
    together: dict[str, object] = {}
    for expression, value in values.items():
        if snippet.separate or as_drawing(value, running.folders) is not None:
            yield {expression: value}
        else:
            together[expression] = value
    if together:
        yield together


def _environment(session: Session, dependencies: Mapping[str, str]) -> dict[str, str]:
    """Return the versions of what the blocks, the prelude and the project's modules import."""
    sources = [session.prelude, *(snippet.code for snippet in session.snippets if not snippet.skip)]
    own = set()
    for path in dependencies:
        if path.endswith(".py"):
            own |= {part.removesuffix(".py") for part in path.split("/")}
            with contextlib.suppress(OSError, UnicodeError):
                sources.append(Path(session.root, path).read_text(encoding="utf-8"))
    return imported_versions(sources, own)
