"""What stands in the boxes and on the arrows, as lines of runs of text: words only, no markup."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, assert_never

from sphinx_graphviz_autograd.drawing.operations import forward_words
from sphinx_graphviz_autograd.drawing.plain import plain
from sphinx_graphviz_autograd.model import Data, GradFn, Group, Leaf, Output, Reference, SavedTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sphinx_graphviz_autograd.drawing.passes.view import View
    from sphinx_graphviz_autograd.model import Edge, Gradient, Graph, Node, Place, TensorMeta

_LONGEST: Final = 42
"""Characters of a run of text in a box; longer ones are shortened in their middle."""

_STATES: Final = {
    "alive": "",
    "freed": "freed by backward",
    "modified": "modified since",
    "packed": "packed by a hook",
    "recomputed": "recomputed by a checkpoint",
}


@dataclass(frozen=True, slots=True)
class Label:
    """The text of a box."""

    name: str = ""
    """What the author calls it, set in bold; empty if it has no name."""
    operation: str = ""
    """What it does, or what it is if it has no name, on the same line."""
    details: tuple[str, ...] = ()
    """Smaller lines below."""


def kind(node: Node) -> str:  # noqa: PLR0911 - one for each kind of node
    """Return the kind of a box, as the table of looks names it."""
    match node:
        case Output():
            return "output"
        case GradFn():
            return "grad-fn" if node.order == 1 else "second-order"
        case Leaf():
            return "leaf"
        case SavedTensor():
            return "saved-tensor"
        case Data():
            return "data"
        case Reference():
            return "reference"
        case Group():
            return node.kind
        case _:
            assert_never(node)


def label(  # noqa: PLR0911 - one for each kind of node
    node: Node, graph: Graph, view: View, place: Callable[[Place], str]
) -> Label:
    """Return what stands in the box of a node; `place` says in words where a line is."""
    show = view.show
    match node:
        case Output():
            return Label(short(node.name), details=_details(meta_words(node.meta, show), *_gradients_from(graph, show)))
        case GradFn():
            return _function_label(node, view, place)
        case Leaf():
            details = _details(meta_words(node.meta, show), _gradient_words(node.gradient, show))
            name = _names(node.names)
            return Label(name, "" if name else short(node.hint) or "leaf", details)
        case SavedTensor():
            return _saved_label(node, graph, show)
        case Data():
            cut = f"cut off by {node.cut}" if node.cut else ""
            line = place(node.place) if node.place and "lines" in show else ""
            name = _names(node.names)
            details = _details(meta_words(node.meta, show), _joined(cut, line))
            return Label(name, "" if name else short(node.hint) or "data", details)
        case Reference():
            return _reference_label(node, graph, view)
        case Group():
            return _group_label(node, graph, show, place)
        case _:
            assert_never(node)


def operation(node: GradFn, view: View) -> str:
    """Return what a function is called: as PyTorch names its backward, or as the author's code names it."""
    if view.labels == "backward" or not node.forward:
        return short(node.name)
    return short(forward_words(node.forward))


def function_name(node: GradFn) -> str:
    """Return the author's names for what a function made, the first for each tensor; empty if it has none."""
    return ", ".join(names[0] for names in node.names if names)


def meta_words(meta: TensorMeta | None, show: frozenset[str]) -> str:
    """Return shape and type of a tensor as far as they are shown; what is usual is not said."""
    if meta is None:
        return ""
    words = []
    if "shapes" in show:
        words.append(shape_words(meta))
    if "dtypes" in show:
        words.append(meta.dtype)
        if meta.device != "cpu":
            words.append(meta.device)
    if meta.layout not in {"strided", ""}:
        words.append(meta.layout)
    if meta.subclass:
        words.append(meta.subclass)
    return " ".join(words)


def shape_words(meta: TensorMeta) -> str:
    """Return the sizes as `(80, 1)`; `(1)` for one size, `()` for a scalar, `(?)` if they are not known."""
    return "(?)" if meta.shape is None else f"({', '.join(map(str, meta.shape))})"


def edge_label(edge: Edge, view: View) -> str:
    """Return what stands on an arrow; empty for most."""
    words = []
    if edge.hidden:
        words.append(f"… {edge.hidden}")
    if "gradients" in view.show and edge.gradient is not None:
        words.append(_gradient_words(edge.gradient, view.show))
    return "  ".join(word for word in words if word)


def slot_label(edge: Edge, graph: Graph, view: View) -> str:
    """Return what stands at the head of an arrow: which output of its source enters which input of its target."""
    if "slots" not in view.show or edge.kind not in {"gradient", "data"}:
        return ""
    source = graph.by_id[edge.source]
    several = isinstance(source, GradFn) and len(source.outputs) > 1
    return f"{edge.output} → {edge.slot}" if several else f"{edge.slot}"


