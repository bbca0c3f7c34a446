"""What tensors are called: at the time of each line, at the end, in modules, containers and objects."""

from __future__ import annotations

import pytest
import torch

from sphinx_graphviz_autograd.tracing.capture import capture
from tests.tracing.running import function, functions, leaf_names, leaves, run, run_blocks


def test_rebound_name_stays_on_both() -> None:
    """In `loss += extra` the old and the new `loss` both keep their name."""
    ran = run(
        """
        x = leaf(2)
        loss = x.sin().sum()
        extra = x.cos().sum()
        loss += extra
        """,
        "loss",
    )

    named = [(fn.forward, fn.names[0], fn.place and fn.place.line) for fn in functions(ran.graph) if fn.names]
    assert named == [("add", ("loss",), 4), ("sum", ("loss",), 2), ("sum", ("extra",), 3)]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        (
            "a, (b, *c) = x.sin(), (x.cos(), x.tan(), x.exp())\ny = a + b + c[0] + c[1]",
            {"sin": "a", "cos": "b", "tan": "c[0]"},
        ),
        ("if (h := x.sin()) is not None:\n    y = h.sum()", {"sin": "h"}),
        ("h: torch.Tensor = x.sin()\ny = h.sum()", {"sin": "h"}),
        ("h = x * 1\nh.add_(1)\ny = h.sum()\nh = None", {"mul": "h", "add": "h"}),
        ("class Box: pass\nbox = Box()\nbox.h = x.sin()\ny = box.h.sum()\nbox.h = None", {"sin": "box.h"}),
        ("d = {}\nd['h'] = x.sin()\ny = d['h'].sum()\nd = None", {"sin": 'd["h"]'}),
        ("d = [0, 0]\nfor i in range(2):\n    d[i] = x.sin()\ny = d[1].sum()\nd = None", {"sin": "d[1]"}),
        ("with nullcontext(x.sin()) as h:\n    y = h.sum()\nh = None", {"sin": "h"}),
        ("h = (x.sin(), x.cos())\ny = h[0] + h[1]\nh = None", {"sin": "h[0]", "cos": "h[1]"}),
        ("def f(t):\n    inner = t.sin()\n    return inner.cos()\ny = f(x).sum()", {"sin": "inner"}),
        ("def f(t):\n    inner = t.sin()\n    return inner\nh = f(x)\ny = h.sum()", {"sin": "h"}),
        ("for h in [x.sin(), x.sin()]:\n    pass\ny = h.sum()", {"sin": "h"}),
        ("_ = x.sin()\ny = _.sum()", {}),
    ],
)
def test_assignments_name_what_they_assign(code: str, names: dict[str, str]) -> None:
    """Every form of assignment gives its name to the function that made the value, also if it is bound anew later."""
    ran = run(f"from contextlib import nullcontext\nx = leaf(2)\n{code}")

    found = {key: given[0] for key, given in ran.names().items()}
    assert names.items() <= found.items()
    assert "_" not in found.values()


def test_names_of_blocks_come_before_those_of_functions() -> None:
    """A value that has a name in a function and one in the block is called by the block's first."""
    ran = run("""
        def f(t):
            inner = t.sin()
            return inner

        h = f(leaf(2))
        y = h.sum()
        """)

    assert function(ran.graph, "sin").names == (("h", "inner"),)


def test_first_name_comes_first() -> None:
    """Of several names the one assigned first is the best; a loop variable is told only without another."""
    ran = run("""
        net = nn.Linear(2, 2)
        w = net.weight
        params = [net.bias]
        for p in net.parameters():
            pass
        y = net(torch.ones(1, 2))
        """)

    names = {leaf.names for leaf in leaves(ran.graph)}
    assert names == {("net.weight", "w"), ("net.bias", "params[0]")}


def test_tied_weights_have_both_names() -> None:
    """A weight that two modules share is one leaf with both paths."""
    ran = run("""
        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = nn.Embedding(3, 2)
                self.head = nn.Linear(2, 3, bias=False)
                self.head.weight = self.embed.weight

            def forward(self, at):
                return self.head(self.embed(at))

        m = Tied()
        y = m(torch.tensor([1]))
        """)

    assert [leaf.names for leaf in leaves(ran.graph)] == [("m.embed.weight", "m.head.weight")]
    assert [leaf.parameter for leaf in leaves(ran.graph)] == [True]


def test_attributes_of_objects_are_found() -> None:
    """A tensor or module that an object of the author's holds is called by the object's name and the attribute's."""
    ran = run("""
        class Trainer:
            def __init__(self):
                self.model = nn.Linear(2, 1, bias=False)
                self.scale = leaf(1)
                self.extra = [leaf(1)]

            @property
            def costly(self):
                raise RuntimeError

        trainer = Trainer()
        y = trainer.model(torch.ones(1, 2)) * trainer.scale + trainer.extra[0]
        """)

    assert set(leaf_names(ran.graph)) == {"trainer.model.weight", "trainer.scale", "trainer.extra[0]"}


