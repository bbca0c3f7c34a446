"""Draw a repetition as its first step, one box for all that follow, and its last step.

Found are iterations of a loop, equal blocks of a network and chains of equal operations alike: by what ran, not by how
it was written. Only what is equal is folded; what may vary among equal steps is said in the box.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Final

from sphinx_graphviz_autograd.drawing.labels import operation
from sphinx_graphviz_autograd.drawing.passes.contract import (
    contract,
    counted,
    elements,
    flows,
    with_what_only_they_use,
)
from sphinx_graphviz_autograd.drawing.passes.modules import common_call, shared_calls
from sphinx_graphviz_autograd.drawing.passes.repeats import FEWEST, repeats
from sphinx_graphviz_autograd.drawing.passes.roles import roles
from sphinx_graphviz_autograd.drawing.passes.structure import digest, sequence
from sphinx_graphviz_autograd.drawing.passes.varies import varies
from sphinx_graphviz_autograd.model import GradFn, Group

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.drawing.passes.repeats import Repeat
    from sphinx_graphviz_autograd.drawing.passes.structure import Function, Sequence
    from sphinx_graphviz_autograd.drawing.passes.view import View
    from sphinx_graphviz_autograd.model import Graph, Node

_DEEPEST: Final = 8
"""How many repetitions inside each other are folded."""

_WIDE: Final = 200
"""Functions of a step up to which the best place to cut steps apart is sought by counting arrows."""


@dataclass(frozen=True, slots=True)
class _Fold:
    """Equal steps that become one box."""

    start: int
    """Position of the first function of the first step."""
    period: int
    """How many functions a step has."""
    times: int
    """How many steps there are."""

    @property
    def stop(self) -> int:
        """Position after the last function."""
        return self.start + self.period * self.times


def fold(graph: Graph, view: View, ran: Sequence | None = None) -> Graph:
    """Return the graph with repetitions of at least four steps folded, those inside others first.

    `ran` is the graph's `sequence`, if that is known already.
    """
    for _ in range(_DEEPEST):
        folded = _fold_once(graph, view, ran or sequence(graph))
        if folded is graph:
            break
        graph, ran = folded, None
    return graph


def _fold_once(graph: Graph, view: View, ran: Sequence) -> Graph:
    found = repeats(ran)
    folds = _folds(ran, found, graph) if found else []
    if not folds:
        return graph
    number = {ran.functions[at].id: str(which) for which, one in enumerate(folds) for at in range(one.start, one.stop)}
    number = with_what_only_they_use(graph, number)
    inside: dict[str, list[Node]] = {}
    for node in graph.nodes:
        if node.id in number:
            inside.setdefault(number[node.id], []).append(node)
    flow = flows(graph, number, leaves=False)
    groups = {}
    for which, nodes in inside.items():
        group = _group(folds[int(which)], ran, graph, nodes, view)
        inputs, outputs = (tuple(dict.fromkeys(side)) for side in (flow[which].inputs, flow[which].outputs))
        groups[which] = replace(group, inputs=inputs, outputs=outputs)
    members = {node: groups[which].id for node, which in number.items()}
    return contract(graph, {group.id: group for group in groups.values()}, members)


def _folds(ran: Sequence, found: list[Repeat], graph: Graph) -> list[_Fold]:
    """Return the runs of steps, between the first and the last, that have the same names and feed the same nodes."""
    steps: list[_Fold] = []
    for repeat in found:
        one = _steps(ran, repeat, graph, free=steps[-1].stop if steps else 0)
        if one.times >= FEWEST:
            steps.append(one)
    told = roles(ran, [range(one.start, one.stop) for one in steps], graph)
    folds = []
    for one in steps:
        inner = range(one.start + one.period, one.stop - one.period, one.period)
        at = inner.start
        for _, same in groupby(told[start : start + one.period] for start in inner):
            times = sum(1 for _ in same)
            if times > 1:
                folds.append(_Fold(at, one.period, times))
            at += times * one.period
    return folds


def _steps(ran: Sequence, repeat: Repeat, graph: Graph, *, free: int) -> _Fold:
    """Return the whole steps of a repetition: cut where a loop or a module starts, else where few arrows are cut.

    Nothing before the position `free` is in them.
    """
    shifts = range(min(repeat.period, repeat.stop - repeat.start - (FEWEST - 1) * repeat.period + 1))
    starts = [repeat.start + shift for shift in shifts]

    def by_place(start: int) -> tuple[bool, int]:
        before, after = ran.functions[start + repeat.period - 1], ran.functions[start + repeat.period]
        return (not _restarts(before, after), shared_calls(before.module, after.module, graph))

    best = min(map(by_place, starts))
    starts = [start for start in starts if by_place(start) == best]
    if repeat.period > _WIDE:
        starts = starts[:1]
    cuts = [_arrows_across(ran, start + repeat.period, repeat.period) if len(starts) > 1 else 0 for start in starts]
    found = [_from(ran, repeat, start, free) for start, cut in zip(starts, cuts, strict=True) if cut == min(cuts)]
    return max(found, key=lambda steps: steps.times)


def _from(ran: Sequence, repeat: Repeat, start: int, free: int) -> _Fold:
    """Return the whole steps of a repetition from a position on.

    The step before it may be fed otherwise, by what there was before the loop, and is the first then all the same,
    since the first is drawn in full.
    """
    period = repeat.period
    times = (repeat.stop - start) // period
    if start - period >= free and all(ran.same_work(at - period, at) for at in range(start, start + period)):
        start, times = start - period, times + 1
    return _Fold(start, period, times)


def _restarts(before: Function, after: Function) -> bool:
    """Whether a loop started over between two functions."""
    if before.place is None or after.place is None:
        return False
    if (before.place.block, before.place.line) == (after.place.block, after.place.line):
        return (before.place.iteration, before.place.call) != (after.place.iteration, after.place.call)
    return after.place.line < before.place.line


def _arrows_across(ran: Sequence, at: int, period: int) -> int:
    """Return how many tensors made before a position are used in the step that starts there."""
    fed = (edge.source for inputs in ran.inputs[at : at + period] for edge in inputs)
    return len({source for source in fed if ran.position.get(source, at) < at})


def _group(one: _Fold, ran: Sequence, graph: Graph, nodes: list[Node], view: View) -> Group:
    first = ran.functions[one.start : one.start + one.period]
    last = ran.functions[one.stop - one.period : one.stop]
    call = common_call((node.module for node in first), graph)
    call = None if call is not None and call == common_call((node.module for node in last), graph) else call
    place = next((node.place for node in first if node.place is not None), None)
    return Group(
        id=f"{nodes[0].id}g",
        kind="fold",
        title=graph.modules[call].kind if call is not None else _title(first, view),
        nodes=counted(nodes),
        times=one.times,
        module=call,
        parameters=elements(nodes),
        varies=varies(ran, one.start, one.stop, one.period, graph),
        place=replace(place, iteration=1, call=1) if place is not None else None,
        sequence=first[0].sequence,
        structure=digest((ran.structure(one.start, one.start + one.period), one.times)),
    )


def _title(step: list[Function], view: View) -> str:
    words = [operation(node, view) if isinstance(node, GradFn) else f"{node.title} …" for node in step]
    if len(words) > 3:  # noqa: PLR2004 - more would burst the box
        return f"{words[0]} … {words[-1]}, {len(words)} functions"
    return ", ".join(words)
