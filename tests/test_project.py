"""What the package says of itself, and that its files agree with each other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from typing import TypedDict, cast

import pytest

import sphinx_graphviz_autograd

NAME = "sphinx_graphviz_autograd"
ROOT = Path(__file__).parents[1]


class Project(TypedDict):
    """The part of `[project]` in `pyproject.toml` that these tests look at."""

    dependencies: list[str]
    classifiers: list[str]


def read(path: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def project() -> Project:
    """The table `[project]` of `pyproject.toml`."""
    return cast("Project", tomllib.loads(read("pyproject.toml"))["project"])


@pytest.fixture(scope="module")
def extras() -> dict[str, list[str]]:
    """The extras of `pyproject.toml`, and what each requires."""
    tables = tomllib.loads(read("pyproject.toml"))
    return cast("dict[str, list[str]]", tables["project"]["optional-dependencies"])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The files of the wheel, as built from the source tree."""
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys, flit_core.buildapi as api; api.build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(folder)], cwd=ROOT, check=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        return set(archive.namelist())


def requirement_name(requirement: str) -> str:
    """Return the name that a requirement begins with."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def readme_commands() -> list[str]:
    """Return the commands of the README's consoles, without the prompt."""
    return re.findall(r"^\$ (.*)$", read("README.md"), re.MULTILINE)


def test_version_is_written_once() -> None:
    """The version that pip knows is the one that the package tells."""
    assert metadata.version(NAME) == sphinx_graphviz_autograd.__version__


def test_runtime_dependencies_are_three(project: Project) -> None:
    """Installing the package installs Sphinx, graphviz and graphviz-pure, and nothing else of its own accord."""
    assert [requirement_name(item) for item in project["dependencies"]] == ["sphinx", "graphviz", "graphviz-pure"]


def test_torch_is_in_an_extra(extras: dict[str, list[str]]) -> None:
    """PyTorch and torchviz come with the extra `torch`, MyST-NB with the extra `notebook`."""
    names = {extra: [requirement_name(item) for item in items] for extra, items in extras.items()}

    assert names["torch"] == ["torch", "torchviz"]
    assert names["notebook"] == ["myst-nb"]
    assert set(names) == {"torch", "notebook", "docs", "test", "dev"}


def test_every_dependency_has_its_reason() -> None:
    """Each requirement in `pyproject.toml` stands on a line of its own, with a reason on it or above it."""
    before = ""
    for line in read("pyproject.toml").partition("[tool.")[0].partition("dependencies = [")[2].splitlines():
        if line.startswith('    "') and NAME not in line:
            assert " # " in line or before.strip().startswith("#"), line
        before = line


def test_readme_commands_are_those_of_ci() -> None:
    """Both commands of the README that begin in the source tree are lines of `.ci/run`, word for word."""
    commands = [command for command in readme_commands() if " -e " in command]

    assert len(commands) == 2
    assert set(commands) <= set(read(".ci/run").splitlines())


def test_readme_shows_what_its_example_draws() -> None:
    """The picture of the README is, byte for byte, what the package makes today of the example below it.

    If it is meant to be another one: `python -m tests.overview`.
    """
    overview = pytest.importorskip("tests.overview", reason="needs PyTorch", exc_type=ImportError)

    assert textwrap.indent(overview.CODE, "   ") in read("README.md")
    assert overview.make() == overview.PICTURE.read_text(encoding="utf-8")


def test_ci_runs_every_supported_python(project: Project) -> None:
    """The Python versions of the classifiers are those of the workflow's matrix."""
    prefix = "Programming Language :: Python :: "
    versions = [item.removeprefix(prefix) for item in project["classifiers"] if item.startswith(prefix)]

    assert f"python: {versions}".replace("'", '"') in read(".github/workflows/ci.yml")


def test_ci_runs_the_lowest_versions(project: Project, extras: dict[str, list[str]]) -> None:
    """A job of the workflow installs every dependency in the lowest version that we say is enough."""
    job = read(".github/workflows/ci.yml").partition("lowest-versions:")[2].partition("pytest")[0]
    for requirement in [*project["dependencies"], *extras["torch"], *extras["notebook"]]:
        name, lowest = re.findall(r"^([\w-]+)>=([\d.]+)", requirement)[0]
        assert re.search(rf" {name}=={re.escape(lowest)}(\.0)? ", job.replace("\n", " ")), requirement


def test_one_release_of_torch_is_named(extras: dict[str, list[str]]) -> None:
    """Whatever builds figures in our own automation uses the release of PyTorch that the documentation pins."""
    pinned = [item for item in extras["docs"] if item.startswith("torch==")]

    found = {
        pin for path in (".ci/run", ".github/workflows/ci.yml") for pin in re.findall(r"torch==[\d.]+", read(path))
    }

    assert found == set(pinned)


def test_wheel_holds_the_package_and_nothing_else(wheel: set[str]) -> None:
    """Every file of the package is in the wheel, with the licence, the type marker and the static files."""
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / NAME).rglob("*") if path.is_file()}
    expected = {path for path in files if "__pycache__" not in path}
    version = sphinx_graphviz_autograd.__version__

    assert {path for path in wheel if ".dist-info/" not in path} == expected
    assert f"{NAME}-{version}.dist-info/licenses/LICENSE" in wheel
    assert f"{NAME}/py.typed" in wheel


def test_changelog_knows_this_version() -> None:
    """The changelog has a section for the version that the package tells."""
    assert re.search(
        rf"^## {re.escape(sphinx_graphviz_autograd.__version__)}\b", read("docs/changelog.md"), re.MULTILINE
    )


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone")
def test_top_level_of_the_repository_is_short() -> None:
    """At the top of the repository are the package, documentation, tests, three files, and names with a dot."""
    command = ["git", "ls-tree", "--name-only", "HEAD"]
    listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names = {name for name in listing.split("\n") if name and not name.startswith(".")}

    assert names == {NAME, "docs", "tests", "README.md", "LICENSE", "pyproject.toml"}


def test_ci_script_can_be_started() -> None:
    """`.ci/run` is executable, and stops at the first command that fails."""
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert "set -euo pipefail" in read(".ci/run")