def test_items_of_containers_are_found() -> None:
    """Leaves in nested lists and dicts are called by the way to them."""
    ran = run("""
        params = {"w": [leaf(1), leaf(1)], 3: (leaf(1),)}
        y = params["w"][0] * params["w"][1] * params[3][0]
        """)

    assert set(leaf_names(ran.graph)) == {'params["w"][0]', 'params["w"][1]', "params[3][0]"}


def test_container_that_holds_itself() -> None:
    """A list that holds itself is looked into once."""
    ran = run("""
        ring = [leaf(1)]
        ring.append(ring)
        y = ring[0].sin()
        """)

    assert leaf_names(ran.graph) == ["ring[0]"]


def test_leaf_without_name_says_what_holds_it() -> None:
    """A leaf that no name reaches says which module it is in, else nothing."""
    ran = run("y = nn.Linear(2, 2)(leaf(1, 2))")

    assert [(leaf.names, leaf.hint) for leaf in leaves(ran.graph)] == [
        ((), "bias in Linear"),
        ((), ""),
        ((), "weight in Linear"),
    ]


def test_names_of_earlier_blocks_count() -> None:
    """Names are those of the session: a later block draws what an earlier one named."""
    ran = run_blocks(("w = leaf(2)\nh = w.sin()", "y = h.cos()"))

    assert ran.names() == {"cos": ("y",), "sin": ("h",)}
    assert leaf_names(ran.graph) == ["w"]


def test_outputs_of_nests_are_named_by_their_way() -> None:
    """Items of tuples, dicts and dataclasses are outputs called as one would write them."""
    ran = run(
        """
        from dataclasses import dataclass
        from collections import namedtuple

        @dataclass
        class Result:
            loss: object
            parts: tuple

        x = leaf(2, 2)
        Pair = namedtuple("Pair", "left right")
        out = {"r": Result(x.sum(), (x.sin(), None, 3)), "p": Pair(x.cos(), x.max(0)), "n": torch.ones(1)}
        """,
        "out",
    )

    assert [output.name for output in ran.graph.outputs] == [
        'out["r"].loss',
        'out["r"].parts[0]',
        'out["p"].left',
        'out["p"].right[0]',
    ]


def test_without_recording_names_come_from_the_namespace() -> None:
    """Without a recorder, the variables as they are now name leaves, functions and modules' parameters."""
    net = torch.nn.Linear(2, 1)
    x = torch.ones(1, 2, requires_grad=True)
    h = net(x)
    graph = capture({"loss": h.sum()}, namespace={"net": net, "x": x, "h": h}).graph

    assert graph is not None
    assert leaf_names(graph) == ["net.bias", "x", "net.weight"]
    assert [fn.names for fn in functions(graph)] == [(("loss",),), (("h",),), ()]
    assert graph.modules == ()


def test_values_that_raise_or_lie_are_not_asked() -> None:
    """No method and no property of the author's classes is run to look for names, and no class is taken on trust."""
    ran = run("""
        from unittest.mock import Mock

        class Unfriendly(dict):
            __hash__ = None

            def raises(self, *_):
                raise ValueError

            __getattr__ = __eq__ = __iter__ = __len__ = items = values = raises
            __class__ = property(raises)

        odd = Unfriendly(w=leaf(1))
        liar = Mock(spec=torch.Tensor)
        listed = [odd, liar]
        y = dict.__getitem__(odd, "w").sin()
        """)

    assert leaf_names(ran.graph) == ['odd["w"]']


def test_classes_that_raise_are_not_asked() -> None:
    """A class whose metaclass raises at every question does not disturb the recording."""
    ran = run("""
        from dataclasses import dataclass

        class Raises(type):
            def __getattribute__(cls, name):
                if name.startswith("__dataclass") or name == "_fields":
                    raise ValueError(name)
                return super().__getattribute__(name)

        class Odd(tuple, metaclass=Raises):
            pass

        @dataclass
        class Held:
            w: torch.Tensor

        odd = Odd([leaf(1)])
        held = Held(leaf(1))
        y = tuple.__getitem__(odd, 0) * held.w
        """)

    assert sorted(leaf_names(ran.graph)) == ["held.w", "odd[0]"]


def test_underscore_is_no_name() -> None:
    """What is assigned to `_`, alone or as the rest of an unpacking, was given no name."""
    ran = run("""
        x = leaf(3)
        *_, last = (x[at].sin() for at in range(3))
        y = last + _[0]
        """)

    assert [fn.names for fn in functions(ran.graph) if fn.forward == "sin"] == [(("last",),), ()]


def test_stale_tensor_in_the_namespace_is_passed_over() -> None:
    """A variable whose graph PyTorch cannot tell does not keep the others from being captured."""
    ran = run("""
        x = leaf(2) * 1
        b = torch.zeros(2)
        with torch.no_grad():
            stale = b[:1]
        b.mul_(x)
        y = b.sum()
        """)

    assert ran.names()["sum"] == ("y",)
