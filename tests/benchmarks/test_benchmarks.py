"""The benchmarks run: the smallest sizes, in which nothing can be said of speed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks import models
from tests.conftest import program

if TYPE_CHECKING:
    import pytest


def test_benchmarks_print_a_table_and_versions() -> None:
    """One command measures groups of rows, the alternatives in turn, and says with which versions."""
    program("dot")
    groups = ("capture", "million", "recording", "recurrent", "layout", "chapter")
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks", "--smoke", *groups],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )

    lines = done.stdout.splitlines()

    assert done.returncode == 0, done.stderr
    assert lines[0] == "| work | against | measured | goal | reached |"
    assert sum(line.startswith("| ") for line in lines) == 21
    assert "torch 2." in lines[-1]


def test_unknown_group_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    """A group that does not exist is one clear line."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks", "speed"], cwd=Path(__file__).parents[2], check=False
    )

    assert done.returncode == 2
    assert "there is no group speed; there are capture" in capfd.readouterr().err


def test_measured_code_runs() -> None:
    """What is measured makes a graph, recorded or not."""
    namespace, recorder = models.recorded(models.RECURRENT.format(nodes=12))

    assert "loss" in namespace
    assert "loss" in models.run(models.RECURRENT.format(nodes=12))
    assert recorder.blocks
