"""What a session's results depend on besides its blocks: files of the project, and installed packages."""

from __future__ import annotations

import ast
import hashlib
import os
import sys
import sysconfig
import threading
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sphinx_graphviz_autograd.execution.paths import PACKAGE, project_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

_FOREIGN_PARTS: Final = frozenset({"site-packages", "dist-packages", "__pycache__"})
"""Folders whose files are installed or made, not written by the author."""

_WRITING: Final = os.O_WRONLY | os.O_RDWR


@cache
def installed_version(distribution: str) -> str:
    """Return the version of an installed distribution without its local part (`+cpu`); empty if it is not installed.

    What is installed is taken not to change while the process runs.
    """
    try:
        return metadata.version(distribution).partition("+")[0]
    except metadata.PackageNotFoundError:
        return ""


def python_version() -> str:
    """Return the version of Python as far as results may depend on it, as `3.13`."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


class ProjectFiles:
    """Files of the project's own that the code imports or reads, noted while it runs.

    What the code writes is not counted, as it comes from the code. What child processes read, and what C code opens
    itself, is not seen.
    """

    def __init__(self, root: str) -> None:
        """Make an empty list; paths will be relative to `root`, the source folder."""
        self._root = os.path.realpath(root)
        self._project = os.path.realpath(project_folder(root)) + os.sep
        paths = sysconfig.get_paths()
        self._foreign = tuple(os.path.realpath(folder) + os.sep for folder in (paths["stdlib"], PACKAGE))
        self._before = frozenset(sys.modules)
        self._digests: dict[str, str] = {}
        self._written: set[str] = set()
        self._local = threading.local()

    def watch(self) -> None:
        """Begin to listen; Python has no way to end it, so this is for a process that runs one session."""
        sys.addaudithook(self._hear)

    def found(self) -> dict[str, str]:
        """Return the SHA-256 of each file, by its path relative to the source folder."""
        for module in [sys.modules[name] for name in sys.modules if name not in self._before]:
            file = getattr(module, "__dict__", {}).get("__file__")  # asking a lazy module itself might import it
            if isinstance(file, str) and file.endswith(".py"):
                self._note(file)  # one that came from a bytecode file was not seen to be opened
        return {
            Path(os.path.relpath(path, self._root)).as_posix(): digest
            for path, digest in sorted(self._digests.items())
            if digest and path not in self._written
        }

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if event != "open" or getattr(self._local, "busy", False):
            return
        path, _, flags = arguments
        if isinstance(path, str | bytes):
            self._local.busy = True
            try:
                self._note(os.fsdecode(path), writing=isinstance(flags, int) and bool(flags & _WRITING))
            finally:
                self._local.busy = False

    def _note(self, path: str, *, writing: bool = False) -> None:
        path = os.path.realpath(path)
        if not path.startswith(self._project) or path.startswith(self._foreign):
            return
        if not _FOREIGN_PARTS.isdisjoint(Path(path).parts):
            return
        if writing:
            self._written.add(path)
        elif path not in self._digests and path not in self._written and Path(path).is_file():
            self._digests[path] = file_digest(Path(path))


def imported_versions(sources: Iterable[str], own_modules: Iterable[str]) -> dict[str, str]:
    """Return the versions of what code imports by name, and of Python and PyTorch, by distribution.

    Args:
        sources: Python source texts; what is no Python is passed over.
        own_modules: top-level modules that are the project's own.
    """
    own = set(own_modules)
    names = {name for source in sources for name in _imported_names(source)} - own - sys.stdlib_module_names
    versions = {"python": python_version(), "torch": installed_version("torch")}
    for name in sorted(name for name in names if name in sys.modules):
        for distribution in _distributions(name):
            versions[distribution] = installed_version(distribution)
    return {name: version for name, version in sorted(versions.items()) if version}


def _imported_names(source: str) -> set[str]:
    """Return the top-level names of all modules that a source text imports."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {item.name.partition(".")[0] for item in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.add(node.module.partition(".")[0])
    return names


def _distributions(module: str) -> list[str]:
    """Return the names of the distributions that a top-level module belongs to."""
    if installed_version(module):
        return [module.lower()]
    # it is called otherwise, as `yaml` of PyYAML
    return sorted({name.lower() for name in metadata.packages_distributions().get(module, [])})
