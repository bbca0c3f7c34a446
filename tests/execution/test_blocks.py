"""What blocks see when they run, and what comes of them."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sphinx_graphviz_autograd.execution.session import Drawing, Snippet
from sphinx_graphviz_autograd.model import GradFn, Graph, Place
from tests.execution.sessions import drawn, session

if TYPE_CHECKING:
    from tests.execution.sessions import Workbench

MODEL = """
    import torch
    x = torch.tensor([1.0, 2.0])
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    yhat = w * x
    loss = yhat.sum()
"""


def graph(bench: Workbench, *blocks: str | Snippet) -> Graph:
    """Run blocks, and return the one graph of the last."""
    result = bench.run(*blocks)
    assert result.failure is None
    (figure,) = result.blocks[-1].figures
    assert isinstance(figure.graph, Graph)
    return figure.graph


def test_blocks_share_a_namespace(bench: Workbench) -> None:
    """A block sees what earlier blocks of its session assigned, and another session does not."""
    first, second = bench.run_all(
        session(bench.folder, "a = 1", "print(a)", name="one"), session(bench.folder, "print('a' in dir())", name="two")
    )

    assert first.blocks[1].output[0].text == "1\n"
    assert second.blocks[0].output[0].text == "False\n"


def test_the_surroundings_are_those_of_a_script(bench: Workbench) -> None:
    """Code runs as `__main__`, in the document's folder, which comes first where modules are looked for."""
    (bench.folder / "helper.py").write_text("NAME = __name__\n")
    (bench.folder / "data.txt").write_text("42\n")

    assert (
        bench.printed(
            """
        import sys, helper
        print(__name__, sys.modules["__main__"].__dict__ is globals(), helper.NAME, open("data.txt").read().strip())
        print(sys.argv, sys.path[0] == __import__("os").getcwd())
        """
        )
        == "__main__ True helper 42\n[''] True\n"
    )


def test_the_code_is_alone_in_its_process(bench: Workbench) -> None:
    """Neither Sphinx nor docutils is loaded where the code runs; there is one thread, no GPU, and no bytecode."""
    (bench.folder / "helper.py").touch()

    printed = bench.printed(
        """
        import os, sys, torch, helper
        print([name for name in ("sphinx", "docutils", "conf") if name in sys.modules])
        print(torch.get_num_threads(), torch.cuda.is_available(), os.environ["PYTHONHASHSEED"], sys.dont_write_bytecode)
        """
    )

    assert printed == "[]\n1 False 0 True\n"
    assert not (bench.folder / "__pycache__").exists()


def test_random_numbers_are_the_same_each_time(bench: Workbench) -> None:
    """The generators of Python, NumPy and PyTorch start from the seed."""
    code = "import random, numpy, torch\nprint(random.random(), numpy.random.rand(), torch.rand(1).item())"

    first, again, other = (bench.run(code, seed=seed).blocks[0].output for seed in (1, 1, 2))

    assert first == again
    assert first[0].text.split() != other[0].text.split()


def test_the_prelude_runs_first(bench: Workbench) -> None:
    """The prelude's names are there in the first block."""
    assert bench.run("print(a)", prelude="a = 5").blocks[0].output[0].text == "5\n"


def test_a_failing_prelude_is_told(bench: Workbench) -> None:
    """A prelude that raises is a failure of the first block, at no line of it, which says where it comes from."""
    result = bench.run("print(1)", prelude="a = 5\na.b")

    assert result.failure is not None
    assert result.failure.message == "AttributeError: 'int' object has no attribute 'b' (in `autograd_graph_prelude`)"
    assert result.failure.place == Place(0, 0)
    assert 'File "<autograd_graph_prelude>", line 2' in result.failure.traceback


def test_future_imports_hold_for_later_blocks(bench: Workbench) -> None:
    """A `from __future__` import changes how the blocks after it are compiled too, as in a notebook."""
    assert bench.printed("from __future__ import annotations", "def f(x: nothing): ...\nprint(f.__annotations__)") == (
        "{'x': 'nothing'}\n"
    )


