"""One writer at a time in a folder, among all processes of the machine."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

if sys.platform == "win32":
    import msvcrt

    @contextlib.contextmanager
    def locked(folder: Path) -> Iterator[None]:
        """Hold the folder's lock, which is a file in the folder for temporary files: Windows locks no folders."""
        name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
        with (Path(tempfile.gettempdir()) / f"autograd-graph-{name}.lock").open("wb") as file:
            while True:
                with contextlib.suppress(OSError):  # it gives up after ten seconds
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    break
                time.sleep(0.1)
            try:
                yield
            finally:
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    @contextlib.contextmanager
    def locked(folder: Path) -> Iterator[None]:
        """Hold the folder's lock, which the system lets go of if the process dies; leaves no file behind.

        A file system that knows no locks is used without.
        """
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            with contextlib.suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
