"""What blocks print: in what order it is kept, how much of it, and in what form."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sphinx_graphviz_autograd.execution.outputs import printed, tidy
from sphinx_graphviz_autograd.execution.paths import folders_of, project_folder, shown_file
from sphinx_graphviz_autograd.execution.session import Text
from sphinx_graphviz_autograd.execution.spools import LIMIT, Spools
from tests.execution.sessions import session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.execution.sessions import Workbench


@pytest.fixture
def spools() -> Iterator[Spools]:
    """Spools that nobody writes to but the test."""
    spools = Spools()
    yield spools
    spools.close()


def test_streams_are_kept_in_order(bench: Workbench) -> None:
    """What Python, C code and child processes print comes in the order in which it was printed, by stream."""
    result = bench.run(
        """
        import ctypes, os, subprocess, sys, warnings
        print("python")
        os.system("echo child")
        sys.stdout.buffer.write(b"bytes\\n")
        os.system("echo error >&2")
        warnings.warn("careful")
        print("error", file=sys.stderr)
        subprocess.run(["echo", "again"], stdout=sys.stdout)
        ctypes.CDLL(None).puts(b"c")
        """
    )

    assert result.blocks[0].output == (
        Text("stdout", "python\nchild\nbytes\n"),
        Text("stderr", "error\nUserWarning: careful\nerror\n"),
        Text("stdout", "again\nc\n"),
    )


def test_each_block_has_its_own_output(bench: Workbench) -> None:
    """What a block prints, also without a line's end, is not that of the next."""
    result = bench.run("print('a', end='')", "import os; os.system('echo b')", "print('c')")

    assert [block.output[0].text for block in result.blocks] == ["a", "b\n", "c\n"]


def test_a_fork_prints_too(bench: Workbench) -> None:
    """What processes print that are forked from the code's own, as those of a `DataLoader`, is not lost."""
    assert (
        bench.printed(
            """
        import multiprocessing
        process = multiprocessing.get_context("fork").Process(target=print, args=("fork",))
        process.start()
        process.join()
        print("done")
        """
        )
        == "fork\ndone\n"
    )


@pytest.mark.parametrize("code", ["for i in range(300_000): print(i)", "import os\nos.system('seq 0 999999')"])
def test_very_many_lines_do_no_harm(bench: Workbench, code: str) -> None:
    """The beginning is kept, whole lines of it, and that there was more is said."""
    result = bench.run(code, "print('on')")

    lines, note = result.blocks[0].output
    assert result.blocks[0].cut
    assert lines.text.splitlines() == [str(number) for number in range(18518)]
    assert note == Text("stderr", "... the rest is left out: more than 100000 bytes were printed\n")
    assert result.blocks[1].output == (Text("stdout", "on\n"),)


def test_as_much_as_is_kept_is_not_cut(spools: Spools, tmp_path: Path) -> None:
    """Output of just the length that is kept is whole; with one byte more, its last line is left out."""
    folders = folders_of(session(tmp_path))
    spools.note("stdout", b"x" * (LIMIT - 1) + b"\n")
    whole = printed(spools, folders)
    spools.note("stdout", b"x\n" * (LIMIT // 2))
    spools.note("stdout", b"y")
    cut = printed(spools, folders)

    assert whole == ((Text("stdout", "x" * (LIMIT - 1) + "\n"),), False)
    assert cut[1]
    assert cut[0][0].text == "x\n" * (LIMIT // 2)


def test_a_character_may_come_in_pieces(spools: Spools, tmp_path: Path) -> None:
    """Bytes of one character that are written one by one are put together; what is no UTF-8 is shown as bytes."""
    for byte in "é\n".encode() + b"\xff\n":
        spools.note("stdout", bytes([byte]))

    assert printed(spools, folders_of(session(tmp_path))) == ((Text("stdout", "é\n\\xff\n"),), False)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<Foo object at 0x7f12345678ab>, 0xff", "<Foo object at 0x...>, 0xff"),
        ("\x1b[1;31mred\x1b[0m \x1b]0;title\x07.", "red ."),
        ("  0%\r 50%\r100%\n", "100%\n"),
        ("long line\rshort\r\n", "shortline\n"),
        ("a\x00\x08b\tc\x85", "a\\x00\\x08b\tc\\x85"),
        ("損失 \U0001f600 é\n", "損失 \U0001f600 é\n"),
    ],
)
def test_output_is_made_the_same_everywhere(text: str, kept: str, tmp_path: Path) -> None:
    """Addresses, colours, overwritten text and control characters are not kept."""
    assert tidy(text, folders_of(session(tmp_path))) == kept


def test_folders_of_this_machine_are_not_shown(tmp_path: Path) -> None:
    """Paths below the document's folder, the project, the packages and the user's home are relative."""
    docs = tmp_path / "docs" / "guide"
    docs.mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    folders = folders_of(replace(session(docs), root=str(docs.parent)))

    assert project_folder(str(docs.parent)) == str(tmp_path)
    assert tidy(f"{docs} '{docs}/a.csv' {docs}s", folders) == ". 'a.csv' ../guides"
    assert tidy(f"{docs.parent}/conf.py, {tmp_path}/src/x.py:3", folders) == "../conf.py, ../../src/x.py:3"
    assert tidy(f"in {Path.home()}/notes and {Path.home()}", folders) == "in ~/notes and ~"
    assert shown_file(pytest.__file__, folders) == "pytest/__init__.py"
    assert shown_file(sys.modules["json"].__file__ or "", folders) == "json/__init__.py"
    assert shown_file("/nowhere/known.py", folders) == "known.py"
    assert tidy("/nowhere/at/all and 1/2", folders) == "/nowhere/at/all and 1/2"


def test_paths_that_code_prints_are_relative(bench: Workbench) -> None:
    """What Python itself words with a path, as the text for a module, is the same in any folder."""
    (bench.folder / "helper.py").touch()

    assert bench.printed("import os, helper\nprint(helper, os.getcwd())") == "<module 'helper' from 'helper.py'> .\n"