def test_source_can_be_looked_at(bench: Workbench) -> None:
    """Functions of a block have source text, as `torch.compile` and `inspect` need it."""
    assert bench.printed("import inspect", "def f():\n    return 1\n\nprint(inspect.getsource(f))") == (
        "def f():\n    return 1\n\n"
    )


def test_variables_of_one_block_make_one_graph(bench: Workbench) -> None:
    """The graph has an output for each expression, and knows the lines of the block."""
    found = graph(bench, drawn(MODEL, "loss", "yhat"))

    assert [output.name for output in found.outputs] == ["loss", "yhat"]
    assert {node.name: node.place for node in found.nodes if isinstance(node, GradFn)} == {
        "SumBackward0": Place(0, 5),
        "MulBackward0": Place(0, 4),
    }


def test_separate_expressions_make_a_graph_each(bench: Workbench) -> None:
    """With `separate` there is a figure for each expression, in the order written."""
    result = bench.run(drawn(MODEL, "loss", "yhat", separate=True))

    assert [figure.expression for figure in result.blocks[0].figures] == ["loss", "yhat"]


def test_a_block_without_code_draws_what_is_there(bench: Workbench) -> None:
    """Expressions are evaluated in the session as it stands, each once."""
    result = bench.run(
        MODEL,
        "count = 0\ndef call():\n    global count\n    count += 1\n    return loss",
        drawn("", "call()"),
        "print(count)",
    )

    assert result.blocks[2].figures[0].expression == "call()"
    assert result.blocks[3].output[0].text == "1\n"


def test_without_expressions_the_last_value_is_drawn(bench: Workbench) -> None:
    """As in a notebook's cell, the value of the last expression is shown, under the text that it has in the block."""
    result = bench.run(MODEL, drawn("y = 1\nloss.mul(\n    2\n)"))

    (figure,) = result.blocks[1].figures
    assert figure.expression == "loss.mul( 2 )"
    assert isinstance(figure.graph, Graph)
    assert next(node.place for node in figure.graph.nodes if isinstance(node, GradFn)) == Place(1, 2)


def test_a_block_that_ends_in_no_expression_says_so(bench: Workbench) -> None:
    """Without expressions, a block that ends in a statement leaves nothing to draw."""
    (refusal,) = bench.run(drawn(MODEL)).blocks[0].refusals

    assert refusal.reason == "no_expression"


def test_an_unknown_name_is_refused_and_the_rest_drawn(bench: Workbench) -> None:
    """A name that does not exist is told with the one that may be meant; it does not end the session."""
    result = bench.run(drawn(MODEL, "yhta", "loss", "loss.nothing"), "print('on')")

    assert [figure.expression for figure in result.blocks[0].figures] == ["loss"]
    assert [(refusal.expression, refusal.reason, refusal.detail) for refusal in result.blocks[0].refusals] == [
        ("yhta", "undefined", "`yhta` is not defined; did you mean `yhat`?"),
        ("loss.nothing", "raised", "AttributeError: 'Tensor' object has no attribute 'nothing'"),
    ]
    assert result.blocks[1].output[0].text == "on\n"


def test_a_value_without_a_graph_is_refused(bench: Workbench) -> None:
    """What PyTorch recorded nothing for is told by its expression."""
    result = bench.run(drawn(MODEL, "x"))

    assert not result.blocks[0].figures
    assert [(refusal.expression, refusal.reason) for refusal in result.blocks[0].refusals] == [("x", "no_grad_input")]


def test_a_drawing_of_torchviz_is_taken_with_its_nodes_renumbered(bench: Workbench) -> None:
    """The drawing that `make_dot` gives is the same in every process, though its names are addresses."""
    pytest.importorskip("torchviz")
    blocks = (MODEL, drawn("from torchviz import make_dot\nmake_dot(loss, params={'w': w}, show_saved=True)"))
    results = bench.run_all(session(bench.folder, *blocks, name="one"), session(bench.folder, *blocks, name="two"))

    first, second = (result.blocks[1].figures[0].graph for result in results)
    assert first == second
    assert isinstance(first, Drawing)
    assert "\tn0 [label=" in first.source
    assert "\tn1 -> n0\n" in first.source
    assert 'label="w\n (2)"' in first.source


