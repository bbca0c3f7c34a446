"""Our words in the reader's language: the option `language` of Sphinx, and the catalogues in `locale/`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from sphinx.locale import get_translation

from sphinx_graphviz_autograd.drawing import controls, node_table, style, text
from sphinx_graphviz_autograd.sphinxext.outcomes import NOT_RUN

if TYPE_CHECKING:
    from sphinx.application import Sphinx

CATALOGUE: Final = "sphinx_graphviz_autograd"
"""The name of the catalogues, as Sphinx knows them."""

FOLDER: Final = Path(__file__).parents[1] / "locale"
"""Where they are."""

FAILED: Final = "No graph, as the code failed."
REASON_BELOW: Final = "No graph, for the reason given below."
TITLE: Final = "Autograd graph of {expression}"
TITLE_ALONE: Final = "Autograd graph"
LINE: Final = "line {line}"
LINE_ABOVE: Final = "line {line} above"
ITERATION: Final = "iteration {iteration}"
CALL: Final = "call {call}"

say = get_translation(CATALOGUE)
"""Return a word or sentence of ours in the reader's language."""


def connect(app: Sphinx) -> None:
    """Let Sphinx load the catalogue of the site's language."""
    app.add_message_catalog(CATALOGUE, str(FOLDER))


def words() -> tuple[str, ...]:
    """Return all words and sentences that a catalogue translates, in English."""
    kinds = (*style.LOOKS, *style.LINES)
    own = (NOT_RUN, FAILED, REASON_BELOW, TITLE, TITLE_ALONE, LINE, LINE_ABOVE, ITERATION, CALL)
    legend = (part for kind in kinds for part in (kind.word, kind.sentence))
    return tuple(dict.fromkeys((*own, *legend, *text.PHRASES, *node_table.words(), *controls.words())))
