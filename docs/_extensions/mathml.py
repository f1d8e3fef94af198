"""Formulas as MathML, which all current browsers display: no script, no fonts to load, nothing from a network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

_BAR = '<mo stretchy="false">&#x0007C;</mo>'
_TIGHT_BAR = '<mo stretchy="false" lspace="0" rspace="0">|</mo>'  # |S| without spaces inside


def _mathml(formula: str, display: str) -> str:
    """A formula of TeX as MathML, with upright names and a set difference that every font has."""
    text = convert(formula.replace(r"\mathrm{", r"\text{"), display=display)
    return text.replace("&#x02216;", "&#x0005C;").replace(_BAR, _TIGHT_BAR)


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{_mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
