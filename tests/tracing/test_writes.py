"""Writes into views: the operation that wrote is told where it is known, and never guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.tracing.running import ALL, PLAIN, functions, run

if TYPE_CHECKING:
    from sphinx_graphviz_autograd.model import CaptureOptions


def inside(code: str, options: CaptureOptions) -> list[str]:
    """Return the operations that the writes of a block did, the last first."""
    ran = run(f"b = leaf(4, 4) * 1\n{code}\ny = b.sum()", options=options)
    return [fn.inside for fn in functions(ran.graph) if fn.speciality == "in-place"]


@pytest.mark.parametrize("options", [PLAIN, ALL])
@pytest.mark.parametrize(
    ("code", "operation"),
    [
        ("b[0].mul_(2)", "mul"),
        ("b[0] *= 2", "mul"),
        ("t = b[0]\nt *= 2", "mul"),
        ("b[0] = 3.0", "copy"),
        ("b[0].view(2, 2)[1].add_(1)", "add"),
        ("b.t()[0].sigmoid_()", "sigmoid"),
    ],
)
def test_write_tells_its_operation(code: str, operation: str, options: CaptureOptions) -> None:
    """A method, an operator and an item assignment are told by their operation."""
    assert inside(code, options)[-1] == operation


def test_several_writes_in_one_statement() -> None:
    """Two writes on one line are told apart if calls were looked at; else neither is guessed, as any could be which."""
    code = "b[0].mul_(2), b[1].add_(1)"

    assert inside(code, ALL) == ["add", "mul"]
    assert set(inside(code, PLAIN)) <= {"", "add", "mul"}
    assert inside(code, PLAIN) in (["", ""], ["add", "mul"])  # from 2.14 on, PyTorch tells


def test_write_in_a_function_stands_on_its_line() -> None:
    """A write that a function of the block does is told by that function's statement."""
    assert inside("def double(t):\n    t.mul_(2)\ndouble(b[0])", PLAIN) == ["mul"]


def test_writes_of_a_loop_are_told_apart() -> None:
    """Each time round a loop is a write of its own."""
    assert inside("for i in range(3):\n    b[i].add_(i)", PLAIN) == ["add"] * 3
