"""The notebooks of the documentation run, and show a page and a figure."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def extension():
    for library in ("myst_parser", "nbclient", "ipykernel"):
        pytest.importorskip(library)
    spec = importlib.util.spec_from_file_location("notebooks_extension", DOCS / "_extensions" / "notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_three():
    assert {path.stem for path in NOTEBOOKS} == {"own_model", "molecules", "comparing"}


def test_they_are_stored_without_outputs():
    nbformat = pytest.importorskip("nbformat")
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        assert not any(cell.get("outputs") for cell in cells), f"{path.name}: clear all outputs"


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_a_page_and_a_figure(path, monkeypatch, tmp_path):
    monkeypatch.setenv("MAGE_DATA", str(tmp_path))  # nothing there: notebooks need no files
    module = extension()
    if path.stem == "molecules":
        pytest.importorskip("rdkit")
    notebook = module.executed(path.read_text(encoding="utf-8"), tmp_path)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert "text/html" in kinds
    assert kinds & {"image/png", "image/svg+xml"}
    printed = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stdout")
    assert "F1" in printed or "SMARTS" in printed or "[#" in printed
    page = module.as_markdown(notebook)
    assert "<iframe" in page or "<div" in page
    assert "data:image/png;base64," in page or "<svg" in page
