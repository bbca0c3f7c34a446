"""The processes that run sessions: `python -m sphinx_graphviz_autograd.execution.worker` is told what to do by lines.

Orders come on standard input and answers go to standard output, one JSON message a line. With the argument `serve` it
imports PyTorch once and forks a process for each session. With `once` it imports PyTorch, runs one session itself and
ends: for systems where a fork is not to be had. When standard input ends, everything is killed.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import IO

from sphinx_graphviz_autograd.execution.messages import Run, answer_line, read_order
from sphinx_graphviz_autograd.execution.processes import adopt_orphans, die_with_parent, kill_group, kill_orphans
from sphinx_graphviz_autograd.execution.runner import import_torch, run_alone
from sphinx_graphviz_autograd.execution.server import TICK, Server
from sphinx_graphviz_autograd.execution.spools import Spools


def main() -> None:
    """Run as one of the two kinds of process."""
    channel = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what importing prints must not get between the answers
    die_with_parent()
    if sys.argv[1:] == ["serve"]:
        Server(channel).serve()
    else:
        _run_once(channel)


def _run_once(channel: IO[bytes]) -> None:
    """Run the one session that is ordered, in this process."""
    orders = os.fdopen(os.dup(0), "rb")
    dump = os.dup(2)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    channel.write(answer_line(import_torch()))
    line = orders.readline()
    if not line:
        return
    order = read_order(line)
    die_with_parent(yes=False)  # the thread sees the parent's end as well, and takes the children along
    spools = Spools()
    threading.Thread(target=_watch_orders, args=(orders, spools), daemon=True).start()
    leave = os._exit
    adopt_orphans()
    if isinstance(order, Run):
        run_alone(order.number, order.session, spools, dump, channel)
        kill_orphans()
    leave(0)


def _watch_orders(orders: IO[bytes], spools: Spools) -> None:
    """Kill this process and its children when the orders end."""
    ended = threading.Event()

    def read() -> None:
        orders.read()
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    while not ended.wait(TICK):
        spools.trim()
    kill_orphans()
    kill_group(os.getpid())


if __name__ == "__main__":
    main()
