"""A style sheet for electronic books: light colours only, and nothing that is newer than the readers of books."""

from __future__ import annotations

from sphinx_graphviz_autograd.drawing import style


def sheet() -> str:
    """Return the rules for the legend's swatches; pictures in books bring their own."""
    swatch = f".{style.PREFIX}swatch"
    box = "display: inline-block; width: 1.9em; height: 1.1em; margin-right: 0.4em; vertical-align: -0.18em"
    rules = [
        f".{style.PREFIX}picture img {{ max-width: 100%; }}",
        f".{style.PREFIX}legend {{ padding: 0; list-style-type: none; }}",
        f"{swatch} {{ {box}; border: 1px solid; }}",
        *(
            f"{swatch}.{style.PREFIX}{look.kind} {{ background: {look.light.fill}; border-color: {look.light.stroke}; "
            f"border-style: {_border(look)}; border-width: {look.borders * 2 - 1}px; "
            f"border-radius: {'0.4em' if 'rounded' in look.style else '0'}; }}"
            for look in style.LOOKS
        ),
        f"{swatch}-line {{ height: 0; background: none; border: 0; border-top: 2px solid {style.LIGHT_LINE.stroke}; }}",
        f".{style.PREFIX}unrun {{ font-style: italic; }}",
    ]
    return "\n".join(rules) + "\n"


def _border(look: style.Look) -> str:
    if look.borders > 1:
        return "double"
    return next((word for word in ("dashed", "dotted") if word in look.style), "solid")
