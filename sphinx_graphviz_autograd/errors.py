"""The exceptions of the package. They carry data and word themselves: what failed, why, and what to do."""

from __future__ import annotations


class AutogradGraphError(Exception):
    """Base of all errors that this package raises on purpose."""


class GraphvizNotFoundError(AutogradGraphError):
    """No program is there that can lay out a graph, or not the one that was asked for."""

    def __init__(self, setting: str) -> None:
        self.setting = setting
        wanted = "neither `graphviz-pure` nor `dot`" if setting == "auto" else f"no `{setting}`"
        ways = {"graphviz-pure": "install the wheel `graphviz-pure`", "dot": "install Graphviz, with `dot` on the path"}
        advice = ways.get(setting) or ", or ".join(ways.values())
        super().__init__(f"found {wanted} to lay out the graph: {advice}")


class LayoutFailedError(AutogradGraphError):
    """Graphviz could not lay out a graph."""

    def __init__(self, engine: str, status: int, message: str) -> None:
        self.engine = engine
        self.status = status
        self.message = message
        super().__init__(f"`{engine}` could not lay out the graph (exit status {status}): {message or 'no message'}")


class LayoutTimeoutError(AutogradGraphError):
    """Graphviz needed more time than it was given."""

    def __init__(self, engine: str, seconds: float) -> None:
        self.engine = engine
        self.seconds = seconds
        super().__init__(f"`{engine}` did not lay out the graph within {seconds:g} seconds")


class NoGraphError(AutogradGraphError):
    """None of the values that were to be captured has a graph."""

    def __init__(self, reasons: list[str]) -> None:
        self.reasons = reasons
        super().__init__("; ".join(reasons) or "there is no value to capture")


class TorchNotFoundError(AutogradGraphError, ImportError):
    """PyTorch is asked for and not installed."""

    def __init__(self) -> None:
        super().__init__("capturing needs PyTorch: `pip install sphinx_graphviz_autograd[torch]`")
