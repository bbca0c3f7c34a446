"""Sessions as data: the argument of a directive, code keys, and lines of documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sphinx_graphviz_autograd.execution.session import (
    ExpressionError,
    Session,
    Snippet,
    block_keys,
    localise,
    parse_expressions,
)
from sphinx_graphviz_autograd.model import CaptureOptions

if TYPE_CHECKING:
    from collections.abc import Callable

SESSION = Session(
    "page", "", "/home/somebody/docs", "/home/somebody/docs", (Snippet("x = 1"), Snippet("y = x", ("y",)))
)


@pytest.mark.parametrize(
    ("argument", "expressions"),
    [
        ("", ()),
        ("yhat", ("yhat",)),
        ("yhat, loss,", ("yhat", "loss")),
        ('out["a, b"], f(x, y)[0], model.weight.grad', ('out["a, b"]', "f(x, y)[0]", "model.weight.grad")),
        ("yhat,\n  loss", ("yhat", "loss")),
        ("損失, b", ("損失", "b")),
        ("(a, b), [c for c in d]", ("(a, b)", "[c for c in d]")),
    ],
)
def test_commas_separate_expressions(argument: str, expressions: tuple[str, ...]) -> None:
    """The argument is divided at the commas between expressions, and they are kept as written."""
    assert parse_expressions(argument) == expressions


@pytest.mark.parametrize(
    ("argument", "problem"),
    [
        ("1x", "invalid decimal literal"),
        ("a, *b", "`*` has no meaning here"),
        ("a=1", "`=` has no meaning here"),
        ("a), f(b", "unbalanced parentheses"),
        ("a)(b", "unbalanced parentheses"),
    ],
)
def test_what_is_no_expression_is_refused(argument: str, problem: str) -> None:
    """An argument that is not a list of expressions is an error that quotes it and says why."""
    with pytest.raises(ExpressionError) as raised:
        parse_expressions(argument)

    assert raised.value.problem == problem
    assert str(raised.value) == f"`{argument}` is not a list of Python expressions separated by commas: {problem}"


def test_keys_do_not_depend_on_where_the_project_lies() -> None:
    """The same blocks have the same keys in any folder, session or document."""
    elsewhere = replace(SESSION, docname="other", name="other", folder="/x", root="/x")

    assert block_keys(elsewhere) == block_keys(SESSION)
    assert len(set(block_keys(SESSION))) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda session: replace(session, prelude="import torch"),
        lambda session: replace(session, seed=1),
        lambda session: replace(session, cuda=True),
        lambda session: replace(session, snippets=(Snippet("x = 2"), session.snippets[1])),
        lambda session: replace(session, snippets=(Snippet("x = 1", skip=True), session.snippets[1])),
    ],
)
def test_a_change_changes_the_keys_from_there_on(change: Callable[[Session], Session]) -> None:
    """A change in a block, or in what all blocks start from, changes its key and those of all later blocks."""
    assert set(block_keys(change(SESSION))).isdisjoint(block_keys(SESSION))


@pytest.mark.parametrize(
    "changed",
    [
        Snippet("y = x", ("x",)),
        Snippet("y = x", ("y",), draw=True),
        Snippet("y = x", ("y",), separate=True),
        Snippet("y = x", ("y",), raises=""),
        Snippet("y = x", ("y",), capture=CaptureOptions(data=True)),
    ],
)
def test_a_later_block_leaves_earlier_keys_alone(changed: Snippet) -> None:
    """What a block draws is part of its own key, and not of those before it."""
    before, after = block_keys(SESSION), block_keys(replace(SESSION, snippets=(SESSION.snippets[0], changed)))

    assert after[0] == before[0]
    assert after[1] != before[1]


def test_the_text_of_a_skipped_block_is_in_no_key() -> None:
    """A block that is not run changes no result, whatever is in it."""
    one, other = (replace(SESSION, snippets=(Snippet(code, skip=True), Snippet("y"))) for code in ("a", "b"))

    assert block_keys(one) == block_keys(other)


def test_lines_of_blocks_become_lines_of_documents() -> None:
    """Wherever a traceback names a block and a line, the document and its line take their place."""
    text = '  File "<autograd-graph 2>", line 3, in <module>\nSyntaxError: bad (<autograd-graph 0>, line 1)\n'

    assert localise(text, lambda block, line: ("page.rst", 10 * block + line)) == (
        '  File "page.rst", line 23, in <module>\nSyntaxError: bad ("page.rst", line 1)\n'
    )
