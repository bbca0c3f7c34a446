"""The exceptions of the package. They carry data and word themselves: what failed, why, and what to do."""

from __future__ import annotations


class AutogradGraphError(Exception):
    """Base of all errors that this package raises on purpose."""
