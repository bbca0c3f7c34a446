"""Find repetitions in what ran: stretches of functions that are equal to the stretch before them, over and over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.drawing.passes.structure import Sequence

FEWEST: Final = 4
"""How many equal steps are a repetition: first and last are drawn, and what is folded between them must be several."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """A stretch of functions in which each is alike to the one a period before it."""

    start: int
    """Position of the first function."""
    stop: int
    """Position after the last."""
    period: int
    """How many functions a step has."""


def repeats(sequence: Sequence) -> list[Repeat]:
    """Return the repetitions of the sequence that do not overlap, those of short steps first found.

    A repetition inside the step of another is thus found alone; the other is found when the first has been folded.
    """
    found: list[Repeat] = []
    covered = bytearray(len(sequence.tokens))
    for period, positions in sorted(_distances(sequence.tokens).items()):
        if len(positions) < FEWEST - 2:
            continue
        seen = -1
        for position in positions:
            if position < seen:
                continue
            repeat = _around(sequence, position, period)
            seen = max(repeat.stop, position + 1)
            # the step before may be a first one that is fed otherwise, so one fewer will do here
            long = repeat.stop - repeat.start >= (FEWEST - 1) * period
            if long and not any(covered[repeat.start : repeat.stop]):
                covered[repeat.start : repeat.stop] = b"\1" * (repeat.stop - repeat.start)
                found.append(repeat)
    return sorted(found, key=lambda repeat: repeat.start)


def _distances(tokens: list[int]) -> dict[int, list[int]]:
    """Return positions by how far back the same three tokens in a row stood last."""
    last: dict[tuple[int, int, int], int] = {}
    positions: dict[int, list[int]] = {}
    padded = [*tokens, -1, -2]
    for at in range(len(tokens)):
        key = (padded[at], padded[at + 1], padded[at + 2])
        before = last.get(key)
        if before is not None:
            positions.setdefault(at - before, []).append(at)
        last[key] = at
    return positions


def _around(sequence: Sequence, position: int, period: int) -> Repeat:
    """Return the longest stretch around a position in which each function is alike to the one a period before."""
    stop = position
    while stop < len(sequence.tokens) and sequence.alike(stop - period, stop):
        stop += 1
    start = position
    while start > period and sequence.alike(start - 1 - period, start - 1):
        start -= 1
    return Repeat(start - period, stop, period)
