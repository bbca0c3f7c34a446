"""A module of the author's own."""

from __future__ import annotations

import torch


def scaled(tensor: torch.Tensor) -> torch.Tensor:
    """Return something computed from a tensor."""
    return tensor * 2
