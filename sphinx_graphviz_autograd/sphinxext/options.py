"""The options of the directives, each stated once: from this table come parsing, messages and the reference page."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, TypeVar, cast

from docutils.parsers.rst import directives

from sphinx_graphviz_autograd.drawing.passes import SHOW

T = TypeVar("T")

Part: TypeAlias = Literal["run", "code", "figure", "content", "view"]
"""What an option is about: running, the shown code, the figure as Sphinx knows it, what it shows, and how."""

EXEC_PARTS: Final[frozenset[Part]] = frozenset({"run", "code"})
"""What the options of `autograd-exec` are about."""

_YES: Final = "`yes`, `no`"
_LIST: Final = "words, separated by spaces or commas"

DIRECTIONS: Final = ("auto", "TB", "BT", "LR", "RL")
"""Where the arrows of a figure go: what Graphviz calls `rankdir`, or chosen by the graph's form."""


@dataclass(frozen=True, slots=True)
class Option:
    """What is known of an option beside its name and default."""

    part: Part
    """What it is about."""
    convert: Callable[[str], object]
    """Text to value; raises `ValueError` with a sentence that follows the text."""
    values: str
    """What may be written, for the reference page."""
    meaning: str
    """What it does, for the reference page."""


def text(value: str) -> str:
    """Return the text as it is."""
    return value


def needed(value: str) -> str:
    """Return the text, which must not be empty."""
    if not value:
        raise ValueError("needs a value")
    return value


def switch(value: str) -> bool:
    """Return whether an option is on: it is if it is merely there."""
    word = value.lower()
    if word in {"", "yes", "true", "on", "1"}:
        return True
    if word in {"no", "false", "off", "0"}:
        return False
    raise ValueError("is neither `yes` nor `no`")


def number(value: str) -> int:
    """Return a number that is not negative."""
    if not value.isdecimal():
        raise ValueError("is not a number, 0 or more")
    return int(value)


def line_ranges(value: str) -> str:
    """Return the text if it lists lines as `1,3-5`."""
    if not re.fullmatch(r"\s*\d{1,9}\s*(-\s*\d{0,9}\s*)?(,\s*\d{1,9}\s*(-\s*\d{0,9}\s*)?)*", value):
        raise ValueError("is no list of lines such as `1,3-5`")
    return value


def words(value: str) -> tuple[str, ...]:
    """Return the words of a list that is separated by spaces or commas; a list of YAML may be in brackets."""
    inner = re.fullmatch(r"\s*\[(.*)\]\s*", value, re.DOTALL)
    return tuple((inner[1] if inner else value).replace(",", " ").split())


def show_words(value: str) -> tuple[str, ...]:
    """Return the words of a list of what a figure can show."""
    found = words(value)
    for word in found:
        if word not in SHOW:
            raise ValueError(f"has the word `{word}`, none of {listed(sorted(SHOW))}{_near(word, SHOW)}")
    return found


def choice(*values: str) -> Callable[[str], str]:
    """Return a converter that takes one of some words."""

    def convert(value: str) -> str:
        if value not in values:
            raise ValueError(f"is none of {listed(values)}{_near(value, values)}")
        return value

    return convert


def length(value: str) -> str:
    """Return a length as docutils understands it."""
    try:
        return directives.length_or_percentage_or_unitless(value)
    except ValueError:
        raise ValueError("is no length such as `60%` or `30em`") from None


def class_names(value: str) -> tuple[str, ...]:
    """Return class names as docutils makes them."""
    try:
        return tuple(directives.class_option(value))
    except ValueError:
        raise ValueError("makes no class name") from None


def option(default: T, part: Part, convert: Callable[[str], object], values: str, meaning: str) -> T:
    """Return a field of `Options`; its type is that of the default, as for `dataclasses.field`."""
    return dataclasses.field(default=default, metadata={"option": Option(part, convert, values, meaning)})


