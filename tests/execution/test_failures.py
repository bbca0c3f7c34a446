"""How code fails, and where and in what words that is told."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from sphinx_graphviz_autograd.execution.failures import statement_line
from sphinx_graphviz_autograd.execution.session import Failure, Snippet
from sphinx_graphviz_autograd.model import Place
from tests.execution.sessions import drawn

if TYPE_CHECKING:
    from tests.execution.sessions import Workbench


def failure(bench: Workbench, *blocks: str | Snippet) -> Failure:
    """Run blocks that fail, and return how."""
    found = bench.run(*blocks).failure
    assert found is not None
    assert str(bench.folder) not in found.message + found.traceback
    assert "sphinx_graphviz_autograd" not in found.traceback
    return found


@pytest.mark.parametrize(
    ("blocks", "kind", "place", "message"),
    [
        pytest.param(["x = 1\n\nraise ValueError('bad')"], "execution", (0, 3), "ValueError: bad", id="a third line"),
        pytest.param(
            ["x = 1", "y = [\n    1,\n    x / 0,\n]"],
            "execution",
            (1, 1),
            "ZeroDivisionError: division by zero",
            id="a statement over several lines",
        ),
        pytest.param(
            ["def f(x):\n    y = 1\n    return y / x", "pass\nf(\n    0)"],
            "execution",
            (0, 3),
            "ZeroDivisionError: division by zero",
            id="a function of an earlier block",
        ),
        pytest.param(["x = 1\ny = (2 +\nz = 3"], "syntax", (0, 2), "SyntaxError: '(' was never closed", id="syntax"),
        pytest.param(
            ["x = 1", "if x:\ny = 2"],
            "syntax",
            (1, 2),
            "IndentationError: expected an indented block after 'if' statement on line 1",
            id="indentation",
        ),
        pytest.param(
            ["breakpoint()"],
            "execution",
            (0, 1),
            "EOFError: nobody can answer while documents are built: standard input is not available",
            id="breakpoint",
        ),
        pytest.param(["pass\nreturn 1"], "syntax", (0, 2), "SyntaxError: 'return' outside function", id="compiler"),
        pytest.param(["pass\nraise KeyboardInterrupt"], "execution", (0, 2), "KeyboardInterrupt", id="interrupt"),
        pytest.param(
            ["def f(n):\n    return f(n + 1)\nf(0)"],
            "execution",
            (0, 2),
            "RecursionError: maximum recursion depth exceeded",
            id="recursion",
        ),
        pytest.param(
            ["import warnings\nwarnings.simplefilter('error')", "pass\nwarnings.warn('careful')"],
            "execution",
            (1, 2),
            "UserWarning: careful",
            id="a warning made an error",
        ),
        pytest.param(
            ["pass\nraise ExceptionGroup('two', [ValueError('a'), KeyError('b')])"],
            "execution",
            (0, 2),
            "ExceptionGroup: two (2 sub-exceptions)",
            id="a group",
        ),
        pytest.param(
            ["class Bad(Exception):\n    def __str__(self):\n        raise OSError\nraise Bad"],
            "execution",
            (0, 4),
            "Bad: <no text, as OSError was raised>",
            id="no text",
        ),
        pytest.param(
            ["class Bad(Exception):\n    def __str__(self):\n        raise KeyboardInterrupt\nraise Bad"],
            "execution",
            (0, 4),
            "Bad: <no text, as KeyboardInterrupt was raised>",
            id="text that interrupts",
        ),
        pytest.param(["raise ValueError('one\\ntwo')"], "execution", (0, 1), "ValueError: one", id="several lines"),
        pytest.param(["import sys\nsys.exit(3)"], "crash", (0, 2), "the code called sys.exit(3)", id="exit"),
        pytest.param(["exit()"], "crash", (0, 1), "the code called sys.exit()", id="exit without a status"),
        pytest.param(
            ["raise SystemExit('bye')"], "crash", (0, 1), "the code called sys.exit('bye')", id="exit with a text"
        ),
        pytest.param(
            ["input('name? ')"],
            "execution",
            (0, 1),
            "EOFError: nobody can answer while documents are built: standard input is not available",
            id="input",
        ),
        pytest.param(["import torch\nx = torch.ones(2) @ torch.ones(3)"], "execution", (0, 2), None, id="torch"),
    ],
)
def test_a_failure_has_its_place_and_its_words(
    bench: Workbench, blocks: list[str], kind: str, place: tuple[int, int], message: str | None
) -> None:
    """A block that fails is told by the innermost line of the document's code, and by its exception on one line."""
    found = failure(bench, *blocks, "print('never')")

    assert (found.kind, (found.place.block, found.place.line)) == (kind, place)
    assert found.message == message or (message is None and found.message.startswith("RuntimeError: "))
    assert found.block == len(blocks) - 1


def test_blocks_after_a_failure_are_not_run(bench: Workbench) -> None:
    """There is a result for each block that was begun, the last with what it printed until it failed."""
    result = bench.run("print(1)", "print(2)\n1 / 0", "print(3)")

    assert ["".join(text.text for text in block.output) for block in result.blocks] == ["1\n", "2\n"]


