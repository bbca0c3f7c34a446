"""Builds of whole sites, in processes of their own, against MyST-NB with torchviz and against Sphinx alone."""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from tests.benchmarks.measuring import Row, fastest, python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.benchmarks.measuring import Scale

Kind: TypeAlias = Literal["ours", "bare", "myst-nb"]
"""What makes a site: this package, Sphinx alone, or MyST-NB with torchviz."""

_CONF: Final = {
    "ours": 'extensions = ["sphinx_graphviz_autograd"]\n',
    "bare": "",
    "myst-nb": 'extensions = ["myst_nb"]\nnb_execution_mode = "force"\nnb_execution_timeout = 600\n',
}

_NOTEBOOK: Final = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n  display_name: Python 3\n---\n\n"

_STEPS: Final = (
    "w{0} = torch.randn(1, requires_grad=True)\nb = torch.randn(1, requires_grad=True)\nyhat = b + w{0} * x",
    "loss = ((b + w{0} * x - y) ** 2).mean()",
    "total = ((b + w{0} * x - y) ** 2).mean() + 0.1 * w{0} ** 2",
    "h = torch.zeros(1)\nfor step in range(6):\n    h = torch.tanh(w{0} * h + b)\nlast = h.sum()",
)
"""The blocks of a chapter; each ends in what is drawn. The number makes each figure a different one."""

_DRAWN: Final = ("yhat", "loss", "total", "last")


@dataclass(frozen=True, slots=True)
class Site:
    """A site that is written and can be built."""

    folder: Path
    """Where it is."""

    def build(self, *, anew: bool = True) -> None:
        """Build its pages; `anew` from nothing."""
        source, target = self.folder / "source", self.folder / "build"
        if anew:
            shutil.rmtree(target, ignore_errors=True)
        python("-m", "sphinx", "-q", "-b", "html", "-d", str(target / "doctrees"), str(source), str(target / "html"))


def chapter_rows(scale: Scale) -> Iterator[Row]:
    """Build one chapter with four figures."""
    with tempfile.TemporaryDirectory() as folder:
        kinds: tuple[Kind, ...] = ("ours", "bare", "myst-nb")
        ours, bare, others = (_site(Path(folder) / kind, kind, 1, 4) for kind in kinds)
        mine, alone, theirs, torch = fastest(
            scale.rounds, ours.build, bare.build, others.build, lambda: python("-c", "import torch")
        )
    yield Row(
        "a chapter with 4 figures, built from nothing",
        "the same in MyST-NB with torchviz",
        f"{mine / theirs:.2f} of its time: {mine:.2f} s against {theirs:.2f} s",
        "at most 0.6",
        mine <= 0.6 * theirs,
    )
    floor = alone + torch
    yield Row(
        "the same",
        "Sphinx without figures, and `import torch`",
        f"{mine / floor:.2f} times their time: {mine:.2f} s against {alone:.2f} s + {torch:.2f} s",
        "at most 1.25 times",
        mine <= 1.25 * floor,
    )


def book_rows(scale: Scale) -> Iterator[Row]:
    """Build several chapters with three figures each, and again after a change of prose."""
    with tempfile.TemporaryDirectory() as folder:
        kinds: tuple[Kind, ...] = ("ours", "bare", "myst-nb")
        ours, bare, others = (_site(Path(folder) / kind, kind, scale.chapters, 3) for kind in kinds)
        mine, theirs = fastest(min(scale.rounds, 2), ours.build, others.build)
        yield Row(
            f"{scale.chapters} chapters with 3 figures each, built from nothing",
            "the same in MyST-NB with torchviz",
            f"{mine / theirs:.3f} of its time: {mine:.2f} s against {theirs:.1f} s",
            "at most 0.12",
            mine <= 0.12 * theirs,
        )
        bare.build()
        again = [_after_a_change(site) for site in (ours, bare)]
        mine, alone = fastest(scale.rounds * 2, *again)
    yield Row(
        "the same, after a change of prose on one page",
        "the same site without figures",
        f"{mine / alone:.2f} times its time: {mine:.2f} s against {alone:.2f} s",
        "at most 1.1 times",
        mine <= 1.1 * alone,
    )


