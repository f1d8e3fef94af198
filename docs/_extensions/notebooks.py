"""Notebooks as pages: each is executed when the site is built, and its outputs are part of the page."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Any

import nbformat
from myst_parser.parsers.sphinx_ import MystParser
from nbclient import NotebookClient

import mage

_FENCE = "`" * 12  # longer than anything in the notebooks
_TIMEOUT = 900


def executed(text: str, folder: Path) -> Any:
    """The notebook with its outputs; an error in a cell is an error here."""
    notebook = nbformat.reads(text, as_version=4)
    # The library that is imported here, whatever else is installed; and no more threads than a small model can use.
    searched = os.pathsep.join(filter(None, [str(Path(mage.__file__).parents[1]), os.environ.get("PYTHONPATH")]))
    environment = {"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": searched}
    client = NotebookClient(notebook, timeout=_TIMEOUT, resources={"metadata": {"path": str(folder)}})
    client.execute(env=environment)
    return notebook


def as_markdown(notebook: Any) -> str:
    """A notebook as Markdown: text, code, and outputs as text, HTML or images."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        elif cell.cell_type == "code":
            parts.append(_fenced("python", cell.source))
            parts.extend(_output(output) for output in cell.outputs)
    return "\n\n".join(part for part in parts if part) + "\n"


def _fenced(language: str, text: str) -> str:
    return f"{_FENCE}{language}\n{text.rstrip()}\n{_FENCE}"


def _output(output: Any) -> str:
    """An output of a cell in its richest form."""
    if output.output_type == "stream":
        return "" if output.name == "stderr" else _fenced("text", output.text)
    data = output.get("data", {})
    if "text/html" in data:
        return _fenced("{raw} html", f'<div class="notebook-output">{data["text/html"]}</div>')
    if "image/svg+xml" in data:
        return _fenced("{raw} html", f'<div class="notebook-output">{data["image/svg+xml"]}</div>')
    if "image/png" in data:
        label = html.escape("Figure drawn by the code above")
        return _fenced("{raw} html", f'<img alt="{label}" src="data:image/png;base64,{data["image/png"].strip()}">')
    return _fenced("text", data["text/plain"]) if "text/plain" in data else ""


class NotebookParser(MystParser):
    """Reads a notebook as the Markdown of its executed cells."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: Any) -> None:
        """Execute the notebook and parse it as Markdown."""
        folder = Path(document.settings.env.doc2path(document.settings.env.docname)).parent
        super().parse(as_markdown(executed(inputstring, folder)), document)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True}
