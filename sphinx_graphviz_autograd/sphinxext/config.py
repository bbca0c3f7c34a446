"""Every `autograd_graph_*` value of `conf.py`, each stated once: registration, checks and the reference page follow.

Rebuild scopes are empty for all that only changes results or figures: `build` compares what each page is made of
with what was last written, which holds for every builder, where Sphinx's scopes know HTML alone.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar, cast

from sphinx_graphviz_autograd.drawing.passes import DEFAULT_SHOW, SHOW
from sphinx_graphviz_autograd.drawing.style import PREFIX as CSS_PREFIX
from sphinx_graphviz_autograd.drawing.style import custom_properties
from sphinx_graphviz_autograd.sphinxext.locations import Position
from sphinx_graphviz_autograd.sphinxext.options import DIRECTIONS
from sphinx_graphviz_autograd.sphinxext.problems import Problem, Subtype, warn

if TYPE_CHECKING:
    from pathlib import Path

    from sphinx.application import Sphinx
    from sphinx.config import Config as SphinxConfig

T = TypeVar("T")

PREFIX: Final = "autograd_graph_"
"""Before the name of every value."""

Rebuild: TypeAlias = Literal["", "env"]
"""What Sphinx does when the value changes: nothing, or read all pages anew."""


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of a configuration value beside its name and default."""

    types: frozenset[type]
    """The types that Sphinx lets pass."""
    check: Callable[[object], object]
    """Value to value; raises `ValueError` with a sentence that follows the value."""
    values: str
    """What may be given, for the reference page."""
    meaning: str
    """What it does, for the reference page."""
    rebuild: Rebuild
    """What Sphinx does when it changes."""


def _any(value: object) -> object:
    return value


def _one_of(*values: str) -> Callable[[object], object]:
    def check(value: object) -> object:
        if value not in values:
            raise ValueError(f"is none of {', '.join(map(repr, values))}")
        return value

    return check


def _at_least(least: int) -> Callable[[object], object]:
    def check(value: object) -> object:
        if not isinstance(value, int | float) or value < least:
            raise ValueError(f"is less than {least}")
        return value

    return check


def _above(least: int) -> Callable[[object], object]:
    def check(value: object) -> object:
        if not (isinstance(value, int | float) and value > least):  # in these words, as NaN is not above either
            raise ValueError(f"is not more than {least}")
        return value

    return check


def _seed(value: object) -> object:
    """Return a number that PyTorch's generators take."""
    if not (isinstance(value, int) and -(2**63) <= value < 2**64):
        raise ValueError("does not fit into 64 bits")
    return value


def _show_words(value: object) -> object:
    """Return a tuple of words; with `-D` they come in one text, separated by spaces or commas."""
    listed = value.replace(",", " ").split() if isinstance(value, str) else cast("list[str]", value)
    found = tuple(word for item in listed for word in str(item).split())
    for word in found:
        if word not in SHOW:
            raise ValueError(f"has the word {word!r}, none of {', '.join(map(repr, sorted(SHOW)))}")
    return found


def _colors(value: object) -> object:
    """Return pairs of CSS custom property and colour, from a mapping or from texts `name=colour`."""
    if isinstance(value, Mapping):
        pairs = [(str(name), str(colour)) for name, colour in value.items()]
    else:
        parts = [str(item).partition("=") for item in cast("list[str]", value)]
        if not all(sign for _, sign, _ in parts):
            raise ValueError("is neither a mapping nor a list of texts such as 'leaf-fill=#ddeeff'")
        pairs = [(name.strip(), colour.strip()) for name, _, colour in parts]
    known = [name.removeprefix(f"--{CSS_PREFIX}") for name in custom_properties()]
    for name, _ in pairs:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise ValueError(f"has the name {name!r}; {hint}")
    return tuple(sorted(pairs))


def switch(*, default: bool, meaning: str, rebuild: Rebuild = "") -> bool:
    """Return a field of `Config` that is true or false."""
    return value(default, (bool,), "`True`, `False`", meaning, rebuild=rebuild)


def value(  # noqa: PLR0913, PLR0917 - one argument a column of the table
    default: T,
    types: tuple[type, ...],
    values: str,
    meaning: str,
    check: Callable[[object], object] = _any,
    rebuild: Rebuild = "",
) -> T:
    """Return a field of `Config`; its type is that of the default, as for `dataclasses.field`."""
    metadata = {"value": Value(frozenset(types), check, values, meaning, rebuild)}
    return dataclasses.field(default=default, metadata=metadata)


_WORDS: Final = "list of words as in the option of this name"