def test_a_drawing_among_expressions_has_a_figure_of_its_own(bench: Workbench) -> None:
    """What the `graphviz` package drew is not mixed with a captured graph."""
    pytest.importorskip("graphviz")
    result = bench.run(
        MODEL, drawn("import graphviz\ndot = graphviz.Source('digraph { a -> b }')", "loss", "dot", "yhat")
    )

    assert [(figure.expression, type(figure.graph)) for figure in result.blocks[1].figures] == [
        ("dot", Drawing),
        ("loss, yhat", Graph),
    ]


def test_a_skipped_block_is_not_run(bench: Workbench) -> None:
    """A block with `skip` has an empty result."""
    result = bench.run("a = 1", replace(Snippet("a = 2"), skip=True), "print(a)")

    assert len(result.blocks) == 3
    assert result.blocks[2].output[0].text == "1\n"


def test_what_the_code_leaves_behind_is_tidied_up(bench: Workbench) -> None:
    """Functions for the end of the process are called, and temporary folders removed."""
    result = bench.run(
        """
        import atexit, pathlib, tempfile
        atexit.register(pathlib.Path("ended").touch)
        folder = tempfile.TemporaryDirectory(dir=".")
        """
    )

    assert result.failure is None
    assert sorted(path.name for path in bench.folder.iterdir()) == ["ended", "pyproject.toml"]


def test_filters_of_warnings_do_not_reach_us(bench: Workbench) -> None:
    """Code that turns warnings into errors does so for itself; capturing goes on."""
    assert graph(bench, MODEL, drawn("import warnings\nwarnings.simplefilter('error')", "loss")).outputs


def test_what_the_code_does_to_the_interpreter_does_not_reach_us(bench: Workbench) -> None:
    """A low limit of recursion, and global names that are no names, leave the figures as they are."""
    code = "import sys\nglobals()[3] = globals()[()] = 4\nsys.setrecursionlimit(60)"

    made = graph(bench, MODEL, code, drawn("assert sys.getrecursionlimit() == 60", "loss"))
    assert [node.name for node in made.nodes if isinstance(node, GradFn)] == ["SumBackward0", "MulBackward0"]
    assert bench.run(code, drawn("", "los")).blocks[1].refusals[0].reason == "undefined"


def test_the_environment_names_what_was_imported(bench: Workbench) -> None:
    """Versions are noted of Python, PyTorch, and what blocks, prelude and the project's modules import by name."""
    (bench.folder / "helper.py").write_text("import numpy\nimport json\n")
    result = bench.run("import helper, collections", prelude="import graphviz")

    assert list(result.environment) == ["graphviz", "numpy", "python", "torch"]
    assert result.environment["python"] == f"{sys.version_info.major}.{sys.version_info.minor}"
    assert "+" not in result.environment["torch"]


def test_what_the_code_depends_on_is_noted(bench: Workbench) -> None:
    """Modules and files of the project's own are noted by relative path, what is installed or written is not."""
    docs, library = bench.folder / "docs", bench.folder / "src" / "mine"
    for folder in (docs / "data", library):
        folder.mkdir(parents=True)
    (library / "__init__.py").touch()
    (library / "part.py").write_text("VALUE = 1\n")
    (docs / "data" / "input.csv").write_text("1,2\n")
    (docs / "unused.py").touch()
    (docs / "helper.py").write_text("import pathlib\nDATA = pathlib.Path('data/input.csv').read_text()\n")
    run = session(
        docs,
        """
        import sys, torch
        sys.path.append("../src")
        import helper, mine.part
        open("output.txt", "w").write("1")
        open("output.txt").read()
        open(torch.__file__).read()
        """,
    )
    ((_, result),) = bench.pool.run([run])

    assert result.failure is None
    assert list(result.dependencies) == [
        "../src/mine/__init__.py",
        "../src/mine/part.py",
        "data/input.csv",
        "helper.py",
    ]
    assert result.dependencies["../src/mine/__init__.py"] == (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )
