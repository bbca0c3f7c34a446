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
