"""What is stored, what runs again and why, and which pages are written again."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sphinxext import sites

SESSIONS = ["helped", "index", "index (other)", "markdown", "notebook"]

NEVER = ("-D", "autograd_graph_execute=never")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the small site, as its author has committed them."""
    source = sites.copy("small", tmp_path_factory.mktemp("small"))
    built = sites.build(source, "-W", "-v")
    assert built.status == 0, built.errors
    assert sorted(ran(built)) == SESSIONS
    return source / "results"


@pytest.fixture
def source(stored: Path, tmp_path: Path) -> Path:
    """The source folder of the small site with its results; it has not been built here."""
    folder = sites.copy("small", tmp_path)
    shutil.copytree(stored, folder / "results")
    return folder


def ran(built: sites.Built) -> dict[str, str]:
    """Return the sessions that ran, and for each why."""
    return dict(re.findall(r"^autograd-graph: running ([^:]*): (.*)$", built.log, re.MULTILINE))


def written(built: sites.Built) -> list[str]:
    """Return the pages that Sphinx wrote."""
    return sorted(re.findall(r"writing output\.\.\. \[ *\d+%\] (\w+)", built.log))


def edit(path: Path, old: str, new: str) -> None:
    """Change a file of the author's."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_committed_results_need_no_torch(stored: Path, source: Path, tmp_path: Path) -> None:
    """With stored results a site builds where PyTorch cannot be imported and `dot` is not found, to the same bytes."""
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "torch.py").write_text("raise ImportError('there is no torch')\n", encoding="utf-8")

    built = sites.build_afresh(source, "-W", "-v", env={"PYTHONPATH": str(broken), "PATH": str(tmp_path)})

    assert built.status == 0, built.errors
    assert ran(built) == {}
    assert sites.files(source / "results") == sites.files(stored)
    assert sites.files(built.out, "*.html") == sites.files(stored.parent.parent / "html", "*.html")
    again = sites.build(source, "-W", "-v", "-j2")
    assert "0 added, 0 changed, 0 removed" in again.log
    assert written(again) == []


def test_without_torch_and_results(source: Path, tmp_path: Path) -> None:
    """Where PyTorch cannot be imported, what is not stored is a warning in every build, and the rest is complete."""
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "torch.py").write_text("raise ImportError('there is no torch')\n", encoding="utf-8")
    (source / "results" / "helped.autograd.json").unlink()

    first = sites.build_afresh(source, "-W", "--keep-going", env={"PYTHONPATH": str(broken)})
    second = sites.build_afresh(source, "-W", "--keep-going", env={"PYTHONPATH": str(broken)})

    assert first.status == second.status == 1
    assert first.subtypes == second.subtypes == ["missing"]
    assert "helped.rst:4: WARNING: PyTorch cannot be imported" in first.errors
    assert "PyTorch cannot be imported" in first.page("helped.html")
    assert sites.PICTURE in first.page("index.html")


def test_prose_and_looks_run_nothing(source: Path) -> None:
    """Text added above a block, another caption, another direction and another heading run nothing and are shown."""
    sites.build(source)
    edit(source / "index.rst", "Words.", "More words.\n\n" * 10)
    edit(source / "index.rst", ":caption: A caption", ":caption: Another\n   :direction: LR")
    edit(source / "notebook.ipynb", "Text.", "Other text.")

    built = sites.build(source, "-W", "-v")

    assert ran(built) == {}
    assert written(built) == ["index", "notebook"]
    assert "Another" in built.page("index.html")
    again = sites.build(source, "-W", "-v", "-E", "-a")
    assert again.page("index.html") == built.page("index.html")


def test_only_what_changed_runs(source: Path) -> None:
    """A changed block runs its session alone; a changed module of the author's those that import it; each says why."""
    sites.build(source)
    edit(source / "index.rst", "w.exp()", "w.log()")
    edit(source / "helper.py", "2", "3")

    built = sites.build(source, "-W", "-v")

    assert ran(built) == {
        "helped": "`helper.py` changed",
        "index (other)": "block 1, the prelude or the settings changed",
    }
    assert written(built) == ["helped", "index"]
    assert "LogBackward0" in built.page("index.html")
    assert "ExpBackward0" not in (source / "results" / "index.autograd.json").read_text(encoding="utf-8")
    assert ran(sites.build(source, "-W", "-v")) == {}


