"""Sessions in processes of their own: how they die, how their time runs out, and that nothing is left of them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from sphinx_graphviz_autograd.codec import to_json
from sphinx_graphviz_autograd.execution.host import worker_environment
from sphinx_graphviz_autograd.execution.pool import Pool
from sphinx_graphviz_autograd.execution.session import SessionResult, Text
from sphinx_graphviz_autograd.model import Place
from tests.execution.processes import is_alive, wait_until_gone
from tests.execution.sessions import Workbench, drawn, session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

CHAPTER = (
    "import torch\nw = torch.randn(3, requires_grad=True)\nprint(w)",
    drawn("h = w\nfor _ in range(3):\n    h = (h * w).tanh()\nloss = h.sum()", "loss", "h"),
)

SLEEPERS = """
    import os, subprocess, sys
    here = subprocess.Popen(["sleep", "3600"])
    elsewhere = subprocess.Popen(["sleep", "3600"], start_new_session=True)
    shell = subprocess.Popen("sleep 3600 & echo $! > orphan", shell=True, start_new_session=True)
    shell.wait()
    print(os.getpid(), here.pid, elsewhere.pid, open("orphan").read())
"""
"""Leaves processes behind in all ways: in the group, out of it, and with a parent that is dead."""


@pytest.fixture(params=["fork", "spawn"])
def hurried_pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    """A pool with little time, of either kind."""
    with Pool(2, 3.0, spawn=request.param == "spawn") as pool:
        yield pool


def output(result: SessionResult) -> str:
    """Return all that a session printed."""
    return "".join(text.text for block in result.blocks for text in block.output)


@pytest.mark.parametrize(
    ("code", "line", "message"),
    [
        ("import os\nos.abort()", 2, "the process that ran the code ended with signal 6 (SIGABRT)"),
        ("import os\n\nos._exit(4)", 3, "the code called os._exit(4)"),
        (
            "import ctypes\ndef f():\n    ctypes.string_at(0)\nf()",
            3,
            "the process that ran the code ended with signal 11 (SIGSEGV)",
        ),
        (
            "import os\nos.kill(os.getpid(), 9)",
            0,
            "the process that ran the code ended with signal 9 (SIGKILL), perhaps as memory ran out",
        ),
        (
            "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
            0,
            "the process that ran the code ended with signal 15 (SIGTERM)",
        ),
        ("import ctypes\nctypes.CDLL(None).exit(5)", 0, "the process that ran the code ended with exit status 5"),
    ],
)
def test_a_death_is_told_in_words_and_harms_nobody_else(bench: Workbench, code: str, line: int, message: str) -> None:
    """What ends a session's process is told, at its line where the process could tell; other sessions go on."""
    dying = session(bench.folder, "print('one')", f"print('two')\nimport os\nos.system('echo three')\n{code}", name="a")
    living = session(bench.folder, *CHAPTER, name="b")
    dead, well = bench.run_all(dying, living)

    assert dead.failure is not None
    assert (dead.failure.kind, dead.failure.block, dead.failure.message) == ("crash", 1, message)
    assert dead.failure.place == Place(1, line + 3 if line else 0)
    assert output(dead) == "one\ntwo\nthree\n"
    assert well.failure is None
    assert len(well.blocks[1].figures) == 1


def test_time_runs_out_for_one_session_alone(hurried_pool: Pool, tmp_path: Path) -> None:
    """A session that takes too long is ended, with its line; those beside it and after it are not."""
    sessions = [
        session(tmp_path, "x = 1", "while x:\n    y = 2\n    pass", name="endless"),
        session(tmp_path, "import time\ntime.sleep(3600)", name="asleep"),
        session(tmp_path, *CHAPTER, name="well"),
    ]
    results = {ran.name: result for ran, result in hurried_pool.run(sessions)}

    endless, asleep = results["endless"].failure, results["asleep"].failure
    assert endless is not None
    assert asleep is not None
    assert (endless.kind, endless.block, endless.message) == (
        "timeout",
        1,
        "the code did not end within 3 seconds (`autograd_graph_timeout`)",
    )
    assert endless.place.block == 1
    assert endless.place.line in {1, 2, 3}
    assert asleep.place == Place(0, 2)
    assert results["well"].failure is None


def test_both_kinds_of_worker_give_the_same(bench: Workbench) -> None:
    """A forked worker and a fresh one have the same results, byte for byte, and the same words for how they die."""
    sessions = [session(bench.folder, *CHAPTER, name="a"), session(bench.folder, "import os\nos.abort()", name="b")]
    with Pool(2, 60, spawn=True) as pool:
        spawned = Workbench(pool, bench.folder).run_all(*sessions)
    forked = bench.run_all(*sessions)

    assert [to_json(result) for result in forked] == [to_json(result) for result in spawned]
    assert forked[0].failure is None
    assert forked[1].failure is not None


@pytest.mark.parametrize("ending", ["", "os.abort()", "os._exit(1)"])
def test_nothing_is_left_of_a_session(bench: Workbench, ending: str) -> None:
    """However a session ends, its process and all that it started are gone when its result is there."""
    result = bench.run(SLEEPERS, f"import os\n{ending}")

    processes = [int(word) for word in output(result).split()]
    assert len(processes) == 4
    assert not [process for process in processes if is_alive(process)]


