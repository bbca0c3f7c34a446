"""The pools that the tests of execution share, so that torch is imported once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sphinx_graphviz_autograd.execution.pool import Pool
from tests.execution.sessions import Workbench

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def warm_pool() -> Iterator[Pool]:
    """A pool with much time."""
    with Pool(2, 120) as pool:
        pool.start()
        yield pool


@pytest.fixture
def bench(warm_pool: Pool, tmp_path: Path) -> Workbench:
    """A pool, and a folder of the test's own."""
    (tmp_path / "pyproject.toml").touch()  # the project is this folder, not one around it
    return Workbench(warm_pool, tmp_path)