def test_another_torch_runs_all(source: Path) -> None:
    """Results that another release of PyTorch made are made again, and the log says which."""
    for path in (source / "results").glob("*.json"):
        path.write_text(
            re.sub(r'"torch": "[^"]*"', '"torch": "1.0"', path.read_text(encoding="utf-8")), encoding="utf-8"
        )

    never = sites.build(source, "-W", "-v", *NEVER)
    auto = sites.build(source, "-W", "-v")

    assert ran(never) == {}
    assert re.search(r"used though other packages made them: torch 1\.0 -> \d", never.log)
    assert sorted(ran(auto)) == SESSIONS
    assert all(why.startswith("torch 1.0 -> ") for why in ran(auto).values())


def test_always_runs_all(source: Path) -> None:
    """With `always` everything runs in each build, and what comes out the same is not written again."""
    sites.build(source)
    before = {path: path.stat().st_mtime_ns for path in (source / "results").glob("*.json")}

    built = sites.build(source, "-W", "-v", "-D", "autograd_graph_execute=always")

    assert sorted(ran(built)) == SESSIONS
    assert set(ran(built).values()) == {"`autograd_graph_execute` is `always`"}
    assert written(built) == []
    assert {path: path.stat().st_mtime_ns for path in (source / "results").glob("*.json")} == before


def test_never_runs_nothing(source: Path) -> None:
    """With `never` what is stale or missing gets one warning a session, in every build, and says so in the page."""
    edit(source / "index.rst", "w * 2", "w * 4")
    edit(source / "helper.py", "2", "3")
    (source / "results" / "markdown.autograd.json").unlink()
    before = sites.files(source / "results")

    first = sites.build(source, "-W", "--keep-going", "-v", *NEVER)
    second = sites.build(source, "-W", "--keep-going", "-v", *NEVER)

    assert first.subtypes == ["missing", "stale", "stale"]
    assert first.status == second.status == 1
    assert first.warnings == second.warnings
    assert (
        "helped.rst:4: WARNING: the stored result is stale (`helper.py` changed), and nothing was run" in first.errors
    )
    assert "nothing was run, as <code" in first.page("markdown.html")
    assert sites.PICTURE not in first.page("markdown.html")
    assert first.page("index.html").count(sites.PICTURE) == 1  # the other session
    assert ran(first) == ran(second) == {}
    assert sites.files(source / "results") == before


def test_builders_that_run_nothing(stored: Path, tmp_path: Path) -> None:
    """Builders that write no pages run nothing, and spoil nothing for the one that does."""
    source = sites.copy("small", tmp_path)
    for builder in ("linkcheck", "changes", "dummy"):
        built = sites.build(source, "-W", "-v", builder=builder)

        assert built.status == 0, built.errors
        assert ran(built) == {}
    assert not (source / "results").exists()
    shutil.copytree(stored, source / "results")

    built = sites.build(source, "-W", "-v")

    assert "0 added, 0 changed, 0 removed" in built.log
    assert [
        built.page(f"{name}.html").count(sites.PICTURE) for name in ("index", "helped", "markdown", "notebook")
    ] == [
        2,
        1,
        1,
        1,
    ]


def test_another_builder_in_between(source: Path) -> None:
    """A page whose results changed while another builder ran is written again by the first builder."""
    sites.build(source)
    edit(source / "helper.py", "2", "3\nprint('another value')")

    text = sites.build(source, builder="text")
    built = sites.build(source, "-v")

    assert "another value" in text.page("helped.txt")
    assert ran(built) == {}
    assert written(built) == ["helped", "index"]  # which has the table of contents
    assert "another value" in built.page("helped.html")


def test_files_of_another_make_are_replaced(source: Path) -> None:
    """Corrupt, foreign and newer files are made anew with a warning; files of pages that are gone are removed."""
    results = source / "results"
    (results / "helped.autograd.json").write_text("{", encoding="utf-8")
    (results / "markdown.autograd.json").write_text('{"name": "not ours"}', encoding="utf-8")
    edit(results / "notebook.autograd.json", '"schema": ', '"schema": 99')
    (results / "gone.autograd.json").write_text(
        (results / "index.autograd.json").read_text(encoding="utf-8"), encoding="utf-8"
    )
    (results / "README.txt").write_text("Mine.", encoding="utf-8")

    first = sites.build(source, "-v")
    second = sites.build(source, "-W", "-v")

    assert sorted(ran(first)) == ["helped", "markdown", "notebook"]
    assert first.subtypes == ["store", "store", "store"]
    assert second.status == 0, second.errors
    assert ran(second) == {}
    names = ["README.txt", *(f"{page}.autograd.json" for page in ("helped", "index", "markdown", "notebook"))]
    assert sorted(sites.files(results)) == names


