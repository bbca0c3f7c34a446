"""What the author's code says before it runs: its statements, their lines, and what each of them assigns."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Step: TypeAlias = "tuple[str, str | int]"
"""How a target goes on from its variable: `("attribute", name)`, `("item", key)` or `("variable", name of the key)`."""

Syntax: TypeAlias = ast.stmt | ast.ExceptHandler | ast.match_case
"""A statement, or the header of a part of one."""

_LOOPS = (ast.For, ast.AsyncFor, ast.While)

_CUTTING_METHODS = frozenset({"detach", "detach_", "item", "numpy", "tolist"})


@dataclass(frozen=True, slots=True)
class Target:
    """Something that a statement assigns, as `loss`, `self.h` or `params["w"]`."""

    variable: str
    """The variable that the target begins with."""
    steps: tuple[Step, ...] = ()
    """Attributes and items after the variable; empty for a plain variable."""
    passing: bool = False
    """Whether it is a loop variable, which is a poor name for what it held last."""
    partly: bool = False
    """Whether only a part of the variable was assigned to, which changes it if it is a tensor."""


@dataclass(slots=True, eq=False)
class Statement:
    """A statement of a block, or the header of one that has a body. Counts how often it ran."""

    block: int
    """Number of the block in its session."""
    index: int
    """Its number among all statements of the session."""
    line: int
    """Its first line in the block, from 1."""
    last: int
    """Its last line, its body included."""
    targets: list[Target] = field(default_factory=list)
    """What it assigns, in order."""
    repeats_on_line: bool = False
    """Whether it is a loop whose body stands on the same line, so that each event of the line is one more run."""
    definition: int = 0
    """The line of `def` or `class`, which decorators stand before; else its first line."""
    in_loop: bool = False
    """Whether it is a loop or stands in one, in its own function."""
    is_with: bool = False
    """Whether it is a `with`, whose line is reached once more when its body is left."""
    nodes: list[Syntax] = field(default_factory=list)
    """Its syntax; more than one for statements that share a line."""
    times: int = 0
    """How often it was reached."""


class Block:
    """The statements of one block of the author's code, by line."""

    def __init__(self, number: int, source: str, first_index: int) -> None:
        """Read the block, and number its statements from `first_index`.

        Raises:
            SyntaxError: the source does not compile.
        """
        self.number = number
        self.statements: list[Statement] = []
        self._first_index = first_index
        self.by_line: dict[int, Statement] = {}
        for node, in_loop in _statements(ast.parse(source).body):
            self._add(node, in_loop=in_loop)

    def around(self, line: int) -> list[Statement]:
        """Return the statements that a line is inside of, the innermost first."""
        return [statement for statement in reversed(self.statements) if statement.line < line <= statement.last]

    def _add(self, node: Syntax, *, in_loop: bool) -> None:
        first, last, end = _extent(node)
        statement = self.by_line.get(first)
        if statement is None:
            index = self._first_index + len(self.statements)
            statement = Statement(self.number, index, first, last, definition=getattr(node, "lineno", first))
            self.statements.append(statement)
        for line in range(first, end + 1):
            self.by_line.setdefault(line, statement)
        statement.targets.extend(_targets(node))
        statement.repeats_on_line |= isinstance(node, _LOOPS) and end == last
        statement.in_loop |= in_loop or isinstance(node, _LOOPS)
        statement.is_with |= isinstance(node, ast.With | ast.AsyncWith)
        statement.nodes.append(node)


def _statements(body: Iterable[ast.stmt], *, in_loop: bool = False) -> Iterator[tuple[Syntax, bool]]:
    """Yield the statements that leave a trace when they run, outer ones before what is in them.

    With each comes whether it stands in a loop; what is in a function does not run in the loop that the function is in.
    """
    for node in body:
        if _leaves_no_trace(node):
            continue
        yield node, in_loop
        for name in ("body", "handlers", "cases", "orelse", "finalbody"):
            inside = _in_loop(node, name, in_loop=in_loop)
            for child in getattr(node, name, ()):
                if isinstance(child, ast.ExceptHandler | ast.match_case):
                    yield child, inside
                    yield from _statements(child.body, in_loop=inside)
                else:
                    yield from _statements([child], in_loop=inside)


def _in_loop(node: ast.stmt, part: str, *, in_loop: bool) -> bool:
    """Whether a part of a statement runs in a loop; its `else` runs after it."""
    if isinstance(node, _LOOPS):
        return part == "body" or in_loop
    return in_loop and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _leaves_no_trace(node: ast.stmt) -> bool:
    """Whether the compiler leaves the statement out, as a docstring or `global`."""
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_constant or isinstance(node, ast.Global | ast.Nonlocal)


