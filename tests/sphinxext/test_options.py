"""The options of the directives and the values of `conf.py`: what is taken, and what is said of the rest."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
from sphinx.config import Config as SphinxConfig

from sphinx_graphviz_autograd.sphinxext import config, options
from sphinx_graphviz_autograd.sphinxext.options import Options
from sphinx_graphviz_autograd.sphinxext.results import is_installed


@pytest.mark.parametrize(
    ("written", "field", "value"),
    [
        ({"hide-code": ""}, "hide_code", True),
        ({"hide-code": "no"}, "hide_code", False),
        ({"linenos": None}, "linenos", True),
        ({"lineno-start": "10"}, "lineno_start", 10),
        ({"emphasize-lines": "1, 3-5,7-"}, "emphasize_lines", "1, 3-5,7-"),
        ({"raises": None}, "raises", ""),
        ({"class": "One Two"}, "classes", ("one", "two")),
        ({"show": "shapes, saved data"}, "show", ("shapes", "saved", "data")),
        ({"show": "[shapes, lines]"}, "show", ("shapes", "lines")),
        ({"width": "60%"}, "width", "60%"),
        ({"direction": "LR"}, "direction", "LR"),
        ({"max-nodes": "7"}, "max_nodes", 7),
        ({"expect": "w !b"}, "expect", ("w", "!b")),
    ],
)
def test_options_that_are_taken(written: dict[str, str | None], field: str, value: object) -> None:
    """Each option becomes a value of its own type; everything else keeps its default."""
    parsed, wrong = options.parse(written)

    assert wrong == []
    assert getattr(parsed, field) == value
    assert [name for name in Options.__slots__ if getattr(parsed, name) != getattr(Options(), name)] == [field]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("captoin", "x", "unknown option `captoin`; did you mean `caption`?"),
        ("hide-code", "perhaps", "option `hide-code`: `perhaps` is neither `yes` nor `no`"),
        ("lineno-start", "-1", "option `lineno-start`: `-1` is not a number, 0 or more"),
        ("emphasize-lines", "a", "option `emphasize-lines`: `a` is no list of lines such as `1,3-5`"),
        ("width", "wide", "option `width`: `wide` is no length such as `60%` or `30em`"),
        ("align", "up", "option `align`: `up` is none of `left`, `center`, `right`, `default`"),
        (
            "align",
            "centre",
            "option `align`: `centre` is none of `left`, `center`, `right`, `default`; did you mean `center`?",
        ),
        ("file", None, "option `file`: `` needs a value"),
        ("class", "!", "option `class`: `!` makes no class name"),
    ],
)
def test_options_that_are_not_taken(name: str, value: str | None, message: str) -> None:
    """A wrong option is said to be so, with what would be right, and changes nothing."""
    parsed, wrong = options.parse({name: value})

    assert [(one.name, one.message) for one in wrong] == [(name, message)]
    assert parsed == Options()


def test_a_wrong_word_of_a_list_is_told_what_it_may_have_meant() -> None:
    """All words are listed, and the nearest one is named."""
    [wrong] = options.parse({"show": "lines savd"})[1]

    assert wrong.message.startswith("option `show`: `lines savd` has the word `savd`, none of `accumulate`, ")
    assert wrong.message.endswith("; did you mean `saved`?")


def test_a_directive_without_a_figure_has_fewer_options() -> None:
    """What is about figures is unknown to `autograd-exec`, and what it knows is listed."""
    parsed, wrong = options.parse({"zzz": "", "hide-code": ""}, options.EXEC_PARTS)

    assert parsed == Options(hide_code=True)
    assert [one.name for one in wrong] == ["zzz"]
    assert "`session`, `file`, `skip`, `raises`, `hide-code`" in wrong[0].message
    assert "`caption`" not in wrong[0].message


def made(values: dict[str, object], overrides: dict[str, str] | None = None) -> SphinxConfig:
    """Return what Sphinx makes of a `conf.py` with these values, and of `-D`."""
    made_ = SphinxConfig(values, overrides or {})
    for name, known in config.table().items():
        made_.add(name, config.defaults()[name], known.rebuild, known.types)
    return made_


def test_configuration_by_default() -> None:
    """An empty `conf.py` gives the defaults."""
    assert config.read(made({})) == (config.Config(), {})


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("execute", "never", "never"),
        ("timeout", "5", 5),
        ("cuda", "1", True),
        ("hide_code", "0", False),
        ("show", "saved data,dtypes", ("saved", "data", "dtypes")),
        ("colors", "leaf-fill=#fff,leaf-text=#000", (("leaf-fill", "#fff"), ("leaf-text", "#000"))),
    ],
)
def test_configuration_by_command_line(name: str, text: str, value: object) -> None:
    """Every value can be set with `-D`, as text."""
    read, wrong = config.read(made({}, {config.PREFIX + name: text}))

    assert wrong == {}
    assert getattr(read, name) == value


def test_colours_as_a_mapping() -> None:
    """In `conf.py` colours may be a mapping; what is shown depends on both lists."""
    read, wrong = config.read(
        made(
            {
                "autograd_graph_colors": {"leaf-fill": "#fff"},
                "autograd_graph_show": "saved",
                "autograd_graph_hide": ["lines"],
            }
        )
    )

    assert wrong == {}
    assert read.colors == (("leaf-fill", "#fff"),)
    assert read.shown == {"shapes", "names", "plumbing", "saved"}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("execute", "sometimes", "'sometimes' is none of 'auto', 'always', 'never'"),
        ("jobs", -1, "-1 is less than 0"),
        ("timeout", 0, "0 is not more than 0"),
        ("layout_timeout", float("nan"), "nan is not more than 0"),
        ("seed", 2**64, "18446744073709551616 does not fit into 64 bits"),
        ("show", ["colour"], "['colour'] has the word 'colour', none of 'accumulate'"),
        ("colors", ["leaf"], "['leaf'] is neither a mapping nor a list of texts such as 'leaf-fill=#ddeeff'"),
        ("colors", {"leaf-fil": "#fff"}, "{'leaf-fil': '#fff'} has the name 'leaf-fil'; did you mean 'leaf-fill'?"),
    ],
)
def test_wrong_configuration(name: str, value: object, message: str) -> None:
    """A wrong value is said to be so, with what would be right, and the default stands in."""
    read, wrong = config.read(made({config.PREFIX + name: value}))

    assert read == config.Config()
    assert wrong[config.PREFIX + name].startswith(f"`{config.PREFIX}{name}`: {message}")


def test_configuration_of_a_wrong_type() -> None:
    """Of a wrong type Sphinx itself warns; the default stands in."""
    assert config.read(made({"autograd_graph_timeout": "long"})) == (config.Config(), {})


def test_modules_are_looked_for_and_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether PyTorch is installed is known without importing it, whatever `conf.py` has put in its stead."""
    assert not is_installed("no_module_of_this_name")
    assert is_installed("this")
    assert "this" not in sys.modules
    monkeypatch.setitem(sys.modules, "this", ModuleType("this"))
    assert is_installed("this")
