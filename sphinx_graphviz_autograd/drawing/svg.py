"""From Graphviz's SVG to one that is ready for a page or stands alone.

Colours are left to classes; the attributes that stay are what is seen without any style sheet. Ids are prefixed, so
that no id occurs twice on a page. What Graphviz adds for itself goes: titles, comments, namespaces.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from sphinx_graphviz_autograd.drawing import style
from sphinx_graphviz_autograd.drawing.dot import LINE, SMALL_LINE
from sphinx_graphviz_autograd.drawing.foreign import KIND_OF_FILL
from sphinx_graphviz_autograd.drawing.metrics import text_width
from sphinx_graphviz_autograd.drawing.plain import xml_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SVG: Final = "{http://www.w3.org/2000/svg}"
_NUMBER: Final = re.compile(r"-?\d+\.\d+")
_POINT: Final = re.compile(r"(-?[\d.]+),(-?[\d.]+)")
_CORNERS: Final = 4
_NO_FILL: Final = frozenset({"none", "transparent"})
_KIND_OF_FILL: Final = {"#caff70": "output", "#a2cd5a": "output", "lightgrey": "grad-fn"}
"""Colours that SVG does not know by the names which torchviz gives, and Graphviz's fill where none is given."""

_PRESENTATION: Final = ("stroke-dasharray", "stroke-width")
"""What is kept of Graphviz's attributes of a form."""


_MARK: Final = "\0"
"""What stands in the place of a prefix; no XML has it."""


