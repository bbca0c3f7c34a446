"""The JSON text of the package's data: its form, what is refused, and that all of it comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pytest

from sphinx_graphviz_autograd.codec import CodecError, from_json, rows, to_json, to_line
from sphinx_graphviz_autograd.model import (
    Attribute,
    Data,
    Edge,
    GradFn,
    Gradient,
    Graph,
    Group,
    Leaf,
    LineRun,
    ModuleCall,
    Output,
    Place,
    Reference,
    SavedTensor,
    TensorMeta,
)

META = TensorMeta((80, 1))
GRAPH = Graph(
    nodes=(
        Output("n0", "loss", TensorMeta((), "float64", "cuda:0")),
        GradFn(
            "n1",
            "SumBackward0",
            "sum",
            outputs=(META, TensorMeta(None, layout="nested")),
            names=(("損失", 'out["a"]'), ()),
            slots=2,
            place=Place(1, 3, 2, "helpers.py"),
            module=0,
            sequence=7,
            attributes=(Attribute("dim", "-1"),),
            gradients=(None, Gradient((2,), "[1, 2]", "2.2", ("nan",))),
        ),
        Leaf("n2", TensorMeta((2, "j1")), names=("w",), parameter=True),
        SavedTensor("n3", "other", None, "freed"),
        Data("n4", META, cut="detach", place=Place(0, 1)),
        Reference("n2r1", "n2"),
        Group("n5g", "fold", "times 3", 12, varies=("shape",)),
    ),
    edges=(Edge("n1", "n0", "output"), Edge("n2", "n1", slot=1)),
    modules=(ModuleCall("net", "Linear", parameters=6),),
    lines=(LineRun(0, 1, 0),),
    torch="2.13.0",
)


@dataclass(frozen=True, slots=True)
class Inner:
    """Has rows, so an object that holds it is written over several lines too."""

    items: tuple[int, ...] = field(default=(), metadata=rows())
    """Numbers."""


@dataclass(frozen=True, slots=True)
class Everything:
    """Has a field of each kind that is understood."""

    text: str
    """A text."""
    size: float = 1.0
    """A number."""
    yes: bool = False
    """A truth."""
    choice: Literal["a", "b", 3] = "a"
    """One of some."""
    pair: tuple[int, str] = (0, "")
    """Two items."""
    named: dict[str, int | None] = field(default_factory=dict)
    """A mapping."""
    inner: Inner | None = None
    """An object that may be missing."""
    lines: dict[str, Inner] = field(default_factory=dict, metadata=rows())
    """A mapping with an item a line."""


def test_one_item_a_line() -> None:
    """Keys are sorted, defaults are left out, and each item of a field of rows has a line of its own."""
    graph = Graph(
        (Output("n0", "y", META), GradFn("n1", "MulBackward0", "mul")), (Edge("n1", "n0", "output"),), torch="2.13.0"
    )

    assert to_json(graph) == (
        '{\n"edges": [\n'
        '{"kind": "output", "source": "n1", "target": "n0"}\n'
        '],\n"nodes": [\n'
        '{"id": "n0", "meta": {"shape": [80, 1]}, "name": "y", "type": "Output"},\n'
        '{"forward": "mul", "id": "n1", "name": "MulBackward0", "type": "GradFn"}\n'
        '],\n"torch": "2.13.0"\n}\n'
    )


def test_one_line() -> None:
    """A line holds the same data, with nothing but its end as a line break."""
    line = to_line(GRAPH)

    assert line.count("\n") == 1
    assert from_json(Graph, line) == GRAPH


def test_objects_with_rows_are_written_in_rows_wherever_they_are() -> None:
    """An object around an object with rows is written over several lines, so that a difference is one line."""
    value = Everything("x", inner=Inner((1, 2)), lines={"b": Inner(), "a": Inner((3,))})

    assert to_json(value) == (
        '{\n"inner": {\n"items": [\n1,\n2\n]\n},\n'
        '"lines": {\n"a": {\n"items": [\n3\n]\n},\n"b": {\n\n}\n},\n"text": "x"\n}\n'
    )
    assert from_json(Everything, to_json(value)) == value


@pytest.mark.parametrize(
    "value",
    [
        Everything('"\\\n\x00 損失 \U0001f600 </script>'),
        Everything("", 0.1, yes=True, choice=3, pair=(-(10**30), "a"), named={"z": None, "a": 1}),
        Everything("", 5, choice="b"),
    ],
)
def test_everything_comes_back(value: Everything) -> None:
    """Reading gives what was written, from lines and from rows."""
    assert from_json(Everything, to_json(value)) == value
    assert from_json(Everything, to_line(value)) == value


def test_a_graph_comes_back() -> None:
    """A graph with every kind of node comes back as it was."""
    assert Graph.from_json(GRAPH.to_json()) == GRAPH


def test_numbers_keep_their_type() -> None:
    """A whole number where a float belongs becomes one, and is written as it is otherwise."""
    assert type(from_json(Everything, '{"text": "", "size": 2}').size) is float


@pytest.mark.parametrize(
    ("text", "path", "problem"),
    [
        ("{", "", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[" * 100_000, "", "it is nested too deeply"),
        ("[]", "Everything", "Everything expected, found []"),
        ("{}", "Everything", "the field `text` of `Everything` is missing"),
        ('{"text": "", "colour": 1}', "Everything", "`Everything` has no field `colour`"),
        ('{"text": 5}', "Everything.text", "str expected, found 5"),
        ('{"text": "", "size": "1"}', "Everything.size", "float expected, found '1'"),
        ('{"text": "", "yes": 1}', "Everything.yes", "bool expected, found 1"),
        ('{"text": "", "choice": "c"}', "Everything.choice", "'c' is none of 'a', 'b', 3"),
        ('{"text": "", "choice": true}', "Everything.choice", "True is none of 'a', 'b', 3"),
        ('{"text": "", "choice": []}', "Everything.choice", "[] is none of 'a', 'b', 3"),
        ('{"text": "", "pair": [1]}', "Everything.pair", "2 items expected, found 1"),
        ('{"text": "", "pair": [1, 2]}', "Everything.pair[1]", "str expected, found 2"),
        ('{"text": "", "pair": {}}', "Everything.pair", "tuple[int, str] expected, found {}"),
        ('{"text": "", "named": {"a": "b"}}', "Everything.named.a", "int | None expected, found 'b'"),
        ('{"text": "", "named": []}', "Everything.named", "dict[str, int | None] expected, found []"),
        ('{"text": "", "inner": 1}', "Everything.inner", "tests.test_codec.Inner | None expected, found 1"),
        ('{"text": "", "inner": {"items": [1, true]}}', "Everything.inner.items[1]", "int expected, found True"),
        ('{"text": "", "lines": {"a": {"items": [1, 2.5]}}}', "Everything.lines.a.items[1]", "int expected, found 2.5"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, path: str, problem: str) -> None:
    """A text that is not the JSON of the class is refused, with the path to what is wrong and why."""
    with pytest.raises(CodecError) as raised:
        from_json(Everything, text)

    assert (raised.value.path, raised.value.problem.replace(__name__, "tests.test_codec")) == (path, problem)


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        ('{"id": "n0"}', "`type` is None, none of Output, GradFn, Leaf, SavedTensor, Data, Reference, Group"),
        ('{"type": "Edge"}', "`type` is 'Edge', none of Output, GradFn, Leaf, SavedTensor, Data, Reference, Group"),
        ('{"type": ["Leaf"]}', "`type` is ['Leaf'], none of Output, GradFn, Leaf, SavedTensor, Data, Reference, Group"),
    ],
)
def test_a_node_of_unknown_type_is_refused(node: str, problem: str) -> None:
    """An object where several classes are possible has to say which it is."""
    with pytest.raises(CodecError) as raised:
        Graph.from_json(f'{{"nodes": [{node}]}}')

    assert (raised.value.path, raised.value.problem) == ("Graph.nodes[0]", problem)


def test_no_number_that_json_lacks_is_written() -> None:
    """Infinities have no place in JSON."""
    with pytest.raises(ValueError, match="Out of range"):
        to_json(Everything("", float("inf")))
