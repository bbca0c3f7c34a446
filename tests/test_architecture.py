"""The rooms of the package, and the one way that the arrows between them point."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGE = "sphinx_graphviz_autograd"
FOLDER = Path(__file__).parents[1] / PACKAGE
MODULES = sorted(path.relative_to(FOLDER) for path in FOLDER.rglob("*.py"))
LONGEST = 350

FOUNDATION = {"model", "refusal", "codec", "errors", "quick"}

# Which rooms each room may import from. The package's own `__init__` wires, and reaches everything, but lazily.
ARROWS = {
    "codec": {"encoder", "errors"},
    "encoder": set[str](),
    "errors": set[str](),
    "quick": set[str](),
    "model": {"codec", "errors"},
    "refusal": {"model", "codec", "errors"},
    "tracing": FOUNDATION,
    "drawing": FOUNDATION,
    "execution": {"tracing"} | FOUNDATION,
    "sphinxext": {"execution", "drawing"} | FOUNDATION,
    "notebook": {"execution", "drawing", "tracing"} | FOUNDATION,
    "__main__": {"sphinxext", "execution", "drawing", "tracing", "notebook"} | FOUNDATION,
}

# The one room that may import each of these.
OWNERS = {
    "torch": {"tracing"},
    "torchviz": set[str](),
    "numpy": {"tracing"},
    "graphviz": {"drawing"},
    "docutils": {"sphinxext", "notebook"},
    "sphinx": {"sphinxext", "notebook", "__init__"},  # there only as the name of a type
    "myst_nb": {"notebook"},
    "nbclient": {"notebook"},
}

# What must not have been loaded once all modules of a room have been imported.
STRANGERS = {name: {"torch", "sphinx", "docutils", "graphviz"} for name in ("__init__", *sorted(FOUNDATION))} | {
    "drawing": {"torch", "sphinx", "docutils"},
    "execution": {"torch", "sphinx", "docutils", "graphviz"},
    "sphinxext": {"torch", "numpy", "myst_nb"},
}


def room(module: Path) -> str:
    """Return the room a module lies in: its folder, or itself if it lies at the top."""
    return module.parts[0].removesuffix(".py")


@cache
def imports(module: Path) -> frozenset[str]:
    """Return the full dotted name of everything that a module imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((FOLDER / module).read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                found.update(name.name for name in names)
            case ast.ImportFrom(module=str(base), names=names, level=0):
                found.update(f"{base}.{name.name}" for name in names)
            case ast.ImportFrom(level=level) if level:
                pytest.fail(f"{module} imports relatively, which hides the room it imports from")
            case _:
                pass
    return frozenset(found)


def own_rooms(module: Path) -> set[str]:
    """Return the rooms of the package that a module imports from."""
    return {name.split(".")[1] for name in imports(module) if name.startswith(f"{PACKAGE}.")}


def loaded(code: str) -> set[str]:
    """Return the names in `sys.modules` after a new Python has run `code`."""
    command = [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_arrows_between_rooms_point_one_way(module: Path) -> None:
    """A module imports from its own room and from the rooms that its room may see, and from no other."""
    name = room(module)
    allowed = ARROWS[name] | {name, "__version__"} if name != "__init__" else {*ARROWS, "__version__"}

    assert own_rooms(module) - allowed == set()


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_large_dependencies_have_one_room(module: Path) -> None:
    """A module imports torch, Sphinx, docutils, graphviz or MyST-NB only if it lies in the room for it."""
    used = {name.split(".")[0] for name in imports(module)} & set(OWNERS)

    assert {name for name in used if room(module) not in OWNERS[name]} == set()


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_module_fits_one_idea(module: Path) -> None:
    """A module has fewer than 350 lines."""
    assert len((FOLDER / module).read_text(encoding="utf-8").splitlines()) < LONGEST


@pytest.mark.parametrize("name", STRANGERS)
def test_importing_a_room_leaves_others_alone(name: str) -> None:
    """Importing every module of a room loads nothing that the room has no business with."""
    modules = [
        ".".join([PACKAGE, *module.with_suffix("").parts]).removesuffix(".__init__")
        for module in MODULES
        if room(module) == name
    ]
    code = "\n".join(f"import {module}" for module in modules or [PACKAGE])

    assert loaded(code) & STRANGERS[name] == set()


def test_setup_does_not_load_torch() -> None:
    """Looking up `setup`, as Sphinx does, does not load torch."""
    assert "torch" not in loaded(f"import {PACKAGE}\n{PACKAGE}.setup")