def test_a_traceback_names_blocks_and_project_files(bench: Workbench) -> None:
    """Frames are the author's, by block or by path relative to the document, down to the line that failed."""
    (bench.folder / "helper.py").write_text("def bad(x):\n    return x / 0\n")
    found = failure(bench, "import helper\ndef f(x):\n    return helper.bad(x)", "pass\nf(3)")

    lines = [line for line in found.traceback.splitlines() if not set(line) <= set(" ~^")]
    assert "\n".join(lines) == dedent("""\
        Traceback (most recent call last):
          File "<autograd-graph 1>", line 2, in <module>
            f(3)
          File "<autograd-graph 0>", line 3, in f
            return helper.bad(x)
          File "helper.py", line 2, in bad
            return x / 0
        ZeroDivisionError: division by zero""")
    assert (found.block, found.place) == (1, Place(0, 3))


def test_a_module_that_is_no_python_is_told_at_its_import(bench: Workbench) -> None:
    """A syntax error in an imported module is shown there, and is a failure of the line that imports it."""
    (bench.folder / "helper.py").write_text("x = 1\ny = (\n")
    found = failure(bench, "x = 1\nimport helper")

    assert (found.kind, found.place, found.message) == ("execution", Place(0, 2), "SyntaxError: '(' was never closed")
    assert '  File "helper.py", line 2\n' in found.traceback


def test_frames_of_packages_are_shown_without_where_they_are_installed(bench: Workbench) -> None:
    """Frames in PyTorch are kept, by the path inside of where packages lie."""
    found = failure(bench, "import torch\ntorch.nn.Linear(2, 3)(torch.ones(1))")

    assert '  File "torch/nn/modules/linear.py", line ' in found.traceback


def test_chained_exceptions_are_shown_whole(bench: Workbench) -> None:
    """Causes come first, each with frames of its own."""
    found = failure(bench, "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('bad') from e")

    assert found.place == Place(0, 4)
    assert found.traceback.count('File "<autograd-graph 0>"') == 2
    assert "The above exception was the direct cause of the following exception:" in found.traceback


def test_what_the_compiler_finds_is_shown_with_its_line(bench: Workbench) -> None:
    """An error that is not one of grammar is shown in its line as well."""
    failure = bench.run("pass\nreturn 1").failure

    assert failure is not None
    assert "    return 1\n    ^" in failure.traceback


def test_lines_are_those_of_python(bench: Workbench) -> None:
    """A form feed, or another character that ends lines elsewhere, ends none in Python."""
    failure = bench.run("a = 1\n\x0c\nb = '\u2028'\n1 / 0").failure

    assert failure is not None
    assert failure.place == Place(0, 4)
    assert "line 4, in <module>\n    1 / 0\n" in failure.traceback


def test_members_of_a_group_are_shown(bench: Workbench) -> None:
    """A group's traceback has those of its members."""
    found = failure(
        bench,
        """
        def one():
            raise KeyError("one")
        try:
            one()
        except KeyError as error:
            raise ExceptionGroup("all", [error])
        """,
    )

    assert found.place == Place(0, 6)
    assert 'File "<autograd-graph 0>", line 2, in one' in found.traceback


def test_graphs_captured_before_a_failure_are_kept(bench: Workbench) -> None:
    """Of a block that fails, what its expressions have become is drawn; what it had still to assign is not."""
    result = bench.run(
        "import torch\nw = torch.ones(2, requires_grad=True)\nloss = w.sum()",
        drawn("yhat = w * 2\n1 / 0\nloss = yhat.mean()", "yhat", "loss", separate=True),
    )

    assert [figure.expression for figure in result.blocks[1].figures] == ["yhat"]
    assert result.blocks[1].refusals == ()


@pytest.mark.parametrize(
    ("code", "name", "expected"),
    [
        ("1 / 0", "ZeroDivisionError", "ZeroDivisionError: division by zero"),
        ("1 / 0", "ArithmeticError", "ZeroDivisionError: division by zero"),
        ("1 / 0", "", "ZeroDivisionError: division by zero"),
        ("import json\njson.loads('')", "json.decoder.JSONDecodeError", None),
        ("raise ValueError('one\\ntwo')", "ValueError", "ValueError: one\ntwo"),
        ("raise SystemExit(3)", "SystemExit", "SystemExit: 3"),
        ("x = (", "SyntaxError", "SyntaxError: '(' was never closed"),
        ("1", "ValueError", ""),
    ],
)
def test_an_expected_exception_is_a_result(bench: Workbench, code: str, name: str, expected: str | None) -> None:
    """An exception that is announced, by its class or a base of it, is shown, and the session goes on."""
    result = bench.run(Snippet(code, raises=name), "print('on')")

    assert result.failure is None
    assert result.blocks[0].expected == (
        expected if expected is not None else "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"
    )
    assert result.blocks[1].output[0].text == "on\n"


def test_another_exception_than_expected_is_a_failure(bench: Workbench) -> None:
    """An exception that was not announced ends the session as ever."""
    assert failure(bench, Snippet("1 / 0", raises="ValueError")).message == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("source", "line", "first"),
    [
        ("x = [\n1,\n2]", 3, 1),
        ("for x in (\n1,\n2,\n):\n    pass", 2, 1),
        ("if x:\n    f(\n    1)\n", 3, 2),
        ("try:\n    pass\nexcept (\n    y):\n    pass", 4, 4),
        ("if a: b\nelif c: d", 2, 2),
        ("@f(\n1)\ndef g(): pass", 2, 2),
        ("x = 1; y = [\n2]", 2, 1),
        ("def f(:", 1, 1),
        ("", 0, 0),
    ],
)
def test_a_statement_is_told_by_its_first_line(source: str, line: int, first: int) -> None:
    """The line is that where the innermost statement begins; what is no statement keeps its line."""
    assert statement_line(source, line) == first
