"""The nodes of a figure as a table in HTML: for those who cannot see the picture, and what its script shows of a node.

The rows stand in the order in which backward visits the nodes; those that no gradient reaches have a body of their own.
Columns in which nothing would stand are left out, so that a large graph does not make a large page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, assert_never

from sphinx_graphviz_autograd.drawing.backward import backward_order
from sphinx_graphviz_autograd.drawing.labels import function_name, kind, label, shape_words
from sphinx_graphviz_autograd.drawing.passes.view import View
from sphinx_graphviz_autograd.drawing.plain import xml_text
from sphinx_graphviz_autograd.drawing.style import BY_KIND, PREFIX
from sphinx_graphviz_autograd.model import Data, GradFn, Group, Leaf, Output, Reference, SavedTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sphinx_graphviz_autograd.model import Gradient, Graph, ModuleCall, Node, Place, TensorMeta

COLUMNS: Final = ("Operation", "Shape", "Type", "Made at", "Module", "Contains", "Keeps", "Gradient", "Feeds")
"""The headings after the first, in English."""

_SUMMARY: Final = "The graph as a table"
_CAPTION: Final = "The nodes of this graph, in the order in which backward visits them"
_CUT: Final = "cut off by"

_SAVED: Final = View(show=frozenset({"shapes", "names"}))
"""What is told of a saved tensor."""


@dataclass(frozen=True)
class Table:
    """A figure's nodes, ready to be written."""

    drawn: Graph
    """What the figure shows."""
    captured: Graph
    """What it was made from, and where saved tensors are told of even if they are not drawn."""
    prefix: str
    """What all ids of the figure start with."""
    place: Callable[[Place], str]
    """Says in words where a line is."""
    line: Callable[[Place], str]
    """The id of a line's element in the page; empty if it has none."""
    boxes: bool = True
    """Whether the boxes of the picture are elements of the page, to which rows can lead."""
    translate: Callable[[str], str] = str
    """Turns an English word or sentence of ours into the reader's language."""
    described: Callable[[str], str] = field(default=lambda _: "")
    """The address of the page that describes an operation of PyTorch's; empty if there is none."""

    def html(self) -> str:
        """Return a disclosure with the table in it."""
        say = self.translate
        order = backward_order(self.drawn)
        rows = {node.id: self._cells(node) for node in self.drawn.nodes}
        used = [name for name in COLUMNS if any(cells.get(name) for cells in rows.values())]
        reached = frozenset(order)
        bodies = (order, tuple(id_ for id_ in rows if id_ not in reached))
        body = "".join(
            f"<tbody>\n{''.join(self._row(id_, rows[id_], used) for id_ in ids)}</tbody>\n" for ids in bodies if ids
        )
        headings = "".join(
            f'<th scope="col" data-column="{name}">{xml_text(say(name))}</th>' for name in ("Node", *used)
        )
        caption = xml_text(say(_CAPTION))
        return (
            f'<details class="{PREFIX[:-1]} {PREFIX}table" id="{self.prefix}-table">\n'
            f"<summary>{xml_text(say(_SUMMARY))}</summary>\n"
            f'<div role="group" tabindex="0" aria-label="{caption}">\n'
            f"<table>\n<caption>{caption}</caption>\n<thead>\n<tr>{headings}</tr>\n</thead>\n"
            f"{body}</table>\n</div>\n</details>\n"
        )

    def _row(self, id_: str, cells: dict[str, str], used: Iterable[str]) -> str:
        at = f"{self.prefix}-{id_}"
        title = self._title(self.drawn.by_id[id_])
        head = f'<a href="#{at}">{title}</a>' if self.boxes else title
        values = "".join(f"<td>{cells.get(name, '')}</td>" for name in used)
        return f'<tr id="{at}-row"><th scope="row">{head}</th>{values}</tr>\n'

    def _title(self, node: Node) -> str:
        """Return what a node is called, and what it is."""
        text = label(node, self.drawn, _SAVED, self.place)
        name = "" if isinstance(node, SavedTensor | Reference) else text.name
        match node:
            case GradFn():
                what = node.name
            case SavedTensor() | Reference():
                name, what = text.operation, self.translate(BY_KIND[kind(node)].word)
            case Group(kind="module"):
                what = text.operation
            case Group(kind="fold"):
                what = node.title
            case Leaf() | Data():
                what = f"{'' if node.names else node.hint} {self.translate(BY_KIND[kind(node)].word)}".lstrip()
            case Output() | Group():
                what = self.translate(BY_KIND[kind(node)].word)
            case _:
                assert_never(node)
        return " ".join(part for part in (f"<b>{xml_text(name)}</b>" if name else "", xml_text(what)) if part)

    def _cells(self, node: Node) -> dict[str, str]:
        """Return what stands under each heading, as HTML."""
        feeds = ", ".join(
            f'<a href="#{self.prefix}-{id_}-row">{self._short(self.drawn.by_id[id_])}</a>'
            for id_ in self._feeds.get(node.id, ())
        )
        cells = {"Feeds": feeds}
        match node:
            case GradFn():
                cells |= self._function(node)
            case Leaf():
                cells |= _tensors((node.meta,)) | {"Gradient": _gradients((node.gradient,))}
            case Output():
                cells |= _tensors((node.meta,))
            case Data():
                cut = f"{self.translate(_CUT)} {node.cut}" if node.cut else ""
                cells |= _tensors((node.meta,)) | {"Made at": self._made_at(node.place), "Operation": cut}
            case SavedTensor():
                cells |= _tensors((node.meta,) if node.meta else ()) | {"Keeps": self._saved(node)}
            case Reference():
                cells |= _tensors(_metas(self.drawn.by_id[node.target]))
            case Group():
                cells |= self._group(node)
            case _:
                assert_never(node)
        return cells

    def _function(self, node: GradFn) -> dict[str, str]:
        keeps = [f"<code>{xml_text(one.name)} = {xml_text(one.value)}</code>" for one in node.attributes]
        keeps += [self._saved(saved) for saved in self._kept.get(node.id, ())]
        special = f" ({xml_text(node.inside or node.speciality)})" if node.inside or node.speciality else ""
        return _tensors(node.outputs) | {
            "Operation": self._operation(node) + special,
            "Made at": self._made_at(node.place),
            "Module": self._module(node.module),
            "Keeps": "<br/>".join(keeps),
            "Gradient": _gradients(node.gradients),
        }

    def _operation(self, node: GradFn) -> str:
        """Return the name of an operation, linked to the page that describes it, if it is one of PyTorch's own."""
        address = self.described(node.forward) if node.speciality != "custom" else ""
        return f'<a href="{xml_text(address)}">{xml_text(node.forward)}</a>' if address else xml_text(node.forward)

    def _group(self, node: Group) -> dict[str, str]:
        text = label(node, self.drawn, _SAVED, self.place)
        return _tensors(node.outputs) | {
            "Operation": f"× {node.times}" if node.kind == "fold" else "",
            "Made at": self._made_at(node.place),
            "Module": self._module(node.module),
            "Contains": "<br/>".join(map(xml_text, node.varies if node.kind == "fold" else text.details[1:])),
        }

    def _saved(self, node: SavedTensor) -> str:
        text = label(node, self.captured, _SAVED, self.place)
        return f"<code>{xml_text(node.attribute)}</code> {xml_text(', '.join(text.details))}".rstrip()

    def _made_at(self, place: Place | None) -> str:
        if place is None:
            return ""
        words, at = xml_text(self.place(place)), self.line(place)
        return f'<a href="#{at}">{words}</a>' if at else words

    def _module(self, number: int | None) -> str:
        if number is None:
            return ""
        call: ModuleCall = self.drawn.modules[number]
        return xml_text(f"{call.path} ({call.kind})" if call.path else call.kind)

    def _short(self, node: Node) -> str:
        """Return what a node is called where it is only mentioned."""
        if isinstance(node, GradFn):
            return xml_text(function_name(node) or node.name)
        text = label(node, self.drawn, _SAVED, self.place)
        return xml_text(text.name or text.operation)

    @cached_property
    def _feeds(self) -> dict[str, list[str]]:
        """What each node feeds; what is drawn as fed by a reference is fed by the node that it stands for as well."""
        found: dict[str, dict[str, None]] = {}
        for edge in self.drawn.edges:
            found.setdefault(edge.source, {})[edge.target] = None
            source = self.drawn.by_id[edge.source]
            if isinstance(source, Reference):
                found.setdefault(source.target, {})[edge.target] = None
        return {source: list(targets) for source, targets in found.items()}

    @cached_property
    def _kept(self) -> dict[str, list[SavedTensor]]:
        found: dict[str, list[SavedTensor]] = {}
        for edge in self.captured.edges:
            saved = self.captured.by_id[edge.source]
            if edge.kind == "saved" and isinstance(saved, SavedTensor):
                found.setdefault(edge.target, []).append(saved)
        return found


