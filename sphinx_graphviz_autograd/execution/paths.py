"""Paths that may be shown: relative to the document's folder, or to where Python's packages are; never absolute."""

from __future__ import annotations

import os
import re
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sphinx_graphviz_autograd.execution.session import Session

PACKAGE: Final = str(Path(__file__).resolve().parents[1])
"""The folder of this package, whose frames are not shown."""

_PROJECT_MARKS: Final = ("pyproject.toml", "setup.py", "setup.cfg", ".git", ".hg")


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders of this machine, and what is shown in their stead."""

    shown: tuple[tuple[str, str], ...]
    """Absolute path and what is shown for it, the longest first; `.` is not shown before a file's name."""
    pattern: re.Pattern[str]
    """Finds these paths in a text."""


def project_folder(root: str) -> str:
    """Return the folder that holds all of the project: the nearest with a `pyproject.toml` or the like, else `root`."""
    for folder in (Path(root), *Path(root).parents):
        if any((folder / mark).exists() for mark in _PROJECT_MARKS):
            return str(folder)
    return root


def folders_of(session: Session) -> Folders:
    """Return what is shown for the folders that a session has to do with."""
    own = (project_folder(session.root), session.root, session.folder)
    return _folders((folder, os.path.relpath(folder, session.folder)) for folder in own)


def machine_folders() -> Folders:
    """Return what is shown for the folders of Python and of the user."""
    return _folders(())


def _folders(own: Iterable[tuple[str, str]]) -> Folders:
    paths = sysconfig.get_paths()
    packages = (paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    shown: dict[str, str] = {}
    for folder, word in ((str(Path.home()), "~"), *((folder, ".") for folder in packages), *own):
        for form in (folder, os.path.realpath(folder)):
            if len(form) > 1:
                shown[form] = Path(word).as_posix()
    longest_first = tuple(sorted(shown.items(), key=lambda item: (-len(item[0]), item[0])))
    pattern = "|".join(re.escape(folder) for folder, _ in longest_first)
    return Folders(longest_first, re.compile(f"(?<![\\w.~-])({pattern})({re.escape(os.sep)}|(?![\\w.-]))"))


def hide_folders(text: str, folders: Folders) -> str:
    """Return the text with the absolute paths of these folders made relative."""
    if os.sep not in text:
        return text
    words = dict(folders.shown)

    def replace(match: re.Match[str]) -> str:
        word = words[match[1]]
        if not match[2]:
            return word
        return "" if word == "." else word + "/"

    return folders.pattern.sub(replace, text)


def shown_file(filename: str, folders: Folders) -> str:
    """Return what is shown for the file name of a frame; of a path in no known folder only the last part."""
    shown = hide_folders(filename, folders)
    return Path(shown).name if Path(shown).is_absolute() else shown
