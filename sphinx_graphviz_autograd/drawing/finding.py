"""From what an author writes of a node to the node."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from sphinx_graphviz_autograd.model import Data, GradFn, Group, Leaf, Output, Reference, SavedTensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sphinx_graphviz_autograd.model import Graph, Node


def find(graph: Graph, words: str) -> str:
    """Return the id of the node that the words name; empty if there is none.

    The words are a variable, or else a function or operation (`MulBackward0`, `mul`), or the path of a module. Of
    several nodes with a name the one that was made first is meant, with `#2` behind it the second, and so on.
    """
    match = re.fullmatch(r"(.+?)(?:#(\d+))?", words.strip())
    if match is None:
        return ""
    number = int(match[2] or 1) - 1
    nodes = sorted(graph.nodes, key=_made)
    for names in (_variables, _operations):
        found = [node.id for node in nodes if match[1] in names(node)]
        if found:
            return found[number] if 0 <= number < len(found) else ""
    return ""


def findable(graph: Graph) -> tuple[str, ...]:
    """Return the variables by which nodes of the graph are found, or if it has none, the functions."""
    nodes = sorted(graph.nodes, key=_made)
    variables = dict.fromkeys(name for node in nodes for name in _variables(node))
    return tuple(variables) or tuple(dict.fromkeys(name for node in nodes for name in _operations(node)))


def _made(node: Node) -> tuple[int, int]:
    """Return the place of a node among those of its name: what the author asked for, leaves, then in order of time."""
    match node:
        case Output():
            return (0, 0)
        case Leaf() | Data() | SavedTensor():
            return (1, 0)
        case GradFn() | Group():
            return (2, node.sequence or 0)
        case Reference():
            return (3, 0)
        case _:
            assert_never(node)


def _variables(node: Node) -> Iterable[str]:
    match node:
        case Output():
            return (node.name,)
        case GradFn():
            return [name for names in node.names for name in names]
        case Leaf() | Data() | SavedTensor():
            return node.names
        case Group() | Reference():
            return ()
        case _:
            assert_never(node)


def _operations(node: Node) -> Iterable[str]:
    match node:
        case GradFn():
            return (node.name, node.forward)
        case SavedTensor():
            return (node.attribute,)
        case Group():
            return (node.title,)
        case Output() | Leaf() | Data() | Reference():
            return ()
        case _:
            assert_never(node)
