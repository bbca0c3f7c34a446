"""What tests of several rooms share: programs of the system, and one build of this project's documentation."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@dataclass(frozen=True, slots=True)
class Site:
    """A site that Sphinx has built."""

    html: Path
    """The folder of its pages."""
    doctrees: Path
    """The folder in which Sphinx keeps what it knows of them."""
    log: str
    """What Sphinx printed."""


def program(*names: str) -> str:
    """Return the path of the first of these programs that is there; without any, skip the test, or fail it under CI."""
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found:
        return found
    reason = f"{names[0]} is not installed"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def dot() -> str:
    """The path of Graphviz's `dot`."""
    return program("dot")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium, or of Chrome."""
    return program("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def documentation(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """This project's documentation as HTML, built once, also if the tests run in several processes."""
    filelock = pytest.importorskip("filelock", reason="needs what the extra `test` installs")
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    log = folder / "documentation.log"
    with filelock.FileLock(folder / "documentation.lock"):
        if not log.exists():
            html, doctrees = folder / "documentation", folder / "documentation-doctrees"
            command = [sys.executable, "-m", "sphinx", "-nW", "--keep-going", "-d", str(doctrees), str(DOCS), str(html)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
            log.write_text(done.stdout + done.stderr, encoding="utf-8")
    return Site(folder / "documentation", folder / "documentation-doctrees", log.read_text(encoding="utf-8"))
