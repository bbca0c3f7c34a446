"""Looking at processes from outside."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

LONG = 60.0
"""Seconds after which a process that was to end will not."""


def is_alive(process: int) -> bool:
    """Return whether a process runs; one that has ended and that nobody has asked after does not."""
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def wait_until_gone(processes: list[int]) -> float:
    """Wait until none of these processes runs; return how many seconds that took."""
    begun = time.monotonic()
    while left := [process for process in processes if is_alive(process)]:
        if time.monotonic() - begun > LONG:
            pytest.fail(f"still running: {left}")
        time.sleep(0.01)
    return time.monotonic() - begun
