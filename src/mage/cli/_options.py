"""Options that several commands share, checked before anything is computed."""

from __future__ import annotations

import os
from pathlib import Path

from mage._core.optional import require


def checked_max_nodes(max_nodes: float) -> int | float:
    """M of ``--max-nodes``: a whole number, or a share below 1."""
    if 0 < max_nodes < 1:
        return max_nodes
    if not max_nodes.is_integer() or max_nodes < 1:
        raise ValueError(f"--max-nodes must be a whole number ≥ 1 or a share of the nodes below 1, got {max_nodes:g}")
    return int(max_nodes)


def checked_seeds(text: str | None) -> list[int] | None:
    """Seeds of ``--seeds``, with commas between."""
    if not text:
        return None
    seeds = [seed.strip() for seed in text.split(",")]
    if not all(seed.isdecimal() for seed in seeds):
        raise ValueError(f"--seeds must be whole numbers ≥ 0 with commas between, such as 0,1,2; got {text!r}")
    return [int(seed) for seed in seeds]


def check_files(**files: Path | None) -> None:
    """Refuse files that could not be written at the end, by the names of their options."""
    for name, path in files.items():
        if path is None:
            continue
        if path.is_dir():
            raise ValueError(f"--{name}: {path} is a folder; name a file in it")
        if not path.parent.is_dir():
            raise ValueError(f"--{name}: the folder {path.parent} does not exist; create it first")
        if not os.access(path.parent, os.W_OK):
            raise ValueError(f"--{name}: the folder {path.parent} cannot be written to; choose another")
        if name == "picture":
            _check_picture(path)


def _check_picture(path: Path) -> None:
    known = require("matplotlib.backend_bases", "plot").FigureCanvasBase.get_supported_filetypes()
    if path.suffix and path.suffix.lower().lstrip(".") not in known:
        raise ValueError(f"--picture: {path.name} must end in .svg, .png or .pdf")
