"""Building the sites under `roots/`, each in a process of its own, as authors do."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOTS = Path(__file__).parent / "roots"

NOTEBOOK = """\
---
file_format: mystnb
kernelspec:
  name: python3
  display_name: Python 3
---

"""
"""What makes a MyST page a MyST-NB notebook."""

PICTURE = 'class="autograd-graph-svg"'
"""What is once in the HTML of each picture."""

_MANY = """\
import sys
from sphinx.cmd.build import build_main
for arguments in sys.argv[1:]:
    status = build_main(arguments.split("\\t"))
    if status:
        sys.exit(f"{arguments}: exit status {status}")
"""


_SERVER = """\
import json, os, sys
import sphinx.application, sphinx.builders.html
from sphinx.cmd.build import main
for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if not child:
        os.environ.update(order["env"])
        for number, name in ((1, "log"), (2, "errors")):
            os.dup2(os.open(order[name], os.O_WRONLY | os.O_CREAT), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.exit(main(order["arguments"]))  # in order, so that what extensions have started is ended
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""A process that has imported Sphinx, and forks for each build: half of a build's time is saved."""


class _Server:
    """The process that builds."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_environment(None),
        )

    def ask(self, order: dict[str, object]) -> int:
        """Let it build, and return the exit status."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps(order), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        self._process.communicate()


@cache
def _server() -> _Server:
    server = _Server()
    atexit.register(server.close)
    return server


@dataclass(frozen=True, slots=True)
class Built:
    """What came of a build."""

    status: int
    """The exit status of Sphinx."""
    out: Path
    """The output folder."""
    log: str
    """What Sphinx printed."""
    errors: str
    """What it printed to standard error: its warnings."""

    @property
    def warnings(self) -> list[str]:
        """The first lines of all warnings, without the source folder, sorted."""
        lines = [line for line in self.errors.splitlines() if re.search(r": (WARNING|ERROR): ", line)]
        return sorted(re.sub(r"^/\S*/source/", "", line) for line in lines)

    @property
    def subtypes(self) -> list[str]:
        """The subtypes of our warnings, sorted."""
        return sorted(re.findall(r"\[autograd_graph\.(\w+)\]", self.errors))

    def page(self, name: str) -> str:
        """The text of an output file."""
        return (self.out / name).read_text(encoding="utf-8")


def copy(root: str, folder: Path) -> Path:
    """Copy a site into a folder, where it may be changed, and return its source folder."""
    source = folder / "source"
    shutil.copytree(ROOTS / root, source, ignore=shutil.ignore_patterns("__pycache__"))
    return source


def build(source: Path, *options: str, builder: str = "html", env: dict[str, str] | None = None) -> Built:
    """Build a site beside its source folder; all builders share the doctrees."""
    arguments = [*_arguments(source, builder), *options]
    with tempfile.TemporaryDirectory() as folder:
        log, errors = Path(folder, "log"), Path(folder, "errors")
        status = _server().ask({"arguments": arguments, "env": env or {}, "log": str(log), "errors": str(errors)})
        words = [path.read_text(encoding="utf-8", errors="replace") for path in (log, errors)]
    return Built(status, source.parent / builder, *words)


def build_afresh(source: Path, *options: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> Built:
    """Build a site as HTML with an interpreter of its own, on which the environment and working directory act."""
    command = [sys.executable, "-m", "sphinx", *_arguments(source, "html"), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment(env), cwd=cwd)
    return Built(done.returncode, source.parent / "html", done.stdout, done.stderr)


def document_torch(folder: Path, *names: str) -> Path:
    """Build a site that describes functions as PyTorch's does, and return the inventory that it offers."""
    generated = folder / "source" / "generated"
    generated.mkdir(parents=True)
    (folder / "source" / "conf.py").write_text('project = "PyTorch"\n', encoding="utf-8")
    (folder / "source" / "index.rst").write_text("Functions\n=========\n", encoding="utf-8")
    for name in names:
        kind = "method" if "Tensor" in name else "function"
        text = f":orphan:\n\n{name}\n{'=' * len(name)}\n\n.. py:{kind}:: {name}(input)\n"
        (generated / f"{name}.rst").write_text(text, encoding="utf-8")
    built = build(folder / "source", "-W", "-q")
    assert built.status == 0, built.errors
    return built.out / "objects.inv"


def build_for(source: Path, builders: list[str], *options: str, env: dict[str, str] | None = None) -> Path:
    """Build a site without any warning for several builders, one after the other, and return where the outputs are."""
    orders = ["\t".join([*_arguments(source, builder), "-nW", "--keep-going", "-q", *options]) for builder in builders]
    command = [sys.executable, "-c", _MANY, *orders]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment(env))
    assert done.returncode == 0, done.stdout + done.stderr
    return source.parent


def files(folder: Path, pattern: str = "*") -> dict[str, bytes]:
    """Return the content of the files in a folder by their relative paths."""
    found = sorted(path for path in folder.rglob(pattern) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def _arguments(source: Path, builder: str) -> list[str]:
    # Sphinx does not let `gettext` share doctrees with other builders
    doctrees = source.parent / ("doctrees-gettext" if builder == "gettext" else "doctrees")
    return ["-b", builder, "-d", str(doctrees), str(source), str(source.parent / builder)]


def _environment(more: dict[str, str] | None) -> dict[str, str]:
    return os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"} | (more or {})
