"""Writing files that others may be reading."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, and not if it has these bytes already.

    Raises:
        OSError: it cannot be written.
    """
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)  # noqa: PTH105 - `temporary` is a plain string
    except BaseException:
        os.unlink(temporary)  # noqa: PTH108 - likewise
        raise