def test_sessions_run_at_a_time_as_many_as_allowed(bench: Workbench) -> None:
    """Beside the server there are never more processes than jobs, and each session has a fresh one."""
    code = """
        import os, pathlib
        siblings = [file.read_text() for file in pathlib.Path(f"/proc/{os.getppid()}/task").glob("*/children")]
        print(os.getpid(), len("".join(siblings).split()))
    """
    results = bench.run_all(*(session(bench.folder, code, name=str(number)) for number in range(8)))

    processes, counts = zip(*(output(result).split() for result in results), strict=True)
    assert len(set(processes)) == 8
    assert set(counts) <= {"1", "2"}


def test_the_death_of_the_server_is_survived(bench: Workbench) -> None:
    """If the server itself is killed, the sessions it was running fail, and a new server runs the others."""
    killer = session(bench.folder, "import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(3600)", name="killer")
    later = [session(bench.folder, "print(1)", name=str(number)) for number in range(4)]
    with Pool(1, 60) as pool:
        results = {ran.name: result for ran, result in pool.run([killer, *later])}

    assert results["killer"].failure is not None
    assert (
        results["killer"].failure.message
        == "the process that ran the code ended with signal 9 (SIGKILL), perhaps as memory ran out"
    )
    assert [output(results[one.name]) for one in later] == ["1\n"] * 4


def test_who_asks_no_more_leaves_nothing(tmp_path: Path) -> None:
    """If the other results are not wanted, as when a failure stops the build, all processes end."""
    code = "import os\nprint(os.getpid(), os.getppid())\nwhile {number}: pass"
    pool = Pool(2, 60)
    results = pool.run(session(tmp_path, code.format(number=number)) for number in range(2))
    _, first = next(results)
    pool.close()

    wait_until_gone([int(word) for word in output(first).split()])


def test_a_closed_pool_can_start_again(tmp_path: Path) -> None:
    """Closing a pool that is still importing PyTorch, or was never started, waits for nothing and spoils nothing."""
    with Pool(1, 60) as pool:
        pool.close()
        pool.start()
        pool.close()
        ((_, result),) = pool.run([session(tmp_path, "print(1)")])

    assert output(result) == "1\n"


@pytest.mark.parametrize("spawn", [False, True])
def test_without_pytorch_every_session_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, spawn: bool) -> None:
    """Where PyTorch cannot be imported, nothing is run, and each session has that as its failure."""
    (tmp_path / "torch.py").write_text("raise ImportError('libtorch.so: no such file')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Pool(2, 60, spawn=spawn) as pool:
        results = [result for _, result in pool.run(session(tmp_path, "print(1)", name=name) for name in "abc")]
        results += [result for _, result in pool.run([session(tmp_path, "print(1)")])]

    assert [(result.failure.kind, result.failure.message) for result in results if result.failure] == [
        ("missing", "PyTorch cannot be imported: ImportError: libtorch.so: no such file")
    ] * 4


def test_a_pytorch_that_kills_is_told_once_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where importing PyTorch ends the process, it is not tried again for every session."""
    (tmp_path / "torch.py").write_text("import os, sys\nprint('no AVX', file=sys.stderr, flush=True)\nos.abort()\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Pool(2, 60) as pool:
        results = [result for _, result in pool.run(session(tmp_path, "print(1)", name=name) for name in "ab")]

    assert [(result.failure.kind, result.failure.message) for result in results if result.failure] == [
        ("crash", "PyTorch cannot be imported: the process ended with signal 6 (SIGABRT): no AVX")
    ] * 2


def test_code_that_forks_and_runs_on_is_stopped(bench: Workbench) -> None:
    """A fork that comes back into our own code tells nothing."""
    result = bench.run("import os\nif os.fork():\n    os.wait()\nprint('here')", "print('there')")

    assert [block.output for block in result.blocks] == [
        (Text("stdout", "here\nhere\n"),),
        (Text("stdout", "there\n"),),
    ]


def test_workers_do_not_inherit_what_changes_results() -> None:
    """Variables that change what code prints or does are not passed on, the author's own are."""
    own = {
        "HOME": "/home/somebody",
        "PYTHONPATH": "src",
        "PYTHONWARNINGS": "error",
        "PYTHONOPTIMIZE": "1",
        "PYTHONHASHSEED": "7",
        "COLUMNS": "200",
        "FORCE_COLOR": "1",
        "CUDA_VISIBLE_DEVICES": "1",
    }
    without, with_cuda = (worker_environment(own, cuda=cuda) for cuda in (False, True))

    assert {name: without[name] for name in own if name in without} == {
        "HOME": "/home/somebody",
        "PYTHONPATH": "src",
        "PYTHONHASHSEED": "0",
        "CUDA_VISIBLE_DEVICES": "",
    }
    assert with_cuda["CUDA_VISIBLE_DEVICES"] == "1"
    assert os.environ.keys() >= {"PATH"}