def words() -> tuple[str, ...]:
    """Return the words that are translated, beside those of the legend."""
    return ("Node", *COLUMNS, _SUMMARY, _CAPTION, _CUT)


def _metas(node: Node) -> tuple[TensorMeta, ...]:
    """Return what is known of the tensors that stand behind a reference to a node."""
    match node:
        case GradFn():
            return node.outputs
        case Leaf():
            return (node.meta,)
        case _:
            return ()


def _tensors(metas: Iterable[TensorMeta]) -> dict[str, str]:
    known = tuple(metas)
    types = dict.fromkeys(
        " ".join(
            (
                meta.dtype,
                *([meta.device] if meta.device != "cpu" else []),
                *([meta.layout] if meta.layout not in {"strided", ""} else []),
                *([meta.subclass] if meta.subclass else []),
            )
        )
        for meta in known
    )
    return {"Shape": xml_text(", ".join(map(shape_words, known))), "Type": xml_text(", ".join(types))}


def _gradients(gradients: Iterable[Gradient | None]) -> str:
    words = []
    for gradient in gradients:
        if gradient is not None:
            sizes = f"({', '.join(map(str, gradient.shape))})"
            norm = f"norm {gradient.norm}" if gradient.norm else ""
            words.append(" · ".join(part for part in (gradient.values or sizes, norm, *gradient.marks) if part))
    return xml_text(", ".join(words))