def inline(svg: bytes, *, prefix: str, title: str, description: str) -> str:
    """Return an `svg` element for an HTML page.

    Args:
        svg: Graphviz's SVG of DOT text from `to_dot`, or of a drawing that torchviz made.
        prefix: what to put before every id, itself an id that is unique in the page.
        title: the accessible name of the picture, in a few words.
        description: the accessible description, a sentence or more.
    """
    width, height, body = _drawing(svg)
    # the class bears the sheet's `max-width`; the attributes are the natural size, at which type is as large as meant
    start = (
        f'<svg class="{style.PREFIX}svg" id="{prefix}-svg" role="img" aria-labelledby="{prefix}-title" '
        f'aria-describedby="{prefix}-desc" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    )
    name = f'<title id="{prefix}-title">{xml_text(title)}</title>'
    words = f'<desc id="{prefix}-desc">{xml_text(description)}</desc>'
    return "\n".join((start, name + words, body.replace(_MARK, f"{prefix}-"), "</svg>"))


def standalone(svg: bytes, *, title: str, description: str) -> str:
    """Return an SVG file that is complete by itself: style sheet for light and dark, ground, title, description."""
    width, height, body = _drawing(svg)
    start = (
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title" aria-describedby="desc" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    )
    name = f'<title id="title">{xml_text(title)}</title><desc id="desc">{xml_text(description)}</desc>'
    # the ground is drawn, since the page around the picture may be dark where the reader's system is light
    ground = f'<rect class="{style.PREFIX}canvas" width="{width}" height="{height}" rx="6" fill="{style.CANVAS[0]}"/>'
    sheet = f"<style>{style.sheet()}</style>"
    return "\n".join((start, name, sheet, ground, body.replace(_MARK, ""), "</svg>\n"))


@lru_cache(maxsize=16)  # a picture stands in its page, and is a file of its own at the same time
def _drawing(svg: bytes) -> tuple[str, str, str]:
    """Return width, height, and the content of the `svg` element, with a mark where the prefix of ids belongs."""
    root = ET.fromstring(svg)  # noqa: S314 - Graphviz wrote it, and writes no entities of its own
    return (*_size(root), "\n".join(_body(root, _MARK)))


def _size(root: ET.Element) -> tuple[str, str]:
    """Return width and height at which type is as large as meant, whatever size the drawing was fitted into."""
    top = root.find(f"{_SVG}g")
    scale = re.search(r"scale\(([\d.]+)", "" if top is None else top.get("transform", ""))
    factor = float(scale[1]) if scale else 1.0
    box = [float(part) / factor for part in root.get("viewBox", "0 0 0 0").split()]
    return _number(box[2]), _number(box[3])


def _body(root: ET.Element, prefix: str) -> Iterator[str]:
    """Yield the lines of markup of frames, boxes and arrows, in Graphviz's order."""
    top = root.find(f"{_SVG}g")
    if top is None:
        return
    shift = re.search(r"translate\(([-\d.]+)[ ,]+([-\d.]+)\)", top.get("transform", ""))
    x, y = (_tidy(shift[1]), _tidy(shift[2])) if shift else ("0", "0")
    yield (
        f'<g transform="translate({x} {y})" font-family="{style.FONTS}" font-size="{style.SIZE}" text-anchor="middle">'
    )
    titles: list[str] = []  # of frames: above the arrows that run into them
    for group in top.iter(f"{_SVG}g"):
        classes = group.get("class", "").split()
        if classes[:1] == ["node"]:
            yield _node(group, classes[1:], prefix)
        elif classes[:1] == ["edge"]:
            yield _edge(group, classes[1:], prefix)
        elif classes[:1] == ["cluster"]:
            yield _frame(group, prefix)
            titles += map(_title, group.iter(f"{_SVG}text"))
    yield from titles
    yield "</g>"


def _node(group: ET.Element, classes: list[str], prefix: str) -> str:
    kind = next((name.removeprefix(style.PREFIX) for name in classes if name.startswith(style.PREFIX)), "")
    ours = kind in style.BY_KIND
    if not ours:
        kind = _kind_of_colour(group)
    if kind not in style.BY_KIND:
        return _foreign(group, prefix)
    look = style.BY_KIND[kind]
    radius = look.radius if "rounded" in look.style else 0
    forms = "".join(_form(form, radius) for form in group.iter() if form.tag != f"{_SVG}text")
    text = _centred_text(group) if ours else "".join(_plain_text(text) for text in group.iter(f"{_SVG}text"))
    colours = look.light
    return (
        f'<g id="{prefix}{group.get("id")}" class="{style.PREFIX}node {style.PREFIX}{kind}" fill="{colours.fill}" '
        f'stroke="{colours.stroke}">{forms}<g fill="{colours.text}" stroke="none">{text}</g></g>'
    )


def _edge(group: ET.Element, classes: list[str], prefix: str) -> str:
    if not classes and _has_colour(group):
        return _foreign(group, prefix)
    names = " ".join(name for name in classes if name.startswith(style.PREFIX)) or f"{style.PREFIX}edge"
    colour = style.LIGHT_LINE.stroke
    forms = "".join(_form(form) for form in group.iter() if form.tag != f"{_SVG}text")
    texts = "".join(_plain_text(text) for text in group.iter(f"{_SVG}text"))
    labels = f'<g stroke="none">{texts}</g>' if texts else ""
    return f'<g id="{prefix}{group.get("id")}" class="{names}" fill="{colour}" stroke="{colour}">{forms}{labels}</g>'


def _frame(group: ET.Element, prefix: str) -> str:
    colours = style.LIGHT_FRAME
    forms = "".join(_form(form, 9) for form in group if form.tag != f"{_SVG}text")
    return (
        f'<g id="{prefix}{group.get("id")}" class="{style.PREFIX}frame" fill="{colours.fill}" '
        f'stroke="{colours.stroke}">{forms}</g>'
    )


def _title(text: ET.Element) -> str:
    """Return the title of a frame on a plate of the frame's colour, so that no arrow strikes it through."""
    colours = style.LIGHT_FRAME
    x, y = float(text.get("x", "0")), float(text.get("y", "0"))
    width = text_width(text.text or "", style.SMALL)
    left = x - (0 if text.get("text-anchor") == "start" else width / 2) - 2
    place = {"x": left, "y": y - style.SMALL, "width": width + 4, "height": style.SMALL + 4.0}
    plate = _element("rect", {name: _number(value) for name, value in place.items()} | {"stroke": "none"})
    return (
        f'<g class="{style.PREFIX}frame" fill="{colours.fill}">{plate}'
        f'<g fill="{colours.text}" stroke="none">{_plain_text(text)}</g></g>'
    )


def _form(form: ET.Element, radius: int = 0) -> str:
    """Return the markup of a path, polygon, polyline or ellipse without its colours.

    A path is an outline with round corners if `radius` is given, and else a line.
    """
    tag = form.tag.removeprefix(_SVG)
    kept = {name: value for name in _PRESENTATION if (value := form.get(name))}
    kept |= {name: "none" for name in ("fill", "stroke") if form.get(name) in _NO_FILL}
    match tag:
        case "polygon" if _is_rectangle(form):
            return _rectangle(_points(form), 3, kept)
        case "polygon" | "polyline":
            return _element(tag, {"points": _tidy(form.get("points", ""))} | kept)
        case "path" if radius:
            return _rectangle(_points(form), radius, kept)
        case "path":
            return _element(tag, {"d": _tidy(form.get("d", ""))} | kept)
        case "ellipse":
            return _element(tag, {name: _tidy(form.get(name, "0")) for name in ("cx", "cy", "rx", "ry")} | kept)
        case _:
            return ""


def _points(form: ET.Element) -> list[tuple[float, float]]:
    text = form.get("points", "") or form.get("d", "")
    return [(float(x), float(y)) for x, y in _POINT.findall(text)]


def _is_rectangle(form: ET.Element) -> bool:
    points = set(_points(form))
    return points == {(x, y) for x, _ in points for _, y in points} and len(points) == _CORNERS


def _rectangle(points: list[tuple[float, float]], radius: int, kept: Mapping[str, str]) -> str:
    left, top = min(x for x, _ in points), min(y for _, y in points)
    width, height = max(x for x, _ in points) - left, max(y for _, y in points) - top
    place = {"x": left, "y": top, "width": width, "height": height, "rx": float(radius)}
    return _element("rect", {name: _number(value) for name, value in place.items()} | dict(kept))


def _centred_text(group: ET.Element) -> str:
    """Return the label of a box of ours, each line in the middle of the box whatever font it is set in."""
    xs, ys = _bounds(group)
    lines: dict[str, list[ET.Element]] = {}
    for text in group.iter(f"{_SVG}text"):
        lines.setdefault(text.get("y", ""), []).append(text)
    small = [all(_is_small(run) for run in runs) for runs in lines.values()]
    at = (min(ys) + max(ys) - sum(SMALL_LINE if one else LINE for one in small)) / 2
    centre = _number((min(xs) + max(xs)) / 2)
    parts = []
    for runs, one in zip(lines.values(), small, strict=True):
        at += SMALL_LINE if one else LINE
        attributes = {"x": centre, "y": _number(at - (3.5 if one else 4.0))}
        if one:
            attributes["font-size"] = f"{style.SMALL}"
        parts.append(f"<text{_attributes(attributes)}>{_runs(runs)}</text>")
    return "".join(parts)


def _runs(runs: list[ET.Element]) -> str:
    words = []
    for at, run in enumerate(runs):
        text = xml_text((run.text or "").strip())
        bold = run.get("font-weight") == "bold"
        if not text:
            continue
        attributes = ({"font-weight": "bold"} if bold else {}) | ({"dx": "7"} if at else {})
        words.append(f"<tspan{_attributes(attributes)}>{text}</tspan>" if attributes else text)
    return "".join(words)


def _is_small(run: ET.Element) -> bool:
    return float(run.get("font-size", style.SIZE)) < style.SIZE


def _plain_text(text: ET.Element) -> str:
    """Return a text where Graphviz put it."""
    attributes = {"x": _tidy(text.get("x", "0")), "y": _tidy(text.get("y", "0"))}
    size = float(text.get("font-size", style.SIZE))
    if size != style.SIZE:
        attributes["font-size"] = f"{size:g}"
    if text.get("text-anchor", "middle") != "middle":
        attributes["text-anchor"] = text.get("text-anchor", "")
    if text.get("font-weight"):
        attributes["font-weight"] = text.get("font-weight", "")
    if "mono" in text.get("font-family", "").lower():
        attributes["font-family"] = "monospace"
    return f"<text{_attributes(attributes)}>{xml_text(text.text or '')}</text>"


def _foreign(group: ET.Element, prefix: str) -> str:
    """Return a part of somebody else's drawing with its own colours; what is black on the page takes the page's."""
    on_page = group.get("class", "").startswith("edge")
    filled = not on_page and any(
        form.get("fill", "none") not in _NO_FILL for form in group if form.tag != f"{_SVG}text"
    )
    black = "#000" if filled else "currentColor"
    parts = []
    for form in group.iter():
        text = form.tag == f"{_SVG}text"
        markup = _plain_text(form) if text else _form(form)
        own = {"fill": form.get("fill", "black"), "stroke": form.get("stroke", "none")}
        shown = {name: black if value == "black" else value for name, value in own.items() if value not in _NO_FILL}
        cut = re.search(r"[ >]", markup)
        parts.append(f"{markup[: cut.start()]}{_attributes(shown)}{markup[cut.start() :]}" if cut else "")
    return f'<g id="{prefix}{group.get("id")}" class="{style.PREFIX}foreign">{"".join(parts)}</g>'


def _kind_of_colour(group: ET.Element) -> str:
    fills = (form.get("fill", "") for form in group)
    kinds = KIND_OF_FILL | _KIND_OF_FILL
    return next((kinds[fill] for fill in fills if fill in kinds), "")


def _has_colour(group: ET.Element) -> bool:
    return any(form.get("stroke", "black") not in {"black", "none"} for form in group)


def _bounds(group: ET.Element) -> tuple[list[float], list[float]]:
    points = [point for form in group for point in _points(form)] or [(0.0, 0.0)]
    return [x for x, _ in points], [y for _, y in points]


def _element(tag: str, attributes: Mapping[str, str]) -> str:
    return f"<{tag}{_attributes(attributes)}/>"


def _attributes(attributes: Mapping[str, str]) -> str:
    return "".join(f' {name}="{value}"' for name, value in attributes.items())


def _tidy(text: str) -> str:
    """Return text with its numbers rounded to a tenth of a point, which nobody can see."""
    return _NUMBER.sub(lambda match: _number(float(match[0])), text)


def _number(value: float) -> str:
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
