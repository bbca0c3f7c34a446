"""A graph in words: an indented tree for builders without pictures, and one sentence for those who cannot see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sphinx_graphviz_autograd.drawing.labels import kind, label
from sphinx_graphviz_autograd.drawing.plain import plain
from sphinx_graphviz_autograd.drawing.style import BY_KIND
from sphinx_graphviz_autograd.model import GradFn, Leaf

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx_graphviz_autograd.drawing.passes.view import View
    from sphinx_graphviz_autograd.model import Graph, Node, Place

SENTENCE: Final = "Autograd graph of {outputs}: {functions} and {leaves}."
FUNCTIONS: Final = ("{number} function", "{number} functions")
LEAVES: Final = ("{number} leaf tensor", "{number} leaf tensors")
MORE: Final = "{number} more"
AND: Final = "{} and {}"
PHRASES: Final = (SENTENCE, *FUNCTIONS, *LEAVES, MORE, AND)
"""What the sentence is made of, and is translated."""


def tree(graph: Graph, view: View, place: Callable[[Place], str]) -> str:
    """Return the graph as an indented tree: each output, and below each tensor what it was made from.

    What feeds several functions is told once; where it is met again, the line says so.
    """
    feeds: dict[str, list[str]] = {}
    for edge in graph.edges:
        if edge.kind in {"gradient", "output", "data", "saved", "view"}:
            feeds.setdefault(edge.target, []).append(edge.source)
    lines: list[str] = []
    told: set[str] = set()
    roots = [output.id for output in graph.outputs]
    roots += [node.id for node in graph.nodes if node.id not in roots and not _is_used(node.id, graph)]
    stack = [(root, 0) for root in reversed(roots)]
    while stack:
        at, depth = stack.pop()
        node = graph.by_id[at]
        again = at in told and bool(feeds.get(at))
        lines.append(f"{'  ' * depth}{words(node, graph, view, place)}{' (see above)' if again else ''}")
        if at not in told:
            stack.extend((source, depth + 1) for source in reversed(feeds.get(at, [])))
        told.add(at)
    return "\n".join(lines)


def words(node: Node, graph: Graph, view: View, place: Callable[[Place], str]) -> str:
    """Return a node in one line of words, as `yhat: AddBackward0, (80, 1), line 2`."""
    text = label(node, graph, view, place)
    details = ", ".join(detail.replace(" · ", ", ") for detail in text.details)
    name = f"{text.name}: {text.operation}" if text.name and text.operation else text.name or text.operation
    said = "" if isinstance(node, GradFn) else BY_KIND[kind(node)].word
    return ", ".join(part for part in (name, said, details) if part)


def sentence(graph: Graph, translate: Callable[[str], str] = str) -> str:
    """Return what the picture shows in a sentence, for those who cannot see it.

    `translate` turns an English phrase of ours into the reader's language.
    """
    say = translate
    functions = sum(isinstance(node, GradFn) for node in graph.nodes)
    leaves = [node for node in graph.nodes if isinstance(node, Leaf)]
    named = _listed([plain(leaf.names[0]) for leaf in leaves if leaf.names], say)
    return say(SENTENCE).format(
        outputs=_listed([plain(output.name) for output in graph.outputs], say),
        functions=say(FUNCTIONS[functions != 1]).format(number=functions),
        leaves=say(LEAVES[len(leaves) != 1]).format(number=len(leaves)) + (f" ({named})" if named else ""),
    )


def _listed(names: list[str], say: Callable[[str], str]) -> str:
    if len(names) > 6:  # noqa: PLR2004 - more would not be listened to
        names = [*names[:5], say(MORE).format(number=len(names) - 5)]
    return say(AND).format(", ".join(names[:-1]), names[-1]) if len(names) > 1 else "".join(names)


def _is_used(id_: str, graph: Graph) -> bool:
    return any(edge.source == id_ for edge in graph.edges)
