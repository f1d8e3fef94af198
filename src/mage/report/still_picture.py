"""A still picture of an explanation as SVG, without any other library: for notebooks and readers without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mage.drawing import scene_of, scene_svg

if TYPE_CHECKING:
    from mage.explanation import Explanation


def still_picture(explanation: Explanation) -> str:
    """The drawing with its motifs as one SVG element: outlines green for, red and hatched against."""
    return scene_svg(explanation, scene_of(explanation))