def growth_rows(scale: Scale) -> Iterator[Row]:
    """Build ever larger sites, and sites with ever more sessions."""
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in scale.figures:
            pages = max(1, number // 20)
            site = _site(Path(folder) / f"{number}", "ours", pages, number // pages)
            [seconds[number]] = fastest(1 if number > 1000 else min(scale.rounds, 3), site.build)
        pages = scale.chapters
        together = _site(Path(folder) / "together", "ours", pages, 10)
        apart = _site(Path(folder) / "apart", "ours", pages, 10, apart=True)
        one, many = fastest(min(scale.rounds, 3), together.build, apart.build)
    cost = (many - one) / (pages * 9) * 1e3
    yield Row("one more session", "", f"{cost:.0f} ms", "at most 60 ms", cost <= 60)
    numbers = scale.figures
    costs = [(seconds[b] - seconds[a]) / (b - a) * 1e3 for a, b in pairwise(numbers)]
    said = ", ".join(f"{cost:.1f} ms up to {number:,}" for cost, number in zip(costs, numbers[1:], strict=True))
    yield Row("one more figure", "", said, "at most 15 ms, however many", max(costs) <= 15)


def _after_a_change(site: Site) -> Callable[[], None]:
    """Return what adds a sentence to a page and builds the site again."""
    page = min((site.folder / "source").glob("chapter*"))

    def build() -> None:
        with page.open("a", encoding="utf-8") as file:
            file.write(f"\nOne more sentence, written at {time.time_ns()}.\n")
        site.build(anew=False)

    return build


def _site(folder: Path, kind: Kind, pages: int, figures: int, *, apart: bool = False) -> Site:
    """Write a site of so many pages with so many figures each; `apart` makes each block a session of its own."""
    source = folder / "source"
    source.mkdir(parents=True)
    (source / "conf.py").write_text(f'project = "benchmark"\n{_CONF[kind]}', encoding="utf-8")
    names = [f"chapter{number:03d}" for number in range(pages)]
    if kind == "myst-nb":
        listed = "\n".join(names)
        (source / "index.md").write_text(f"# Book\n\n```{{toctree}}\n{listed}\n```\n", encoding="utf-8")
    else:
        listed = "\n".join(f"   {name}" for name in names)
        (source / "index.rst").write_text(f"Book\n====\n\n.. toctree::\n\n{listed}\n", encoding="utf-8")
    for number, name in enumerate(names):
        text = _notebook(number, figures) if kind == "myst-nb" else _page(kind, number, figures, apart=apart)
        (source / f"{name}.{'md' if kind == 'myst-nb' else 'rst'}").write_text(text, encoding="utf-8")
    return Site(folder)


def _blocks(page: int, figures: int, *, apart: bool) -> Iterator[tuple[str, str]]:
    """Yield the code of each figure of a page, and what is drawn."""
    start = "import torch\ntorch.manual_seed(0)\nx, y = torch.randn(8), torch.randn(8)\n"
    for at in range(figures):
        name = f"{page}_{at}"
        own = _STEPS[0].format(name) + "\n"
        step = _STEPS[at % len(_STEPS)].format(name)
        code = (start if apart or not at else "") + (own if at % len(_STEPS) else "") + step
        yield code, _DRAWN[at % len(_DRAWN)]


def _page(kind: Kind, page: int, figures: int, *, apart: bool) -> str:
    parts = [f"Chapter {page}\n==========\n\nSome prose.\n"]
    for at, (code, drawn) in enumerate(_blocks(page, figures, apart=apart)):
        indented = "\n".join(f"   {line}" for line in code.splitlines())
        if kind == "bare":
            parts.append(f".. code-block:: python\n\n{indented}\n")
        else:
            session = f"   :session: s{at}\n" if apart else ""
            parts.append(f".. autograd-graph:: {drawn}\n{session}\n{indented}\n")
        parts.append("More prose, which says what is to be seen.\n")
    return "\n".join(parts)


def _notebook(page: int, figures: int) -> str:
    parts = [f"{_NOTEBOOK}# Chapter {page}\n\nSome prose.\n"]
    for at, (code, drawn) in enumerate(_blocks(page, figures, apart=False)):
        imported = "import torchviz\n" if not at else ""
        parts.append(f"```{{code-cell}} ipython3\n{imported}{code}\ntorchviz.make_dot({drawn})\n```\n")
        parts.append("More prose, which says what is to be seen.\n")
    return "\n".join(parts)
