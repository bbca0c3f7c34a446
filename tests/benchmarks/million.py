"""Capture one very long chain, walk it bare, and print as JSON what both took. Run alone, for the sake of memory."""

from __future__ import annotations

import json
import resource
import sys
import time

from tests.benchmarks import models
from tests.benchmarks.capturing import captured, walk
from tests.benchmarks.measuring import fastest, with_deep_stack


def main() -> None:
    """Measure a chain of as many functions as the first argument says, as often as the second says."""
    nodes, rounds = int(sys.argv[1]), int(sys.argv[2])
    namespace, recorder = models.recorded(models.CHAIN.format(nodes=nodes))
    count = walk(namespace)
    before = _peak()
    captured(namespace, recorder)
    memory = _peak() - before
    ours, bare = fastest(
        rounds, lambda: captured(namespace, recorder), lambda: walk(namespace), clock=time.process_time
    )
    sys.stdout.write(json.dumps({"nodes": count, "ours": ours, "walk": bare, "bytes": memory}))


def _peak() -> int:
    """Return the most memory that this process has had, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


if __name__ == "__main__":
    with_deep_stack(main)
