"""What ran when: lines, iterations, modules, passes, and which names were given."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from textwrap import dedent
from typing import TYPE_CHECKING, cast

import pytest
import torch

from sphinx_graphviz_autograd.model import CaptureOptions, GradFn, LineRun, ModuleCall, Place
from sphinx_graphviz_autograd.tracing.record import Recorder
from tests.tracing.running import ALL, PLAIN, Ran, function, functions, leaf_names, run, run_blocks

if TYPE_CHECKING:
    from pathlib import Path

    from sphinx_graphviz_autograd.model import Graph


def test_lines_and_iterations() -> None:
    """Each function knows its line, and how many times it had been reached."""
    ran = run("""
        w = leaf(2)
        h = w.sin()
        for _ in range(3):
            h = h.tanh()
        y = h.sum()
        """)

    places = [(fn.forward, fn.place) for fn in functions(ran.graph)]
    assert places == [
        ("sum", Place(1, 5)),
        ("tanh", Place(1, 4, 3)),
        ("tanh", Place(1, 4, 2)),
        ("tanh", Place(1, 4, 1)),
        ("sin", Place(1, 2)),
    ]


def test_statement_over_several_lines_is_one() -> None:
    """All functions of a statement stand on its first line, run once, whatever line of it they are written on."""
    ran = run("""
        x = leaf(2)
        y = (
            x.sin()
            + x.cos()
            * x.exp()
        ).sum()
        """)

    assert {fn.place for fn in functions(ran.graph)} == {Place(1, 2)}
    assert LineRun(1, 2, 1) in ran.graph.lines


def test_comprehension_belongs_to_its_statement() -> None:
    """Functions made in comprehensions, generators and lambdas stand on the line of the statement that runs them."""
    ran = run("""
        x = leaf(2)
        double = lambda t: t * 2
        parts = [double(x).sin() for _ in range(3)]
        y = sum(part.cos() for part in parts)
        """)

    assert {(fn.forward, fn.place) for fn in functions(ran.graph)} == {
        ("add", Place(1, 4)),
        ("cos", Place(1, 4)),
        ("sin", Place(1, 3)),
        ("mul", Place(1, 3)),
    }


def test_function_of_the_block_has_its_own_lines() -> None:
    """In a function defined in the block, its own line counts; after it returns, its caller's."""
    ran = run("""
        def f(t):
            h = t.sin()
            return h.cos()

        x = leaf(2)
        y = f(x).exp() + f(x)
        """)

    assert {(fn.forward, fn.place) for fn in functions(ran.graph)} == {
        ("add", Place(1, 6)),
        ("exp", Place(1, 6)),
        ("cos", Place(1, 3)),
        ("sin", Place(1, 2)),
        ("cos", Place(1, 3, call=2)),
        ("sin", Place(1, 2, call=2)),
    }


def test_recursion_keeps_its_calls() -> None:
    """A line that calls its own function belongs to its own call when the inner call is back."""
    ran = run("""
        def tree(depth):
            if depth == 0:
                return x
            return tree(depth - 1).sin()

        x = leaf(2)
        y = tree(3)
        """)

    assert [fn.place for fn in functions(ran.graph)] == [Place(1, 4), Place(1, 4, call=2), Place(1, 4, call=3)]


