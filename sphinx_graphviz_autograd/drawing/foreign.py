"""What can be told of a drawing that torchviz made, from its DOT text: which boxes there are, and what feeds what.

The drawing itself is laid out as it is; only its colours, by which torchviz tells kinds apart, are understood. Of any
other drawing nothing is known, and nothing is said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sphinx_graphviz_autograd.drawing import style
from sphinx_graphviz_autograd.drawing.legend import Row, listed
from sphinx_graphviz_autograd.drawing.plain import plain

KIND_OF_FILL: Final = {
    "lightblue": "leaf",
    "orange": "saved-tensor",
    "darkolivegreen1": "output",
    "darkolivegreen3": "output",
}
"""What torchviz means by the colours that it fills boxes with; a function has the colour of boxes without one."""

_STATEMENT: Final = re.compile(
    r'^\s*(?P<name>\w+) \[label=(?P<label>"(?:[^"\\]|\\.)*"|\w+)(?: fillcolor=(?P<fill>\w+))?\]', re.MULTILINE
)
_ARROW: Final = re.compile(r"^\s*(?P<tail>\w+) -> (?P<head>\w+)(?P<line> \[dir=none\])?", re.MULTILINE)
_FUNCTION: Final = re.compile(r"^(\w+Backward\d*|AccumulateGrad)\b")


@dataclass(frozen=True, slots=True)
class Box:
    """A node of torchviz's drawing."""

    name: str
    """Its name in the DOT text."""
    label: str
    """Its label on one line."""
    kind: str
    """What it stands for, as the table of looks names it."""


def boxes(source: str) -> tuple[Box, ...]:
    """Return the boxes whose kind is known, in the order of the text: none of a drawing that is not torchviz's."""
    found: dict[str, Box] = {}
    for match in _STATEMENT.finditer(source):
        label = " ".join(plain(match["label"].strip('"').replace(r"\"", '"').replace(r"\l", " ")).split())
        kind = KIND_OF_FILL.get(match["fill"] or "", "grad-fn" if _FUNCTION.match(label) else "")
        if kind:
            found[match["name"]] = Box(match["name"], label, kind)
    return tuple(found.values())


def rows(source: str) -> tuple[Row, ...]:
    """Return the legend of torchviz's drawing; empty for any other."""
    by_kind: dict[str, list[str]] = {}
    for box in boxes(source):
        by_kind.setdefault(box.kind, []).append(box.label)
    return tuple(
        Row(look.kind, look.word, look.sentence, len(labels), *listed([] if look.kind == "grad-fn" else labels))
        for look in style.LOOKS
        if (labels := by_kind.get(look.kind))
    )


def sentence(source: str) -> str:
    """Return what torchviz's drawing shows, in a sentence; empty for any other."""
    kinds = [box.kind for box in boxes(source)]
    functions, leaves = kinds.count("grad-fn"), kinds.count("leaf")
    if not functions:
        return ""
    return (
        f"Autograd graph: {functions} function{'s' * (functions != 1)} and {leaves} leaf tensor{'s' * (leaves != 1)}."
    )


def tree(source: str) -> str:
    """Return torchviz's drawing as an indented tree: below each box what feeds it; empty for any other drawing."""
    by_name = {box.name: box for box in boxes(source)}
    feeds: dict[str, list[str]] = {name: [] for name in by_name}
    used: set[str] = set()
    for match in _ARROW.finditer(source):
        # torchviz draws a line without a head to the tensor that a function keeps
        feed, target = (match["head"], match["tail"]) if match["line"] else (match["tail"], match["head"])
        if feed in by_name and target in by_name:
            feeds[target].append(feed)
            used.add(feed)
    lines: list[str] = []
    told: set[str] = set()
    stack = [(name, 0) for name in reversed(by_name) if name not in used]
    while stack:
        name, depth = stack.pop()
        again = " (see above)" if name in told and feeds[name] else ""
        lines.append(f"{'  ' * depth}{by_name[name].label}{again}")
        if name not in told:
            stack.extend((feed, depth + 1) for feed in reversed(feeds[name]))
        told.add(name)
    return "\n".join(lines)
