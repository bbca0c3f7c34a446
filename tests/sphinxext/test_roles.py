"""The role `autograd-node`, and lines that did not run: what they become in pages and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.sphinxext.sites import Built, build

if TYPE_CHECKING:
    from pathlib import Path

PAGE = """\
Page
====

See :autograd-node:`the weight <fig-loss:w>`, :autograd-node:`fig-loss:MulBackward0#2`,
:autograd-node:`a part <fig:parts-1:a>`,
:autograd-node:`no node <fig-loss:q>`
and :autograd-node:`no figure <fig-los:q>`.

.. autograd-graph:: loss
   :name: fig-loss

   import torch
   w = torch.ones(3, requires_grad=True)
   if w.sum() > 100:
       loss = w
   else:
       loss = (w * w * 2).sum()

.. autograd-graph:: a, b
   :name: fig:parts
   :separate:
   :hide: lines

   a, b = w * 3, w * 4
   if w.sum() > 100:
       a = b
"""

WITHOUT_BLOCKS = """\
Words alone
===========

:autograd-node:`the weight <fig-loss:w>`
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with roles right and wrong."""
    folder = tmp_path_factory.mktemp("roles") / "source"
    folder.mkdir()
    (folder / "conf.py").write_text('extensions = ["sphinx_graphviz_autograd"]\n', encoding="utf-8")
    (folder / "index.rst").write_text(PAGE, encoding="utf-8")
    (folder / "words.rst").write_text(":orphan:\n\n" + WITHOUT_BLOCKS, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def html(source: Path) -> Built:
    """It as HTML."""
    return build(source)


def test_words_lead_to_the_boxes_of_their_nodes(html: Built) -> None:
    """Each to its own, by the name of the figure and that of the node."""
    page = html.page("index.html")

    for words, box in (("the weight", ">w<"), ("MulBackward0", "MulBackward0"), ("a part", ">a<")):
        start, _, _ = page.partition(f"<span>{words}</span></a>")
        id_ = start.rpartition('href="#')[2].partition('"')[0]
        element = page[page.index(f'<g id="{id_}"') :].partition("</g>")[0]
        assert box in element


def test_wrong_targets_are_warned_of_where_they_stand(html: Built, source: Path) -> None:
    """With what there would be, in every build, and on pages without figures, too; the words stay as text."""
    expected = [
        (
            "index.rst:4: WARNING: role `autograd-node`: the figure `fig-loss` has no node `q`; "
            "it has `loss`, `w` [autograd_graph.target]"
        ),
        (
            "index.rst:4: WARNING: role `autograd-node`: there is no figure `fig-los` on this page; "
            "there are `fig-loss`, `fig:parts-1`, `fig:parts-2` [autograd_graph.target]"
        ),
        (
            "words.rst:6: WARNING: role `autograd-node`: there is no figure `fig-loss` on this page, "
            "nor any with a name [autograd_graph.target]"
        ),
    ]

    assert html.warnings == expected
    assert build(source).warnings == expected
    assert "<span>no node</span>" in html.page("index.html")
    assert "<span>the weight</span>" in html.page("words.html")


def test_words_are_plain_in_texts(source: Path, html: Built) -> None:
    """Without a mark or a target."""
    assert html.status == 0
    text = build(source, builder="text").page("index.txt")

    assert "See the weight, MulBackward0, a part, no node and no figure." in text.replace("\n", " ")


def test_lines_that_did_not_run_have_a_class_unless_lines_are_hidden(html: Built) -> None:
    """The branch not taken, in the block that shows lines."""
    page = html.page("index.html")

    assert page.count("autograd-graph-unrun") == 1
    line = page.partition('class="autograd-graph-unrun">')[2].partition("\n")[0]
    assert '<span class="n">w</span>' in line