@pytest.mark.parametrize(
    ("code", "rounds"),
    [
        ("for _ in range(3):\n    y = y.sin()", [(1, 1), (2, 1), (3, 1)]),
        ("for _ in range(3): y = y.sin()", [(1, 1), (2, 1), (3, 1)]),
        ("for _ in range(2):\n    for _ in range(2):\n        y = y.sin()", [(1, 1), (2, 1), (3, 1), (4, 1)]),
        ("def f(t):\n    return t.sin()\ny = f(f(f(y)))", [(1, 1), (1, 2), (1, 3)]),
        ("def f(t):\n    return t.sin()\nfor _ in range(3):\n    y = f(y)", [(1, 1), (1, 2), (1, 3)]),
        (
            "def f(t):\n    for _ in range(2):\n        t = t.sin()\n    return t\ny = f(f(y))",
            [(1, 1), (2, 1), (1, 2), (2, 2)],
        ),
        ("for _ in range(2):\n    def f(t):\n        return t.sin()\n    y = f(y)", [(1, 1), (1, 2)]),
        ("for _ in range(2):\n    y = y * 1\nelse:\n    y = y.sin()", [(1, 1)]),
        (
            "while y.sum() > 9:\n    pass\nfor _ in range(2):\n    with torch.enable_grad():\n        y = y.sin()",
            [(1, 1), (2, 1)],
        ),
        (
            "def steps(t):\n    for _ in range(2):\n        t = t.sin()\n        yield t\nfor y in steps(y):\n    pass",
            [(1, 1), (2, 1)],
        ),
        (
            "def f(t):\n    for _ in 'ab':\n        yield (t := t.sin())\nfor a, b in zip(f(y), f(y)):\n    y = a + b",
            [(1, 1), (1, 2), (2, 1), (2, 2)],
        ),
    ],
)
def test_iterations_are_of_loops_and_calls_of_functions(code: str, rounds: list[tuple[int, int]]) -> None:
    """A line outside of loops has no iterations, however often its function is called, and each call counts anew."""
    fns = [fn for fn in functions(run(f"y = leaf(2) * 1\n{code}").graph) if fn.forward == "sin"]
    places = [fn.place for fn in sorted(fns, key=lambda fn: fn.sequence or 0) if fn.place is not None]

    assert [(place.iteration, place.call) for place in places] == rounds


def test_generator_goes_on_where_it_was() -> None:
    """What a generator of the block computes after it was left and entered again stands on its own line."""
    ran = run("""
        def parts(t):
            yield t.sin()
            h = t.cos() + (yield t)
            yield h.exp()

        x = leaf(2)
        made = parts(x)
        next(made)
        next(made)
        y = made.send(x.tan())
        """)

    assert {fn.forward: fn.place for fn in functions(ran.graph)} == {
        "exp": Place(1, 4),
        "add": Place(1, 3),
        "cos": Place(1, 3),
        "tan": Place(1, 10),
    }


def test_with_is_left_once() -> None:
    """The line of a `with` counts once a run, although Python comes back to it to leave."""
    ran = run("""
        from contextlib import nullcontext

        x = leaf(2)
        for _ in range(2):
            with nullcontext():
                y = x.sin()
        """)

    assert {run.line: run.times for run in ran.graph.lines} == {1: 1, 3: 1, 4: 3, 5: 2, 6: 2}


def test_loop_on_one_line_counts() -> None:
    """A loop with its body on the same line counts each time round."""
    ran = run("""
        y = leaf(2)
        for _ in range(3): y = y.sin()
        """)

    assert len({fn.place for fn in functions(ran.graph)}) == 3


def test_lines_that_did_not_run() -> None:
    """Statements that were not reached count 0; docstrings and blank lines are no statements."""
    ran = run('''
        def never(t):
            """Not called."""
            return t.sin()

        @torch.no_grad()
        def decorated(t):
            return t

        x = leaf(2)
        try:
            y = x.cos()
        except ValueError:
            y = x.sin()
        else:
            y = y.exp()
        match "a":
            case "b":
                y = x
            case _:
                pass
        ''')

    times = {run.line: run.times for run in ran.graph.lines}
    assert times == {1: 1, 3: 0, 5: 1, 7: 0, 9: 1, 10: 1, 11: 1, 12: 0, 13: 0, 15: 1, 16: 1, 17: 1, 18: 0, 19: 1, 20: 1}


def test_only_blocks_that_made_the_graph_have_lines() -> None:
    """The lines told are those of the blocks that made a function of the graph."""
    ran = run_blocks(("x = leaf(2)\nunused = x + 1", "y = x.sin()"))

    assert ran.graph.lines == (LineRun(2, 1, 1),)


def test_made_outside_of_blocks_has_no_line() -> None:
    """What is computed while nothing is recorded, as an expression to draw, has no line and no module."""
    ran = run("x = leaf(2)\nh = x.sin()", "nn.Linear(2, 2)(h).exp()")

    assert {fn.forward: fn.place for fn in functions(ran.graph) if fn.place is not None} == {"sin": Place(1, 2)}
    assert ran.graph.modules == ()


