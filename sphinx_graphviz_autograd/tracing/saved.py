"""The tensors that functions keep for backward, and what has become of them.

Only PyTorch's record of them is read. A tensor is asked for itself only where no hook stands before it, since such a
hook is the author's code, and that of a checkpoint runs the forward pass again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

import torch
from torch.utils import checkpoint

from sphinx_graphviz_autograd.quick import quick
from sphinx_graphviz_autograd.tracing.reading import Kind, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.autograd.graph import Node

    from sphinx_graphviz_autograd.model import SavedState

_HOLDER: type = checkpoint._Holder  # noqa: SLF001 -- the only sign of a tensor that a checkpoint will compute again


class Raw(Protocol):
    """PyTorch's record of one kept tensor (`torch._C._autograd.SavedTensor`, of which its stub says too little)."""

    @property
    def data(self) -> object:
        """What is kept: the tensor, what a hook made of it, or None."""

    @property
    def unpack_hook(self) -> object:
        """The function that makes the tensor of it, or None."""

    def unpack(self) -> torch.Tensor | None:
        """Return the tensor itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """A tensor that a function keeps."""

    attribute: str
    """The name under which it is kept."""
    state: SavedState
    """What has become of it."""
    tensor: torch.Tensor | None = None
    """The tensor, where it can be had."""


_saved = quick(Saved)


def saved_tensors(node: Node, kind: Kind) -> list[Saved]:
    """Return the tensors that a function keeps; not those that are None."""
    if kind.is_custom:
        return list(_of_custom_function(node))
    found: list[Saved] = []
    for name in kind.tensors:
        attribute = name[len("_saved_") :]
        try:
            raw: Raw | tuple[Raw, ...] = getattr(node, f"_raw{name}")
        except RuntimeError:  # a tuple that was released; how many there were is not told any more
            found.append(_saved(attribute, "freed"))
            continue
        if isinstance(raw, tuple):
            found.extend(_of_tuple(node, name, raw))
        elif raw.unpack_hook is not None:
            found.append(_saved(attribute, _hooked(raw)))
        elif (one := _of_attribute(node, name, raw)) is not None:
            found.append(one)
    return found


def _of_attribute(node: Node, name: str, raw: Raw) -> Saved | None:
    attribute = name[len("_saved_") :]
    try:
        tensor = getattr(node, name)
    except RuntimeError:
        kept = raw.data
        return _saved(attribute, "modified", kept) if isinstance(kept, torch.Tensor) else _saved(attribute, "freed")
    return _saved(attribute, "alive", tensor) if isinstance(tensor, torch.Tensor) else None


def _of_tuple(node: Node, name: str, raws: tuple[Raw, ...]) -> Iterator[Saved]:
    attribute = name.removeprefix("_saved_")
    tensors = _unpacked(node, name, raws)
    for at, raw in enumerate(raws):
        yield from _item(f"{attribute}[{at}]", raw, tensors[at] if tensors is not None else None)


def _of_custom_function(node: Node) -> Iterator[Saved]:
    try:
        raws = cast("tuple[Raw, ...] | None", read(node, "_raw_saved_tensors"))
    except RuntimeError:  # released; how many there were is not told any more
        yield Saved("saved_tensors", "freed")
        return
    tensors = _unpacked(node, "saved_tensors", raws or ())
    for at, raw in enumerate(raws or ()):
        yield from _item(f"saved_tensors[{at}]", raw, tensors[at] if tensors is not None else None)


def _unpacked(node: Node, name: str, raws: tuple[Raw, ...]) -> tuple[object, ...] | None:
    """Return all tensors of a tuple, which can be had at once only; None where one of them cannot."""
    if any(raw.unpack_hook is not None for raw in raws):
        return None
    try:
        return cast("tuple[object, ...]", read(node, name))
    except RuntimeError:
        return None


def _item(attribute: str, raw: Raw, tensor: object) -> Iterator[Saved]:
    kept = raw.data
    if raw.unpack_hook is not None:
        yield Saved(attribute, _hooked(raw))
    elif isinstance(tensor, torch.Tensor):
        yield Saved(attribute, "alive", tensor)
    elif isinstance(kept, torch.Tensor):
        yield Saved(attribute, "modified" if "inplace" in _objection(raw) else "alive", kept)
    elif _objection(raw):
        yield Saved(attribute, "freed")


def _hooked(raw: Raw) -> SavedState:
    return "recomputed" if isinstance(raw.data, _HOLDER) else "packed"


def _objection(raw: Raw) -> str:
    """Return why PyTorch does not give a tensor out, in its words; an output can never be had by itself."""
    try:
        raw.unpack()
    except RuntimeError as error:
        return str(error)
    return ""
