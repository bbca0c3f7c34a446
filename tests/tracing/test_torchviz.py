"""torchviz as a second opinion: the same functions, leaves and edges as `make_dot`, compared as graphs."""

from __future__ import annotations

import re
import warnings
from functools import cache
from typing import TYPE_CHECKING

import pytest
from torchviz import make_dot

from sphinx_graphviz_autograd.model import GradFn, Leaf
from tests.cases import CASES
from tests.tracing.running import Ran, run

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.model import Graph

BEYOND_TORCHVIZ = {
    "P01_deep_chain": "its walk is recursive",
    "P02_deep_view_chain": "its walk is recursive",
    "P04_list_out": "it takes no list",
    "P08_custom_saved_none": "it asks a saved None for its size",
    "P13_leaf_only": "there is no graph",
    "P14_no_grad_output": "there is no graph",
    "P35_nested_strided": "it asks a nested tensor for its size",
    "P49_invalid_view": "there is no graph",
    "P52_hf_like_dataclass": "it takes no dict",
}
"""The cases that torchviz raises on, or draws nothing of."""

_NODE = re.compile(r"(\d+) \[label=\"?(.*?)\"?(?: fillcolor=(\w+))?\]", re.DOTALL)
_EDGE = re.compile(r"(\d+) -> (\d+)(?: \[style=(\w+)\])?$")

Described = tuple[str, tuple[str, ...]]
"""The label of a node, and the ids of what feeds it in the order of slots."""


@cache
def ran(name: str) -> Ran:
    """Return a case that ran once for all tests."""
    return run(CASES[name].code, *CASES[name].draws)


def of_torchviz(drawing: str) -> tuple[dict[str, Described], list[str]]:
    """Return the nodes of torchviz's drawing, and the functions that made its outputs."""
    labels: dict[str, str] = {}
    outputs: list[str] = []
    fed: dict[str, list[str]] = {}
    for statement in re.split(r"\n\t(?=\d)", drawing.removesuffix("}\n").rstrip()):
        if edge := _EDGE.match(statement):
            if edge[3] is None:
                fed.setdefault(edge[2], []).append(edge[1])
        elif node := _NODE.match(statement):
            labels[node[1]] = node[2]
            if node[3] == "darkolivegreen1":
                outputs.append(node[1])
    roots = [fed[output][0] for output in outputs]
    return {id_: (label, tuple(fed.get(id_, ()))) for id_, label in labels.items()}, roots


def of_graph(graph: Graph) -> tuple[dict[str, Described], list[str]]:
    """Return our nodes in the same form; torchviz draws a leaf's box above that of its AccumulateGrad."""
    fed: dict[str, list[str]] = {}
    for edge in graph.edges:
        if edge.kind == "gradient":
            fed.setdefault(edge.target, []).append(edge.source)
    nodes: dict[str, Described] = {}
    for node in graph.nodes:
        if isinstance(node, GradFn):
            label = "CppFunction" if node.speciality == "unknown" else node.name
            nodes[node.id] = (label, tuple(fed.get(node.id, ())))
        elif isinstance(node, Leaf):
            nodes[node.id] = ("AccumulateGrad", (f"{node.id} leaf",))
            nodes[f"{node.id} leaf"] = (f"({', '.join(map(str, node.meta.shape or ()))})", ())
    return nodes, [edge.source for edge in graph.edges if edge.kind == "output"]


def assert_same(ours: tuple[dict[str, Described], list[str]], theirs: tuple[dict[str, Described], list[str]]) -> None:
    """Assert that two graphs are equal but for their ids: walk both at once, and pair the nodes that are met."""
    pairs: dict[str, str] = {}
    waiting = list(zip(ours[1], theirs[1], strict=True))
    while waiting:
        our, their = waiting.pop()
        if our in pairs:
            assert pairs[our] == their
            continue
        pairs[our] = their
        (label, fed), (their_label, their_fed) = ours[0][our], theirs[0][their]
        is_leaf = not fed and label.startswith("(")
        assert their_label.replace(",)", ")").endswith(label) if is_leaf else their_label == label
        waiting.extend(zip(fed, their_fed, strict=True))
    assert len(set(pairs.values())) == len(pairs)
    assert set(pairs) == set(ours[0])


@pytest.mark.parametrize("name", [name for name in CASES if name not in BEYOND_TORCHVIZ])
def test_same_graph_as_torchviz(name: str) -> None:
    """Functions, leaves and edges are those that torchviz draws, wherever it draws any."""
    case = ran(name)
    values = [case.namespace[draw] for draw in CASES[name].draws]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it compares versions with what setuptools has deprecated
        drawing = make_dot(values[0] if len(values) == 1 else tuple(values))

    assert_same(of_graph(case.graph), of_torchviz(drawing.source))


def test_comparison_finds_differences() -> None:
    """The comparison is one: another operation, another order of slots, and a merged node are each found."""
    graphs = [
        of_graph(run(code).graph)
        for code in (
            "x = leaf(1); y = (x + 1) * (x * 2)",
            "x = leaf(1); y = (x * 2) * (x + 1)",
            "x = leaf(1); h = x + 1; y = h * h",
            "x = leaf(1); y = (x + 1) * (x + 1)",
        )
    ]

    for first, second in ((0, 1), (0, 2), (2, 3), (3, 2)):
        with pytest.raises(AssertionError):
            assert_same(graphs[first], graphs[second])