def test_block_that_raises_is_recorded_up_to_there() -> None:
    """An exception ends recording as the end of a block does, and what ran before it is known."""
    recorder = Recorder()
    code = "import torch\nx = torch.ones(2, requires_grad=True)\ny = x.sin()\nraise ValueError"
    recorder.add_block("<b>", 0, code)
    namespace: dict[str, object] = {}

    with pytest.raises(ValueError, match=r"^$"), recorder:
        exec(compile(code, "<b>", "exec"), namespace)  # noqa: S102 -- the code above

    assert sys.gettrace() is None or not isinstance(getattr(sys.gettrace(), "__self__", None), Recorder)
    node = cast("torch.Tensor", namespace["y"]).grad_fn
    assert node is not None
    assert recorder.place(node._sequence_nr()) == Place(0, 3)


def test_call_into_an_imported_module_has_the_calling_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a module of the project computes stands on the line of the block that called it."""
    (tmp_path / "layers.py").write_text("def act(t):\n    h = t.sin()\n    return h.cos()\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    ran = run("import layers\nx = leaf(2)\ny = layers.act(x)")

    assert {fn.place for fn in functions(ran.graph)} == {Place(1, 3)}
    del sys.modules["layers"]


def test_custom_function_of_a_project_module_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The forward of a custom function is found in a file of the project, told relative to the document's folder."""
    code = "from torch.autograd import Function\n\nclass Same(Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    code += "        return x.clone()\n"
    (tmp_path / "own_functions.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    block = "from own_functions import Same\ny = Same.apply(leaf(2))"

    inside, outside = run(block, folder=str(tmp_path)), run(block, folder=str(tmp_path / "elsewhere"))

    assert function(inside.graph, "Same").defined == Place(-1, 5, file="own_functions.py")
    assert function(outside.graph, "Same").defined is None
    del sys.modules["own_functions"]


def test_modules_are_a_tree_of_calls() -> None:
    """Calls of modules know their path, class, number, size, and the call around them."""
    ran = run("""
        net = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.Tanh(), nn.Linear(4, 1)))
        first = net(torch.ones(1, 3))
        y = net(torch.ones(2, 3)) + first
        """)

    once = [
        ModuleCall("net", "Sequential", 1, None, 21),
        ModuleCall("net.0", "Linear", 1, 0, 16),
        ModuleCall("net.1", "Sequential", 1, 0, 5),
        ModuleCall("net.1.0", "Tanh", 1, 2),
        ModuleCall("net.1.1", "Linear", 1, 2, 5),
    ]
    again = [
        ModuleCall(call.path, call.kind, 2, None if call.parent is None else call.parent + 5, call.parameters)
        for call in once
    ]
    assert list(ran.graph.modules) == once + again


def test_module_without_nodes_is_left_out() -> None:
    """A call that made nothing of the graph is not told."""
    ran = run("""
        unused, used = nn.Linear(2, 2), nn.Linear(2, 2)
        x = torch.ones(1, 2)
        h = unused(x)
        y = used(x)
        """)

    assert [call.path for call in ran.graph.modules] == ["used"]


def test_modules_in_plain_lists_have_paths() -> None:
    """Modules in a list, a dict, and a list of another module's are found; so are their parameters."""
    ran = run("""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Linear(2, 2), nn.Linear(2, 2)]

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x

        net = Net()
        more = {"out": nn.Linear(2, 1)}
        steps = [nn.Tanh()]
        y = steps[0](more["out"](net(torch.ones(1, 2))))
        """)

    assert [call.path for call in ran.graph.modules] == [
        "net",
        "net.layers[0]",
        "net.layers[1]",
        'more["out"]',
        "steps[0]",
    ]
    assert set(leaf_names(ran.graph)) == {
        'more["out"].bias',
        'more["out"].weight',
        "net.layers[0].bias",
        "net.layers[0].weight",
        "net.layers[1].bias",
        "net.layers[1].weight",
    }


def test_parametrized_module_is_told() -> None:
    """A parametrized weight is computed by a module of its own, and its leaf is called as PyTorch calls it."""
    ran = run("""
        class Symmetric(nn.Module):
            def forward(self, w):
                return w + w.t()

        m = nn.Linear(2, 2, bias=False)
        torch.nn.utils.parametrize.register_parametrization(m, "weight", Symmetric())
        y = m(torch.ones(1, 2))
        """)

    assert leaf_names(ran.graph) == ["m.parametrizations.weight.original"]
    assert [call.path for call in ran.graph.modules] == [
        "m",
        "m.parametrizations.weight",
        "m.parametrizations.weight.0",
    ]


def test_modules_inside_a_checkpoint_are_told() -> None:
    """Modules run inside a checkpoint have their path; that backward runs them again is no second call."""
    ran = run("""
        m = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
        x = leaf(1, 2)
        h = checkpoint(m, x, use_reentrant=False)
        h.sum().backward()
        y = m(x)
        """)
    inside = run("m = nn.Tanh()\ny = checkpoint(m, leaf(2), use_reentrant=False)")

    assert {call.call for call in ran.graph.modules} == {2}
    assert [call.path for call in inside.graph.modules] == ["m"]


def test_module_that_is_gone_leaves_its_path() -> None:
    """A module that a function of the block made and dropped has the path that it had there, and so have its leaves."""
    ran = run("""
        def build():
            net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
            return net(torch.ones(1, 2))

        y = build()
        """)

    assert [(call.path, call.parameters) for call in ran.graph.modules] == [("net", 6), ("net.0", 6), ("net.1", 0)]
    assert leaf_names(ran.graph) == ["net.0.bias", "net.0.weight"]


def test_module_that_raises_ends() -> None:
    """A module whose forward raises does not count as running afterwards."""
    ran = run("""
        class Raises(nn.Module):
            def forward(self, x):
                raise ValueError(x)

        x = leaf(2)
        try:
            nn.Sequential(Raises())(x)
        except ValueError:
            y = x.sin()
        """)

    assert function(ran.graph, "sin").module is None


def test_orders_of_backward_passes() -> None:
    """Nodes are of the order that their making took: of third order what a backward of a backward made."""
    ran = run(
        """
        x = torch.tensor(2.0, requires_grad=True)
        y = x.sin()
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(first, x, create_graph=True)
        """,
        "y",
        "first",
        "second",
    )

    orders = {output.name: fn.order for output, fn in zip(ran.graph.outputs, _makers(ran.graph), strict=True)}
    assert orders == {"y": 1, "first": 2, "second": 3}


def test_order_counts_between_outputs_and_inputs() -> None:
    """The gradient of an updated weight with regard to that weight is of second order, whatever made the update."""
    ran = run(
        """
        w = leaf(2)
        loss = w.sin().sum()
        (g,) = torch.autograd.grad(loss, w, create_graph=True)
        updated = w - 0.1 * g
        outer = updated.cos().sum()
        (meta,) = torch.autograd.grad(outer, updated, create_graph=True)
        """,
        "meta",
    )

    assert _makers(ran.graph)[0].order == 2


def test_backward_of_a_custom_function_has_its_lines() -> None:
    """What the backward of a custom function computes under `create_graph` stands on its lines, as second order."""
    ran = run(
        """
        class Cube(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x ** 3

            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                return 3 * x.square() * grad

        x = leaf(2)
        y = Cube.apply(x).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        """,
        "g",
    )

    square = [fn for fn in functions(ran.graph) if fn.place == Place(1, 10)]
    assert {fn.order for fn in square} == {2}
    assert len(square) == 3


@pytest.mark.parametrize(
    ("leaf", "dense"),
    [
        ("torch.eye(3).to_sparse().requires_grad_()", "to_dense()"),
        ("torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged, requires_grad=True)", "values()"),
    ],
)
def test_backward_from_a_leaf_that_has_no_views(leaf: str, dense: str) -> None:
    """Its order is known without an operation on the leaf, which it may not have."""
    ran = run(
        f"""
        x = {leaf}
        (g,) = torch.autograd.grad((x.{dense} ** 3).sum(), x, create_graph=True)
        (h,) = torch.autograd.grad(g.{dense}.sum(), x, create_graph=True)
        """,
        "h",
    )

    assert max(fn.order for fn in functions(ran.graph)) == 3


def test_transforms_can_be_used_again_and_again() -> None:
    """Tensors that belong to a transform which is over are not looked into."""
    ran = run(
        """
        f = lambda v: v.pow(3).sum()
        first = torch.func.hessian(f)(torch.ones(3))
        second = torch.func.hessian(f)(torch.ones(3))
        y = leaf(3) * second.sum()
        """,
        "y",
    )

    assert [fn.forward for fn in functions(ran.graph)] == ["mul"]


def test_watching_a_backward_adds_no_operation() -> None:
    """A dispatch mode sees what it would see without a recording."""
    code = """
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []
    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    x = torch.ones(3, requires_grad=True)
    (g,) = torch.autograd.grad(x.pow(3).sum(), x, create_graph=True)
    s = g.sum()
    with Mode():
        (y,) = torch.autograd.grad(s, x, create_graph=True)
    """
    plain: dict[str, object] = {"torch": torch}
    exec(dedent(code), plain)  # noqa: S102 - the code is ours

    assert run(code, "y").namespace["seen"] == plain["seen"]


def test_generator_on_one_line_is_left_and_entered_again() -> None:
    """What it makes after it was left belongs to its own line and call."""
    ran = run(
        """
        x = leaf(3)
        def pairs(v): yield v * 2; yield v.sin()
        both = pairs(x)
        first = next(both)
        y = next(both)
        """,
        "y",
    )

    assert functions(ran.graph)[0].place == Place(1, 2)


def test_threads_are_left_alone() -> None:
    """Code that runs in another thread is not traced, and one that makes no node disturbs nothing that is recorded."""
    ran = run("""
        from threading import Thread

        x = leaf(2)
        made = []
        thread = Thread(target=lambda: made.append(nn.Tanh()(x.detach())))
        thread.start()
        thread.join()
        y = x.sin()
        """)

    assert functions(ran.graph)[0].place == Place(1, 8)


def in_a_new_thread(code: str, *draws: str, options: CaptureOptions = PLAIN) -> Ran:
    """Run a block in a thread of its own, in which PyTorch counts nodes from 0 on."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run, code, *draws, options=options).result()


def test_nothing_false_is_said_of_what_other_threads_made() -> None:
    """PyTorch counts nodes in each thread anew: of those that share a number, only what they are bound to is known."""
    ran = in_a_new_thread(
        """
        from concurrent.futures import ThreadPoolExecutor

        x = leaf(2)
        a = x.cos()
        b = a.exp()
        c = b.log()
        with ThreadPoolExecutor(1) as pool:
            made = pool.submit(lambda: (x * 2).sinh()).result()
        d = made.tan()
        total = (c + d).sum()
        """,
        "total",
    )

    told = {fn.forward: (fn.names, fn.place.line if fn.place is not None else None) for fn in functions(ran.graph)}
    assert told == {
        "sum": ((("total",),), 10),
        "add": ((), 10),
        "log": ((("c",),), 6),
        "exp": ((("b",),), None),
        "cos": ((("a",),), None),
        "tan": ((("d",),), 9),
        "sinh": ((("made",),), None),
        "mul": ((), None),
    }


def test_a_thread_that_waits_has_been_counted() -> None:
    """A thread that made a node and waits in a function written in C is known to have made it."""
    ran = in_a_new_thread(
        """
        from queue import SimpleQueue
        from threading import Thread

        x = leaf(2)
        asked, answers = SimpleQueue(), SimpleQueue()
        def work():
            while True:
                answers.put(asked.get() * 2)
        Thread(target=work, daemon=True).start()
        asked.put(x)
        h = answers.get()
        z = x.tanh()
        z = None
        y = h.sum()
        """,
        "y",
    )

    assert [(fn.forward, fn.names, fn.place and fn.place.line) for fn in functions(ran.graph)] == [
        ("sum", (("y",),), 14),
        ("mul", (("h",),), None),
    ]


def test_cut_is_not_tied_to_a_node_of_another_thread() -> None:
    """What was made elsewhere and cut off is not said to come from the node that has its number here."""
    ran = in_a_new_thread(
        """
        from threading import Thread

        x = leaf(2)
        a = x.cos()
        made = []
        thread = Thread(target=lambda: made.append(x.sinh()))
        thread.start()
        thread.join()
        total = (a * made[0].detach()).sum()
        """,
        "total",
        options=ALL,
    )

    assert not [edge for edge in ran.graph.edges if edge.kind == "cut"]


def test_trace_function_of_others_comes_back() -> None:
    """A trace function that was there before, as a debugger's, is there again afterwards."""
    recorder = Recorder()
    before = sys.gettrace()

    with recorder:
        assert sys.gettrace() is not before

    assert sys.gettrace() is before


def _makers(graph: Graph) -> list[GradFn]:
    """Return the functions that made the outputs."""
    edges = [edge for edge in graph.edges if edge.kind == "output"]
    return [node for edge in edges if isinstance(node := graph.by_id[edge.source], GradFn)]