@dataclass(frozen=True, slots=True)
class Config:
    """The values of `conf.py`, checked."""

    execute: str = value(
        "auto",
        (str,),
        "`auto`, `always`, `never`",
        "Runs what has no fitting stored result; runs everything; or runs nothing and uses what is stored.",
        _one_of("auto", "always", "never"),
    )
    store: str = value(
        "",
        (str,),
        "a folder, relative to `conf.py`",
        "Where results are kept. Such a folder can be committed; if empty, they are kept under the doctrees.",
    )
    timeout: int = value(
        60, (int, float), "seconds", "How long the code of one session of a document may run.", _above(0)
    )
    jobs: int = value(0, (int,), "a number", "How many sessions run at a time; 0: as many as cores.", _at_least(0))
    cuda: bool = switch(default=False, meaning="Whether the code sees CUDA devices.")
    seed: int = value(0, (int,), "a number", "What the random generators are seeded with in each session.", _seed)
    prelude: str = value("", (str,), "Python code", "Runs at the start of each session.")
    show: tuple[str, ...] = value((), (list, tuple, str), _WORDS, "Shows more than is usual.", _show_words)
    hide: tuple[str, ...] = value((), (list, tuple, str), _WORDS, "Shows less than is usual.", _show_words)
    hide_code: bool = switch(
        default=False, meaning="Does not show code, where the option does not say it.", rebuild="env"
    )
    direction: str = value(
        "auto",
        (str,),
        "`auto`, `TB`, `BT`, `LR`, `RL`",
        "Where the arrows of figures go.",
        _one_of(*DIRECTIONS),
    )
    max_nodes: int = value(200, (int,), "a number", "How many boxes a figure may have.", _at_least(1))
    legend: bool = switch(default=True, meaning="Whether figures have a legend.")
    labels: str = value(
        "backward",
        (str,),
        "`backward`, `forward`",
        "Whether functions are named `MulBackward0` or `mul`.",
        _one_of("backward", "forward"),
    )
    dot: str = value(
        "auto",
        (str,),
        "`auto`, `graphviz-pure`, `dot`",
        "Which program lays figures out; `auto` takes the first of the two that is installed.",
        _one_of("auto", "graphviz-pure", "dot"),
    )
    layout_timeout: int = value(20, (int, float), "seconds", "How long one layout may take.", _above(0))
    html_format: str = value(
        "inline",
        (str,),
        "`inline`, `img`",
        "Whether HTML pages hold the picture itself, or refer to a file.",
        _one_of("inline", "img"),
    )
    on_error: str = value(
        "warn",
        (str,),
        "`warn`, `raise`",
        "Whether a failing block is a warning, or ends the build.",
        _one_of("warn", "raise"),
    )
    colors: tuple[tuple[str, str], ...] = value(
        (),
        (dict, list, tuple),
        "mapping, or list of `name=colour`",
        "Colours instead of ours, by the names of the CSS custom properties without `--autograd-graph-`.",
        _colors,
    )

    @property
    def shown(self) -> frozenset[str]:
        """What figures show where the options do not say it."""
        return (DEFAULT_SHOW | set(self.show)) - set(self.hide)

    @property
    def looks(self) -> tuple[object, ...]:
        """What figures depend on beside their graphs and options."""
        return (sorted(self.shown), self.direction, self.max_nodes, self.legend, self.labels, self.html_format)


def table() -> dict[str, Value]:
    """Return the values by their names in `conf.py`."""
    return {PREFIX + field.name: cast("Value", field.metadata["value"]) for field in dataclasses.fields(Config)}


def defaults() -> dict[str, object]:
    """Return the defaults by their names in `conf.py`; lists instead of tuples, which `-D` knows how to set."""
    return {
        PREFIX + field.name: [] if field.default == () else cast("object", field.default)
        for field in dataclasses.fields(Config)
    }


def register(app: Sphinx) -> None:
    """Tell Sphinx of all values."""
    for name, known in table().items():
        app.add_config_value(name, defaults()[name], known.rebuild, known.types, known.meaning)


def read(config: SphinxConfig) -> tuple[Config, dict[str, str]]:
    """Return the checked values, and by name what is wrong with those that had to be replaced by their defaults.

    A value of a wrong type is replaced as well; Sphinx itself warns of it.
    """
    values: dict[str, object] = {}
    wrong: dict[str, str] = {}
    for name, known in table().items():
        given = cast("object", getattr(config, name))
        if type(given) not in known.types:
            continue
        try:
            values[name.removeprefix(PREFIX)] = known.check(given)
        except ValueError as error:
            wrong[name] = f"`{name}`: {given!r} {error}"
    make: type = Config
    return cast("Config", make(**values)), wrong


def checked(config: SphinxConfig) -> Config:
    """Return the values of `conf.py`, with defaults in place of wrong ones."""
    return read(config)[0]


def warn_of_wrong_values(folder: Path, config: SphinxConfig) -> None:
    """Issue a warning for each value that cannot be used, at its line of `conf.py` if it is set there."""
    path = folder / "conf.py"
    rows = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    for name, message in read(config)[1].items():
        line = next((at for at, row in enumerate(rows, 1) if row.startswith(name)), 1)
        warn(Problem(Subtype.OPTION, message, Position("conf.py", line)), folder)