def _extent(node: Syntax) -> tuple[int, int, int]:
    """Return the first line, the last line, and the last line before the body."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    if isinstance(node, ast.match_case):
        first, last = node.pattern.lineno, node.body[-1].end_lineno or node.pattern.lineno
    else:
        first, last = node.lineno, node.end_lineno or node.lineno
    if isinstance(node, ast.Match):
        return first, last, max(node.cases[0].pattern.lineno - 1, first)
    body: list[ast.stmt] = getattr(node, "body", [])
    if not body:
        return first, last, last
    start = min((decorator.lineno for decorator in decorators), default=first)
    body_start = min([body[0].lineno, *(item.lineno for item in getattr(body[0], "decorator_list", []))])
    return start, last, max(body_start - 1, first)


def _targets(node: Syntax) -> Iterator[Target]:
    passing = isinstance(node, ast.For | ast.AsyncFor)
    for target in _assigned(node):
        yield from _unpack(target, passing=passing)
    for part in own_expressions(node):
        for expression in ast.walk(part):
            if isinstance(expression, ast.NamedExpr):
                yield Target(expression.target.id)


def _assigned(node: Syntax) -> list[ast.expr]:
    """Return what a statement gives a value to; a method such as `add_` gives its tensor another."""
    match node:
        case ast.Assign(targets=targets):
            return targets
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return [target]
        case ast.For(target=target) | ast.AsyncFor(target=target):
            return [target]
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return [item.optional_vars for item in items if item.optional_vars is not None]
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=receiver, attr=name))) if _is_in_place(name):
            return [receiver]
        case _:
            return []


def own_expressions(node: Syntax) -> Iterator[ast.expr]:
    """Yield the expressions of a statement itself, not those of its body."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.withitem):
            yield child.context_expr


def _unpack(target: ast.expr, *, passing: bool = False) -> Iterator[Target]:
    """Yield what an assignment to `target` gives a value to; for `b[0]` that is `b`, too, as it may be a view of it."""
    if isinstance(target, ast.Tuple | ast.List):
        for item in target.elts:
            yield from _unpack(item, passing=passing)
        return
    if isinstance(target, ast.Starred):
        yield from _unpack(target.value, passing=passing)
        return
    steps: list[Step] = []
    inner = target
    while not isinstance(inner, ast.Name):
        match inner:
            case ast.Attribute(attr=name):
                steps.append(("attribute", name))
            case ast.Subscript(slice=ast.Constant(value=str() | int() as key)):
                steps.append(("item", key))
            case ast.Subscript(slice=ast.Name(id=name)):
                steps.append(("variable", name))
            case ast.Subscript():
                steps.clear()
            case _:
                return
        inner = inner.value
    if steps:
        yield Target(inner.id, tuple(reversed(steps)), passing=passing)
    yield Target(inner.id, passing=passing, partly=inner is not target)


def _is_in_place(method: str) -> bool:
    return method.endswith("_") and not method.endswith("__")


def operations_in_place(statement: Statement) -> list[str]:
    """Return the operations that a statement does in place in order, under PyTorch's names: `mul` for `b.mul_(2)`.

    `b[0] *= 2` is two: Python multiplies `b[0]` in place, and then assigns it to `b[0]`. Of a statement in which
    several things write, nothing is told, as their order is not plain to see.
    """
    found: list[list[str]] = []
    for node in statement.nodes:
        if isinstance(node, ast.AugAssign):
            again = ["copy"] if isinstance(node.target, ast.Subscript) else []
            found.append([_OPERATORS[type(node.op)], *again])
        if isinstance(node, ast.Assign):
            found.extend(["copy"] for target in node.targets if isinstance(target, ast.Subscript))
        for part in own_expressions(node):
            for expression in ast.walk(part):
                match expression:
                    case ast.Call(func=ast.Attribute(attr=name)) if _is_in_place(name):
                        found.append([name.removesuffix("_")])
                    case _:
                        pass
    return found[0] if len(found) == 1 else []


def cut_in(node: ast.AST) -> tuple[str, str]:
    """Return the first call in the code that cuts a graph, as it is written, and the variable it begins with."""
    for part in ast.walk(node):
        match part:
            case ast.Call(func=ast.Attribute(value=receiver, attr=name)) if name in _CUTTING_METHODS:
                return ast.unparse(part), _variable(receiver)
            case ast.Attribute(value=receiver, attr="data", ctx=ast.Load()):
                return ast.unparse(part), _variable(receiver)
            case _:
                pass
    return "", ""


def _variable(expression: ast.AST) -> str:
    while isinstance(expression, ast.Attribute | ast.Subscript):
        expression = expression.value
    return expression.id if isinstance(expression, ast.Name) else ""


def operands(node: ast.AST) -> set[str]:
    """Return the variables that operations and calls in the code work on, or that are called."""
    found: set[str] = set()
    for part in ast.walk(node):
        match part:
            case ast.Call(func=function, args=arguments, keywords=keywords):
                receiver = function.value if isinstance(function, ast.Attribute) else function
                values = [receiver, *arguments, *(keyword.value for keyword in keywords)]
            case ast.BinOp(left=left, right=right):
                values = [left, right]
            case ast.UnaryOp(operand=operand):
                values = [operand]
            case _:
                continue
        found.update(value.id for value in values if isinstance(value, ast.Name))
    return found


def mentions(node: ast.AST, names: frozenset[str]) -> bool:
    """Whether one of the names occurs in the code, as a variable or an attribute."""
    return any(
        (isinstance(part, ast.Name) and part.id in names) or (isinstance(part, ast.Attribute) and part.attr in names)
        for part in ast.walk(node)
    )


_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "bitwise_left_shift",
    ast.RShift: "bitwise_right_shift",
}
