"""Measuring alternatives side by side: one after the other in each round, so that all meet the same machine."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: what was measured, against what, and whether it is as fast as it should be."""

    work: str
    """What was done."""
    against: str
    """What it is compared with; empty if with nothing."""
    measured: str
    """What came out, in words."""
    goal: str
    """What should come out."""
    reached: bool
    """Whether it did."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured."""

    rounds: int
    """How often each alternative runs; the fastest counts."""
    sizes: tuple[int, ...]
    """Numbers of nodes of the graphs that are captured."""
    million: int
    """Number of functions of the longest chain."""
    steps: int
    """Steps of the recurrent network that others draw as well."""
    long: int
    """Steps of the one that they cannot draw."""
    limit: float
    """Seconds after which another program's layout is stopped."""
    chapters: int
    """Pages of a site."""
    figures: tuple[int, ...]
    """Numbers of figures of ever larger sites."""


FULL = Scale(5, (1_000, 10_000, 100_000), 1_000_000, 50, 1_000, 120, 10, (20, 200, 2_000))
"""What the documentation's table was made with."""

SMOKE = Scale(1, (100,), 1_000, 3, 12, 10, 1, (1, 2))
"""Just enough to see that everything runs."""


def fastest(
    rounds: int, *alternatives: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Return for each alternative the seconds of its fastest run; they run in turn, `rounds` times each."""
    best = [float("inf")] * len(alternatives)
    for _ in range(rounds):
        for at, alternative in enumerate(alternatives):
            gc.collect()
            start = clock()
            alternative()
            best[at] = min(best[at], clock() - start)
    return best


def run(*arguments: str, timeout: float = 3600) -> str:
    """Run a program, and return what it printed.

    Raises:
        RuntimeError: it failed.
    """
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def python(*arguments: str) -> str:
    """Run Python with these arguments, and return what it printed."""
    return run(sys.executable, *arguments)


def with_deep_stack(work: Callable[[], None]) -> None:
    """Run something where recursion can go deep, as torchviz does in a graph, and PyTorch in freeing it.

    What it raises is raised here.
    """
    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - to be raised where the caller sees it
            failures.append(error)

    before, limit = threading.stack_size(1 << 30), sys.getrecursionlimit()
    sys.setrecursionlimit(10**7)
    try:
        thread = threading.Thread(target=guarded)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
        sys.setrecursionlimit(limit)
    if failures:
        raise failures[0]


def table(rows: Sequence[Row]) -> str:
    """Return rows as a table in Markdown."""
    lines = ["| work | against | measured | goal | reached |", "|---|---|---|---|---|"]
    lines += [
        f"| {row.work} | {row.against} | {row.measured} | {row.goal} | {'yes' if row.reached else 'no'} |"
        for row in rows
    ]
    return "\n".join(lines)
