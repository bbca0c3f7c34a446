"""The nodes behind some tensors, numbered in the order in which they are met.

The walk is iterative, since graphs are deeper than Python's stack, and holds what it meets: nodes are Python objects
only as long as somebody does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sphinx_graphviz_autograd.tracing.reading import is_of_leaves, variable

if TYPE_CHECKING:
    from collections.abc import Iterable

    import torch
    from torch.autograd.graph import Node

    from sphinx_graphviz_autograd.tracing.assigned import Origin
    from sphinx_graphviz_autograd.tracing.record import Recorder

Sources: TypeAlias = "tuple[tuple[Node | None, int], ...]"
"""The `next_functions` of a node."""

_DEEP = 10_000
"""Nodes in a chain from which on it may matter how PyTorch frees it."""


class Walk:
    """All nodes that some roots lead to, depth first in the order of slots. A node's place is its position in them."""

    def __init__(self, roots: Iterable[Node], first_id: int, recorder: Recorder | None) -> None:
        found: dict[Node, Sources] = {}
        self.numbers: list[int] = []
        """Their creation numbers."""
        waiting = list(reversed(list(roots)))
        while waiting:
            node = waiting.pop()
            if node in found:
                continue
            found[node] = sources = node.next_functions
            self.numbers.append(node._sequence_nr())  # noqa: SLF001 -- no public way to them
            for source, _ in reversed(sources):
                if source is not None:
                    waiting.append(source)
        if len(found) > _DEEP:
            _make_room_for_freeing()
        self.certain = recorder.threads.certain(self.numbers) if recorder is not None else self.numbers
        """The same for what was recorded; `NOTHING` where a node of another thread may have the number."""
        self.nodes = list(found)
        """The nodes."""
        self.sources: list[Sources] = list(found.values())
        """Their `next_functions`."""
        self.ids = [f"n{at}" for at in range(first_id, first_id + len(found))]
        """Their ids in the graph."""
        self.places = dict(zip(found, range(len(found)), strict=True))
        """The places of the nodes."""
        ends = [at for at, sources in enumerate(self.sources) if not sources]
        self.leaves = {at: variable(self.nodes[at]) for at in ends if is_of_leaves(type(self.nodes[at]))}
        """The leaves, by the places of the nodes that accumulate their gradients."""
        self._leaf_places = {id(leaf): at for at, leaf in self.leaves.items()}

    def ranks(self) -> list[int]:
        """Return the creation numbers counted from 0, so that they do not depend on what ran before."""
        ranks = [0] * len(self.numbers)
        for rank, at in enumerate(sorted(range(len(ranks)), key=self.numbers.__getitem__)):
            ranks[at] = rank
        return ranks

    def made(self, tensor: torch.Tensor) -> tuple[str, int]:
        """Return the id of the node whose tensor this is, and which of its outputs; an empty id if there is none."""
        try:
            node = tensor.grad_fn
        except RuntimeError:  # a stale view
            return "", 0
        at = self._leaf_places.get(id(tensor)) if node is None else self.places.get(node)
        return (self.ids[at], tensor.output_nr) if at is not None else ("", 0)

    def cut_off(self, origins: Iterable[Origin]) -> dict[Origin, str]:
        """Return the ids of those nodes that something was cut off from."""
        by_number = dict(zip(self.certain, self.ids, strict=True))
        found = {}
        for origin in origins:
            if origin.leaf is None:
                id_ = by_number.get(origin.number, "")
            else:
                at = self._leaf_places.get(id(origin.leaf()))
                id_ = self.ids[at] if at is not None else ""
            if id_:
                found[origin] = id_
        return found


def _make_room_for_freeing() -> None:
    """Let the main thread's stack grow as far as the system allows.

    Once Python has seen its nodes, PyTorch 2.13 frees a chain of them recursively, wherever that happens later, at some
    190 bytes of stack a node: with the usual 8 MB, a chain of 45,000 nodes would crash the author's program.
    """
    try:
        import resource  # noqa: PLC0415 -- not there on Windows, whose stacks cannot grow
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_STACK, (hard, hard))
