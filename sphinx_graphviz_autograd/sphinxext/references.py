"""Where PyTorch's documentation describes an operation, as far as `sphinx.ext.intersphinx` has its inventory.

Nothing is fetched for it: where intersphinx is not in use, or has no inventory of PyTorch, there are no links.
"""

from __future__ import annotations

import hashlib
import posixpath
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, cast

from sphinx_graphviz_autograd.drawing.described import names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sphinx.application import Sphinx

_KINDS: Final = ("py:function", "py:method", "py:class")
"""What describes operations."""


class _Item(Protocol):
    """An entry of an inventory, since Sphinx 8.2; before, it was a tuple with the address as the third item."""

    uri: str


@dataclass(frozen=True)
class References:
    """The addresses of what PyTorch's documentation describes."""

    addresses: Mapping[str, str] = field(default_factory=dict)
    """Addresses by full names, as `torch.mul`; those that are relative are so to the site's root."""

    @property
    def digest(self) -> str:
        """A digest of them, which changes when a link would."""
        return hashlib.sha256(repr(sorted(self.addresses.items())).encode()).hexdigest() if self.addresses else ""

    def from_page(self, docname: str) -> Callable[[str], str]:
        """Return what gives the address for an operation as seen from a page; empty if there is none."""

        def address(forward: str) -> str:
            found = next((self.addresses[name] for name in names_of(forward) if name in self.addresses), "")
            if not found or "://" in found:
                return found
            return posixpath.join(*[".."] * docname.count("/"), found)

        return address


def references(app: Sphinx) -> References:
    """Return what intersphinx has loaded of PyTorch."""
    if "sphinx.ext.intersphinx" not in app.extensions:
        return References()
    inventory = cast("Mapping[str, Mapping[str, object]]", getattr(app.env, "intersphinx_inventory", {}))
    return References(
        {
            name: _uri(item)
            for kind in reversed(_KINDS)  # what comes first counts most
            for name, item in inventory.get(kind, {}).items()
            if name.startswith("torch.")
        }
    )


def _uri(item: object) -> str:
    return str(item[2]) if isinstance(item, tuple) else cast("_Item", item).uri
