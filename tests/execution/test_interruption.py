"""What becomes of workers when the process that has them is interrupted or killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.execution.processes import is_alive, wait_until_gone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys
from sphinx_graphviz_autograd.execution.pool import Pool
from sphinx_graphviz_autograd.execution.session import Session, Snippet

CODE = '''
import os, subprocess
child = subprocess.Popen(["sleep", "3600"])
stray = subprocess.Popen(["sleep", "3600"], start_new_session=True)
open("processes.new", "w").write(f"{os.getppid()} {os.getpid()} {child.pid} {stray.pid}")
os.rename("processes.new", "processes")
while True:
    pass
'''

folder, spawn = sys.argv[1:]
with Pool(1, 3600, spawn=spawn == "spawn") as pool:
    pool.start()
    list(pool.run([Session("page", "", folder, folder, (Snippet(CODE),))]))
"""


@pytest.mark.parametrize(
    ("number", "kind"),
    [(signal.SIGINT, "fork"), (signal.SIGTERM, "fork"), (signal.SIGKILL, "fork"), (signal.SIGKILL, "spawn")],
)
def test_nothing_outlives_its_master(tmp_path: Path, number: signal.Signals, kind: str) -> None:
    """However the process with the pool ends, the worker in an endless loop ends too, and so do its children."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path), kind], cwd=ROOT, stderr=subprocess.PIPE
    ) as program:
        told = tmp_path / "processes"
        while not told.exists():
            assert program.poll() is None, program.stderr.read() if program.stderr else ""
        processes = [int(word) for word in told.read_text().split()]
        if kind == "spawn":
            processes = processes[1:]  # there is no server
        assert all(is_alive(process) for process in processes)
        program.send_signal(number)
        program.wait()
        wait_until_gone(processes)
