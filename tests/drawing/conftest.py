"""Golden files: the text that a drawing is expected to be, beside the tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).parent / "golden"


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with the golden file of a name; `GOLDEN=write` in the environment writes it instead."""

    def compare(name: str, text: str) -> None:
        path = FOLDER / name
        if os.environ.get("GOLDEN") == "write":
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")

        assert path.read_text(encoding="utf-8") == text

    return compare