def flag(part: Part, meaning: str) -> bool:
    """Return a field of `Options` that is off if it is not there."""
    return option(default=False, part=part, convert=switch, values=_YES, meaning=meaning)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one directive, or their defaults; what each does is in its `Option`."""

    session: str = option("", "run", text, "a name", "The namespace in which the code runs.")
    file: str = option(
        "", "run", needed, "a path", "Takes the code from a file, which may be relative to the document."
    )
    skip: bool = flag("run", "Shows the code and does not run it.")
    raises: str | None = option(
        None, "run", text, "a class, or nothing", "Expects an exception of this class, or any, and shows its last line."
    )
    hide_code: bool | None = option(None, "code", switch, _YES, "Runs the code and does not show it.")
    code_below: bool = flag("code", "Shows the code under the figure.")
    code_caption: str = option("", "code", text, "text", "The caption of the shown code.")
    linenos: bool = flag("code", "Numbers the lines of the shown code.")
    lineno_start: int | None = option(None, "code", number, "a number", "The number of the first line.")
    emphasize_lines: str = option("", "code", line_ranges, "lines as `1,3-5`", "Emphasizes lines of the shown code.")
    hide_output: bool = flag("code", "Does not show what the code prints.")
    caption: str = option("", "figure", text, "text", "The caption of the figure, which gives it a number.")
    name: str = option("", "figure", text, "a name", "The target for references to the figure.")
    alt: str = option("", "figure", text, "text", "Says in words what the picture shows, instead of our own sentence.")
    align: str = option(
        "",
        "figure",
        choice("left", "center", "right", "default"),
        "`left`, `center`, `right`",
        "Where the figure stands.",
    )
    width: str = option("", "figure", length, "a length", "The width of the picture.")
    classes: tuple[str, ...] = option((), "figure", class_names, "class names", "Classes of the picture.")
    figclass: tuple[str, ...] = option((), "figure", class_names, "class names", "Classes of the figure.")
    figwidth: str = option("", "figure", length, "a length", "The width of the figure.")
    show: tuple[str, ...] = option((), "content", show_words, _LIST, "Shows more than is usual.")
    hide: tuple[str, ...] = option((), "content", show_words, _LIST, "Shows less than is usual.")
    legend: bool | None = option(None, "content", switch, _YES, "Whether the figure has a legend.")
    labels: str = option(
        "",
        "content",
        choice("backward", "forward"),
        "`backward`, `forward`",
        "Names functions `MulBackward0` or `mul`.",
    )
    expect: tuple[str, ...] = option(
        (), "content", words, _LIST, "Leaves that must be in the graph; `!name` for one that must not."
    )
    direction: str = option(
        "", "view", choice(*DIRECTIONS), "`auto`, `TB`, `BT`, `LR`, `RL`", "Where the arrows of the figure go."
    )
    view: str = option("", "view", choice("full", "names"), "`full`, `names`", "Draws all, or only what has a name.")
    depth: int | None = option(None, "view", number, "a number", "Draws modules below this depth as one box each.")
    expand: tuple[str, ...] = option((), "view", words, _LIST, "Modules to draw whole in spite of `depth`.")
    fold: str = option("", "view", choice("auto", "off"), "`auto`, `off`", "Whether repetitions are folded.")
    split: str = option(
        "",
        "view",
        choice("auto", "merge", "split"),
        "`auto`, `merge`, `split`",
        "Whether a leaf is drawn once for each of its uses.",
    )
    max_nodes: int | None = option(None, "view", number, "a number", "How many boxes may be drawn.")
    separate: bool = flag("view", "Draws one figure for each variable.")


@dataclass(frozen=True, slots=True)
class WrongOption:
    """An option that cannot be used; the directive does without it."""

    name: str
    """Its name as written."""
    message: str
    """Why."""


def table() -> dict[str, tuple[str, Option]]:
    """Return the options by the names that authors write, each with the name of its field."""
    return {
        _written(field.name): (field.name, cast("Option", field.metadata["option"]))
        for field in dataclasses.fields(Options)
    }


def parse(written: Mapping[str, str | None], parts: frozenset[Part] | None = None) -> tuple[Options, list[WrongOption]]:
    """Return the options that an author wrote, as far as they are right, and those that are not.

    `parts` narrows what is allowed, for a directive that knows only these.
    """
    allowed = {name: row for name, row in table().items() if parts is None or row[1].part in parts}
    values: dict[str, object] = {}
    wrong = []
    for name, value in written.items():
        if name not in allowed:
            hint = _near(name, allowed) or f"; there are {listed(allowed)}"
            wrong.append(WrongOption(name, f"unknown option `{name}`{hint}"))
            continue
        field, kind = allowed[name]
        try:
            values[field] = kind.convert((value or "").strip())
        except ValueError as error:
            wrong.append(WrongOption(name, f"option `{name}`: `{value or ''}` {error}"))
    make: type = Options
    return cast("Options", make(**values)), wrong


class AnyOption(dict[str, Callable[[str | None], str]]):
    """An `option_spec` that takes any option as text, so that wrong ones are met by `parse` and not by the parser.

    A parser that meets a wrong one drops the whole directive in reStructuredText, and warns only when the page is read.
    """

    def __bool__(self) -> bool:
        """Say that there are options: the parsers look for none if the specification is empty."""
        return True

    def __missing__(self, name: str) -> Callable[[str | None], str]:
        """Return the converter of an option."""
        return _as_text


def _as_text(value: str | None) -> str:
    return value or ""


def _written(field: str) -> str:
    return "class" if field == "classes" else field.replace("_", "-")


def listed(names: Iterable[str]) -> str:
    """Return what may be written, for a message."""
    return ", ".join(f"`{name}`" for name in names)


def _near(word: str, allowed: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, allowed, 1)
    return f"; did you mean `{near[0]}`?" if near else ""
