"""The inputs without gradient of one graph: which function each goes into, and what was cut off to make it."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.model import Data, Edge, TensorMeta
from sphinx_graphviz_autograd.tracing.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch.autograd.graph import Node

    from sphinx_graphviz_autograd.model import CutKind
    from sphinx_graphviz_autograd.tracing.assigned import Known, Origin
    from sphinx_graphviz_autograd.tracing.inputs import TorchCall
    from sphinx_graphviz_autograd.tracing.names import Names
    from sphinx_graphviz_autograd.tracing.walk import Walk


_WRITTEN: dict[CutKind, str] = {"detach": "{}.detach()", "data": "{}.data", "item": "{}.item()", "numpy": "{}.numpy()"}
"""How what was cut off from a variable is written."""


class DataInputs:
    """The boxes of inputs without gradient, numbered in the order in which functions use them."""

    def __init__(self, names: Names, used: dict[int, list[tuple[Known, int]]], first_id: int) -> None:
        """Make boxes for the inputs in `used`, which has the inputs of each function with their slots."""
        self._names = names
        self._first_id = first_id
        self._ids: dict[Known, str] = {}
        self._sources: list[tuple[Known, Known]] = []
        self.used = used
        for at in sorted(used):
            for known, _ in used[at]:
                self._add(known)

    def id_of(self, known: Known | None) -> str:
        """Return the id of the box of a tensor; empty if it has none."""
        return self._ids.get(known, "") if known is not None else ""

    def nodes(self) -> Iterator[Data]:
        """Yield the boxes."""
        names = {known: self._names.of_known(known) for known in self._ids}
        cut = self._names.of_origins([origin for known in self._ids if not names[known] for origin in known.origins])
        for known, id_ in self._ids.items():
            meta = known.meta or TensorMeta(None)
            hint = "" if names[known] else _hint(known, cut)
            yield Data(id_, meta, names[known], known.cut, known.place, hint)

    def edges(self, ids: dict[Origin, str]) -> Iterator[Edge]:
        """Yield the edges that enter the boxes; `ids` has those of what can be cut off."""
        for target, id_ in self._ids.items():
            for origin in target.origins:
                if origin in ids:
                    yield Edge(ids[origin], id_, "cut", origin.output)
            for slot, source in enumerate([source for source, into in self._sources if into is target]):
                yield Edge(self._ids[source], id_, "data", slot=slot)

    def origins(self) -> set[Origin]:
        """Return what the boxes were cut off from."""
        return {origin for known in self._ids for origin in known.origins}

    def _add(self, known: Known) -> None:
        """Add a box, and boxes for what it was computed from, where frozen parameters or cuts are among that."""
        waiting = [known]
        while waiting:
            target = waiting.pop(0)
            if target in self._ids:
                continue
            self._ids[target] = f"n{self._first_id + len(self._ids)}"
            sources = [] if target.cut else self._frontier(target)
            if any(source.is_parameter or source.cut for source in sources):
                self._sources.extend((source, target) for source in sources)
                waiting.extend(sources)

    def _frontier(self, known: Known) -> list[Known]:
        """Return what a tensor was computed from, skipping what has no name and is neither a parameter nor cut off."""
        found: dict[Known, None] = {}
        seen = {known}
        waiting = list(reversed(known.sources))
        while waiting:
            source = waiting.pop()
            if source in seen:
                continue
            seen.add(source)
            if source.is_parameter or source.cut or not source.sources or self._names.of_known(source):
                found[source] = None
            else:
                waiting.extend(reversed(source.sources))
        return list(found)


def _hint(known: Known, names: dict[Origin, str]) -> str:
    """Return what a tensor was cut off from, as an author would write it; empty if that has no name."""
    found = list(dict.fromkeys(names[origin] for origin in known.origins if origin in names))
    if not found:
        return ""
    return _WRITTEN.get(known.cut, "from {}").format(", ".join(found))


def used_inputs(calls: Sequence[TorchCall], walk: Walk) -> dict[int, list[tuple[Known, int]]]:
    """Return the inputs without gradient of each node, with their slots, by the node's place.

    A call may have made several nodes. An input belongs to the one that keeps it, else to the only one with a slot to
    spare, else to the last. Its slot is past the others where PyTorch does not tell which it is.
    """
    if not calls:
        return {}
    nodes = walk.nodes
    order = sorted(range(len(nodes)), key=walk.certain.__getitem__)
    sorted_numbers = [walk.certain[at] for at in order]
    used: dict[int, list[tuple[Known, int]]] = {}
    for call in calls:
        made = order[bisect_left(sorted_numbers, call.first) : bisect_left(sorted_numbers, call.end)]
        inputs = [known for known in call.arguments if known is not None]
        if not made or not inputs:
            continue
        if len(made) == 1 and _fits(nodes[made[0]], call):
            used[made[0]] = [(known, at) for at, known in enumerate(call.arguments) if known is not None]
            continue
        by_node: dict[int, list[Known]] = {}
        for known in inputs:
            by_node.setdefault(_node_of(known, made, nodes), []).append(known)
        for at, belonging in by_node.items():
            used.setdefault(at, []).extend(zip(belonging, _slots(nodes[at], len(belonging)), strict=True))
    return used


def _fits(node: Node, call: TorchCall) -> bool:
    """Whether the slots of a node are the arguments of the call, one for one."""
    sources = node.next_functions
    return len(sources) == len(call.arguments) and all(
        (source is None) == (known is not None) for (source, _), known in zip(sources, call.arguments, strict=True)
    )


def _node_of(known: Known, made: Sequence[int], nodes: Sequence[Node]) -> int:
    tensor = known.reference()
    for at in made:
        if tensor is not None and any(kept is tensor for kept in _kept(nodes[at])):
            return at
    spare = [at for at in made if any(source is None for source, _ in nodes[at].next_functions)]
    return spare[0] if len(spare) == 1 else made[-1]


def _kept(node: Node) -> Iterator[object]:
    """Yield what a node keeps, as it keeps it."""
    for name in dir(type(node)):
        if name.startswith("_raw_saved_"):
            try:
                raws = read(node, name)
            except RuntimeError:  # released by backward
                continue
            for raw in raws if isinstance(raws, tuple) else (raws,):
                yield getattr(raw, "data", None)


def _slots(node: Node, wanted: int) -> list[int]:
    sources = node.next_functions
    empty = [slot for slot, (source, _) in enumerate(sources) if source is None]
    return empty if len(empty) == wanted == 1 else [len(sources) + at for at in range(wanted)]