def test_results_that_cannot_be_stored(source: Path) -> None:
    """If results cannot be written they are shown all the same, with a warning in every build."""
    shutil.rmtree(source / "results")
    (source / "results").write_text("a file, where a folder should be", encoding="utf-8")

    first = sites.build(source, "-W", "--keep-going")
    second = sites.build(source, "-W", "--keep-going")

    assert first.status == second.status == 1
    assert first.subtypes == second.subtypes == ["store"] * 4
    assert sites.PICTURE in first.page("index.html")


def test_layouts_that_take_too_long(source: Path) -> None:
    """A figure that cannot be laid out in time is told in words, with a warning in every build."""
    limit = "\nautograd_graph_layout_timeout = 1e-6\n"
    (source / "conf.py").write_text((source / "conf.py").read_text(encoding="utf-8") + limit, encoding="utf-8")

    first = sites.build(source, "-W", "--keep-going")
    second = sites.build(source, "-W", "--keep-going")

    assert first.status == second.status == 1
    assert first.subtypes == second.subtypes == ["layout"] * 5
    assert "yhat: MulBackward0, (3), line 3" in second.page("index.html")
    edit(source / "conf.py", limit, "")
    third = sites.build(source, "-W")
    assert third.status == 0
    assert sites.PICTURE in third.page("index.html")


def test_without_graphviz(source: Path, tmp_path: Path) -> None:
    """Without the program that is asked for, figures are told in words, with one warning in every build."""
    options = ("-W", "--keep-going", "-D", "autograd_graph_dot=dot")

    first = sites.build(source, *options, env={"PATH": str(tmp_path)})
    second = sites.build(source, *options, env={"PATH": str(tmp_path)})

    assert first.status == second.status == 1
    assert first.subtypes == second.subtypes == ["graphviz"]
    assert "yhat: MulBackward0, (3), line 3" in first.page("index.html")


def test_pictures_as_files(source: Path) -> None:
    """With `html_format = "img"` pages refer to files; colours that are set stand at the end of the style sheet."""
    built = sites.build(
        source, "-W", "-D", "autograd_graph_html_format=img", "-D", "autograd_graph_colors=leaf-fill=#abcdef"
    )

    names = re.findall(r'<img [^>]*src="_images/(autograd-graph-[0-9a-f]{16}\.svg)"', built.page("index.html"))
    assert len(names) == 2
    assert sites.PICTURE not in built.page("index.html")
    assert "prefers-color-scheme" in built.page(f"_images/{names[0]}")
    style = built.page("_static/autograd-graph.css")
    assert style.rstrip().endswith(":root {\n  --autograd-graph-leaf-fill: #abcdef;\n}")


def check(folder: Path) -> tuple[int, str, str]:
    """Run the command `check`, and return its exit status and what it printed."""
    command = [sys.executable, "-m", "sphinx_graphviz_autograd", "check", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_check_finds_what_is_stale_or_orphaned(source: Path) -> None:
    """The command `check` lists stored results that do not fit, with the reasons, and changes nothing."""
    results = source / "results"
    shutil.copy(results / "index.autograd.json", results / "gone.autograd.json")
    (results / "markdown.autograd.json").unlink()
    edit(source / "helper.py", "2", "3")
    before = sites.files(source)

    found = (
        "gone: no block belongs to it any more\n"
        "gone (other): no block belongs to it any more\n"
        "helped: `helper.py` changed\n"
        "markdown: nothing is stored\n"
    )
    assert check(source) == (1, found, "")
    assert sites.files(source) == before


def test_check_of_what_fits(source: Path) -> None:
    """The command `check` says nothing if all stored results fit."""
    assert check(source) == (0, "", "")


def test_check_of_no_site(tmp_path: Path) -> None:
    """The command `check` says in one line why it cannot check a folder."""
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "conf.py").write_text("extensions = []\n", encoding="utf-8")

    for folder, reason in (
        (tmp_path, f"there is no `conf.py` in `{tmp_path}`"),
        (tmp_path / "without", "`sphinx_graphviz_autograd` is not among the `extensions` of `conf.py`"),
        (sites.ROOTS / "formats", "`autograd_graph_store` is not set in `conf.py`, so no results are kept beside it"),
    ):
        assert check(folder) == (2, "", f"error: {reason}\n")


def test_nothing_private_is_written(source: Path, stored: Path) -> None:
    """No path of this machine, no name of a user and no secret of the environment is in results or pages."""
    edit(source / "helper.py", "2", "3\nimport os\nprint(__file__, os.environ.get('NOTHING'))")

    built = sites.build(source, env={"AUTOGRAD_GRAPH_SECRET": "hunter-two"})

    everything = sites.files(source / "results") | sites.files(built.out) | sites.files(stored)
    for secret in (str(source.parent), str(Path.home()), "hunter-two"):
        assert not [name for name, data in everything.items() if secret.encode() in data and name != "objects.inv"]