def short(text: str) -> str:
    """Return the text on one line, with its middle left out if it is too long for a box."""
    text = plain(text).strip()
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[: half - 1]}…{text[-half:]}"


def _function_label(node: GradFn, view: View, place: Callable[[Place], str]) -> Label:
    show = view.show
    shapes = "shapes" in show or "dtypes" in show
    metas = ", ".join(meta_words(meta, show) for meta in node.outputs) if shapes else ""
    line = place(node.place) if node.place and "lines" in show else ""
    details = [_joined(short(metas), line)]
    if node.inside:
        details.append(short(f"in place: {node.inside}"))
    if "attributes" in show:
        details.extend(short(f"{attribute.name} = {attribute.value}") for attribute in node.attributes)
    if "gradients" in show:
        details.extend(_gradient_words(gradient, show) for gradient in node.gradients if gradient is not None)
    name = short(function_name(node)) if "names" in show else ""
    return Label(name, operation(node, view), _details(*details))


def _saved_label(node: SavedTensor, graph: Graph, show: frozenset[str]) -> Label:
    same = graph.by_id.get(node.same_as)
    is_ = f"is {short(_tensor_words(same, node.output))}" if same is not None else ""
    return Label("", short(node.attribute), _details(_joined(meta_words(node.meta, show), is_), _STATES[node.state]))


def _tensor_words(node: Node, output: int) -> str:
    """Return what a tensor of the graph is called, by its author if he named it."""
    match node:
        case GradFn():
            names = node.names[output] if output < len(node.names) else ()
            return names[0] if names else f"result of {node.name}"
        case Leaf() | Data():  # without a name, as its own box calls it
            return _names(node.names[:1]) or node.hint or ("data" if isinstance(node, Data) else "leaf")
        case Output():
            return node.name
        case SavedTensor():
            return node.attribute
        case Reference() | Group():
            return node.id
        case _:
            assert_never(node)


def _reference_label(node: Reference, graph: Graph, view: View) -> Label:
    target = graph.by_id[node.target]
    leaf = graph.by_id.get(node.leaf)
    name = short(_tensor_words(leaf, 0)) if leaf is not None else ""
    if isinstance(target, GradFn):
        own = short(function_name(target)) if "names" in view.show else ""
        return Label("", f"{own or operation(target, view)} of {name}" if name else own or operation(target, view))
    return Label("", name or short(_tensor_words(target, 0)))


def _group_label(node: Group, graph: Graph, show: frozenset[str], place: Callable[[Place], str]) -> Label:
    line = place(node.place) if node.place and "lines" in show else ""
    inputs = ", ".join(meta_words(meta, show) for meta in node.inputs)
    outputs = ", ".join(meta_words(meta, show) for meta in node.outputs)
    flow = f"{inputs} → {outputs}" if inputs and outputs else outputs
    match node.kind:
        case "module":
            class_ = graph.modules[node.module].kind if node.module is not None else ""
            count = f"{node.parameters:,} parameters" if node.parameters else ""
            size = f"{node.nodes} node{'s' * (node.nodes != 1)}"
            return Label(short(node.title), class_, _details(short(flow), _joined(count, size)))
        case "fold":
            title = f"times {node.times}"
            return Label(title, short(node.title), _details(_joined(short(flow), line), *map(short, node.varies)))
        case "cap":
            return Label(f"{node.nodes} more nodes", "", _details("not drawn"))
        case _:
            assert_never(node.kind)


def _gradient_words(gradient: Gradient | None, show: frozenset[str]) -> str:
    if gradient is None or "gradients" not in show:
        return ""
    marks = " ".join(gradient.marks)
    if gradient.values:
        return _joined(short(f"grad {gradient.values}"), marks)
    sizes = ", ".join(map(str, gradient.shape))
    return _joined(f"grad ({sizes})", f"norm {gradient.norm}" if gradient.norm else "", marks)


def _gradients_from(graph: Graph, show: frozenset[str]) -> tuple[str, ...]:
    """Return what must be known of gradients to read them: what backward was given, and what did not take part."""
    if "gradients" not in show:
        return ()
    return (
        "grad starts with ones" if graph.seed == "ones" else "",
        "hooks left out of grad" if graph.hooks_left_out else "",
    )


def _names(names: Sequence[str]) -> str:
    """Return all names of a tensor: a reader must see that two names are one tensor."""
    return short(" = ".join(names))


def _joined(*words: str) -> str:
    return " · ".join(word for word in words if word)


def _details(*lines: str) -> tuple[str, ...]:
    return tuple(line for line in lines if line)
