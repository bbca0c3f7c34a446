"""A build that is killed at any moment leaves nothing that the next build could trip over."""

from __future__ import annotations

import random
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from tests.sphinxext import sites
from tests.sphinxext.test_failures import MARK, left_processes

if TYPE_CHECKING:
    from pathlib import Path

KILLER = '''

def setup(app):
    """End the build without any warning to it, at the event and the time it comes that the environment names."""
    import os
    import signal

    moment, _, when = os.environ.get("KILL_AT", "").partition(" ")
    if not moment:
        return
    os.environ["SPHINX"] = str(os.getpid())
    if moment == "alarm":
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        signal.setitimer(signal.ITIMER_REAL, float(when))
        return
    left = [int(when or 1)]

    def kill(*_arguments):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    if moment != "block":
        event, _, priority = moment.partition("/")
        app.connect(event, kill, priority=int(priority or 900))
'''

LOOP = """

.. autograd-exec::

   import os, signal
   if os.environ.get("KILL_AT") == "block":
       os.kill(int(os.environ["SPHINX"]), signal.SIGKILL)
       while True:
           pass
"""

MOMENTS = [
    "doctree-read 1",  # the workers are being started
    "env-updated/100",  # all is read, nothing has run
    "block",  # a session is in a loop
    "env-updated/900",  # results are stored, nothing is written
    "html-page-context 3",
    "build-finished/100",  # all is written, and not noted
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as a build that nobody kills makes it."""
    source = sites.copy("small", tmp_path_factory.mktemp("whole"))
    prepare(source)
    built = sites.build(source, "-W")
    assert built.status == 0, built.errors
    return source.parent


def prepare(source: Path) -> None:
    """Make a site that can be killed."""
    for name, more in (("conf.py", KILLER), ("index.rst", LOOP)):
        path = source / name
        path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")


def wait_for_end(mark: str) -> list[str]:
    """Wait until the workers have seen that their master is gone, and return those that never do.

    One that is importing PyTorch sees it afterwards.
    """
    patience = time.monotonic() + 60
    while left_processes(mark) and time.monotonic() < patience:
        time.sleep(0.02)
    return left_processes(mark)


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_at(whole: Path, tmp_path: Path, moment: str) -> None:
    """After a kill no process is left, and the next build makes all pages and results as if there had been none."""
    source = sites.copy("small", tmp_path)
    prepare(source)
    if moment not in {"block", "env-updated/900"}:  # with most results stored, it is soon over
        shutil.copytree(whole / "source" / "results", source / "results")
        (source / "results" / "helped.autograd.json").unlink()

    killed = sites.build(source, env={"KILL_AT": moment, MARK: str(tmp_path)})

    assert killed.status == -9
    assert wait_for_end(str(tmp_path)) == []
    built = sites.build(source, "-W", env={MARK: str(tmp_path)})
    assert built.status == 0, built.errors
    for name in ("index", "helped", "markdown", "notebook"):
        assert built.page(f"{name}.html") == (whole / "html" / f"{name}.html").read_text(encoding="utf-8")
    assert sites.files(source / "results") == sites.files(whole / "source" / "results")
    assert left_processes(str(tmp_path)) == []


def test_killed_at_random_moments(whole: Path, tmp_path: Path) -> None:
    """Wherever twenty builds are killed, each next build makes all pages and results as if there had been none."""
    moments = random.Random(42)  # noqa: S311 - chosen at random, but the same each time
    source = sites.copy("small", tmp_path)
    prepare(source)
    started = time.monotonic()
    assert sites.build(source, "-W").status == 0
    whole_build = time.monotonic() - started
    results = sites.files(whole / "source" / "results")
    killed = 0
    for _ in range(20):
        for folder in ("html", "doctrees"):
            shutil.rmtree(tmp_path / folder, ignore_errors=True)
        (source / "results" / "helped.autograd.json").unlink(missing_ok=True)

        when = f"alarm {moments.uniform(0.05, whole_build):.3f}"
        killed += sites.build(source, env={"KILL_AT": when, MARK: str(tmp_path)}).status == -9

        assert wait_for_end(str(tmp_path)) == []
        built = sites.build(source, "-W", env={MARK: str(tmp_path)})
        assert built.status == 0, f"{when}: {built.errors}"
        for name in ("index", "helped", "markdown", "notebook"):
            assert built.page(f"{name}.html") == (whole / "html" / f"{name}.html").read_text(encoding="utf-8"), when
        assert sites.files(source / "results") == results, when
    assert killed > 0
