"""Capture one very long chain, or walk it bare, and print as JSON what it took.

Each is done in a process of its own, with a graph that nobody has looked at yet: the objects by which Python knows the
nodes of a graph are made when they are first asked for, and Python's garbage collector has to look through them.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time

from tests.benchmarks import models
from tests.benchmarks.capturing import captured, walk
from tests.benchmarks.measuring import with_deep_stack


def main() -> None:
    """Do what the first argument says, `capture` or `walk`, with a chain of as many functions as the second says."""
    code = models.CHAIN.format(nodes=int(sys.argv[2]))
    found = _walked(code) if sys.argv[1] == "walk" else _captured(code)
    sys.stdout.write(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)  # freeing so many nodes takes longer than what was measured


def _captured(code: str) -> dict[str, float]:
    namespace, recorder = models.recorded(code)
    before = _peak()
    start = time.process_time()
    graph = captured(namespace, recorder)
    seconds = time.process_time() - start
    return {"nodes": len(graph.nodes), "seconds": seconds, "bytes": _peak() - before}


def _walked(code: str) -> dict[str, float]:
    """Walk it as a script does, and once more with the garbage collector at rest, as capturing does."""
    namespace = models.run(code)
    start = time.process_time()
    nodes = walk(namespace)
    seconds = time.process_time() - start
    gc.collect()
    gc.disable()
    start = time.process_time()
    walk(namespace)
    return {"nodes": nodes, "seconds": seconds, "resting": time.process_time() - start}


def _peak() -> int:
    """Return the most memory that this process has had, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


if __name__ == "__main__":
    with_deep_stack(main)
