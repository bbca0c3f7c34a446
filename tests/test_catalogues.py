"""Translations: complete, compiled, and what readers of other languages get."""

from __future__ import annotations

import re
import shutil
from gettext import GNUTranslations
from pathlib import Path

import pytest

from sphinx_graphviz_autograd.sphinxext.translation import CATALOGUE, FOLDER, words
from tests.catalogues import LANGUAGES, compiled, text, translated
from tests.sphinxext.sites import build

FIGURES = Path(__file__).parent / "browser" / "roots" / "figures"


def test_template_has_all_words() -> None:
    """And nothing else."""
    assert (FOLDER / f"{CATALOGUE}.pot").read_text(encoding="utf-8") == text("", {})


@pytest.mark.parametrize("language", LANGUAGES)
def test_catalogue_is_complete_and_compiled(language: str) -> None:
    """Every word has a translation with the same places to fill, and Sphinx gets what stands in the text."""
    path = FOLDER / language / "LC_MESSAGES" / f"{CATALOGUE}.po"
    translations = translated(language)

    assert [word for word in words() if not translations.get(word)] == []
    for word, translation in translations.items():
        assert sorted(re.findall(r"\{\w*\}", word)) == sorted(re.findall(r"\{\w*\}", translation))
    po = path.read_text(encoding="utf-8")
    assert po == text(language, translations)
    with path.with_suffix(".mo").open("rb") as file:
        assert path.with_suffix(".mo").read_bytes() == compiled(translations)
        assert GNUTranslations(file).gettext("leaf tensor") == translations["leaf tensor"]


def test_page_of_another_language_has_its_words(tmp_path: Path) -> None:
    """In legend, table, controls and boxes."""
    source = tmp_path / "source"
    shutil.copytree(FIGURES, source)

    german = build(source, "-D", "language=de").page("index.html")
    japanese = build(source, "-D", "language=ja").page("index.html")

    for word in (
        ">Blatt-Tensor<",
        ">Erzeugt in<",
        'title="Rückwärtslauf abspielen"',
        ">Zeile 5<",
        "3 Funktionen und 2",
    ):
        assert word in german
    for word in (">葉テンソル<", ">作られた場所<", 'title="逆伝播を再生"', ">5 行目<", "loss の autograd グラフ"):
        assert word in japanese
    assert ">leaf tensor<" not in german + japanese


def test_words_of_the_author_are_translated_with_the_page(tmp_path: Path) -> None:
    """Captions and the words for the picture come from the author's own catalogue, as those of any image."""
    source = tmp_path / "source"
    catalogue = source / "locales" / "de" / "LC_MESSAGES" / "index.po"
    catalogue.parent.mkdir(parents=True)
    (source / "conf.py").write_text('extensions = ["sphinx_graphviz_autograd"]\n', encoding="utf-8")
    page = (
        "Page\n====\n\n.. autograd-graph:: y\n   :caption: What was done\n   :alt: A square\n\n"
        "   import torch\n   x = torch.ones(2, requires_grad=True)\n   y = x ** 2\n"
    )
    (source / "index.rst").write_text(page, encoding="utf-8")
    translations = {"": "Content-Type: text/plain; charset=UTF-8\\n", "What was done": "Was geschah"}
    for word in ("Ein Quadrat", "Das Quadrat"):
        pairs = [*translations.items(), ("A square", word)]
        text_ = "".join(f'msgid "{one}"\nmsgstr "{other}"\n\n' for one, other in pairs)
        catalogue.write_text(text_, encoding="utf-8")

        built = build(source, "-W", "-D", "language=de")

        assert not built.errors
        assert "Was geschah" in built.page("index.html")
        assert f">{word}</desc>" in built.page("index.html")
        assert "A square" not in built.page("index.html")
    template = build(source, builder="gettext").out / "index.pot"
    assert 'index.rst:6\nmsgid "A square"' in template.read_text(encoding="utf-8")
