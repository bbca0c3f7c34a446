"""What was going on when a node was made, found by the node's creation number."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import repeat

from torch._C import _autograd

next_number = _autograd._get_sequence_nr  # noqa: SLF001 -- no public function tells the number of the next node
"""Return the creation number that the next node of this thread will get."""

OF_LEAVES = 2**64 - 1
"""The creation number that the nodes of all leaves have."""

NOTHING = -1
"""The value of a mark where nothing that is recorded was going on."""


class Marks:
    """A step function from creation numbers to whole numbers.

    Two machine integers a step, since a training loop makes a step for each of its lines.
    """

    def __init__(self) -> None:
        self._numbers = array("q", [-1])
        self._values = array("q", [NOTHING])

    def mark(self, value: int) -> None:
        """Note that the nodes made from now on belong to `value`; a step that made no node is overwritten."""
        number = next_number()
        if self._numbers[-1] == number:
            self._values[-1] = value
        else:
            self._numbers.append(number)
            self._values.append(value)

    def at(self, number: int) -> int:
        """Return the value of the node with this creation number."""
        return self._values[bisect_right(self._numbers, number) - 1]

    def at_all(self, numbers: list[int]) -> list[int]:
        """Return the values of the nodes with these creation numbers."""
        if not numbers:
            return []
        first = bisect_right(self._numbers, min(numbers)) - 1
        last = bisect_right(self._numbers, max(numbers))
        if last - first == 1:
            return [self._values[first]] * len(numbers)
        # one value in front, since `bisect_right` counts the steps up to a number
        steps, values = self._numbers[first:last].tolist(), [NOTHING, *self._values[first:last]]
        return list(map(values.__getitem__, map(bisect_right, repeat(steps), numbers)))
