import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mage.drawing import AGAINST, FOR

pytest.importorskip("torch_geometric")
FOLDER = Path(__file__).parent.parent / "examples" / "gallery"
MODULES = ("canvas", "digit", "drawings", "five_cycle", "house_or_grid", "make", "methods", "molecules", "sentences")
MODULES += ("spmotif",)


@pytest.fixture
def gallery(monkeypatch):
    """The scripts as they see each other when one of them is run."""
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    import make

    yield make
    for name in MODULES:
        sys.modules.pop(name, None)


def words_of(svg):
    return " ".join("".join(element.itertext()) for element in ElementTree.fromstring(svg).iter())  # noqa: S314 - ours


@pytest.mark.long
def test_figures_without_data(gallery, tmp_path):
    quick = ("MAGE", "GStarX", "GradCAM")
    only = ("five-cycle", "house-or-grid", "spmotif")
    files, missing = gallery.make_all(tmp_path, only, quick)
    assert [path.name for path in files] == ["five-cycle.svg", "house-or-grid.svg", "spmotif.svg", "index.html"]
    assert missing == []
    cycle, both, house = (path.read_text(encoding="utf-8") for path in files[:3])
    words = words_of(cycle)
    assert re.search(r"for \+[\d.]+: 9 grid; against −[\d.]+: 5 cycle", words)
    assert "proven optimal" in words
    assert FOR in cycle
    assert AGAINST in cycle
    for svg, metric in ((both, "AMI"), (house, "F1")):
        words = words_of(svg)
        assert all(title in words for title in ("Ground truth", *quick))
        assert len(re.findall(rf"{metric} −?-?\d\.\d\d, [\d,]+ queries", words)) >= len(quick)
        assert FOR in svg
    assert "house or grid" in words_of(both)
    page = files[-1].read_text(encoding="utf-8")
    assert page.count("data:image/svg+xml;base64,") == 3
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert all(path.stat().st_size < 150_000 for path in files[:3])


def test_a_figure_says_why_it_is_missing(gallery, tmp_path, monkeypatch):
    monkeypatch.setenv("MAGE_DATA", str(tmp_path))
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path / "cache"))
    files, missing = gallery.make_all(tmp_path / "out", ["benzene"])
    assert [path.name for path in files] == ["index.html"]
    assert "MAGE_DATA" in missing[0]
    assert "Skipped: benzene" in files[0].read_text(encoding="utf-8")


def test_molecules_are_drawn_by_rdkit(gallery):
    chem = pytest.importorskip("rdkit.Chem")
    import drawings

    nitrobenzene = chem.MolFromSmiles("c1ccccc1[N+](=O)[O-]")
    groups = [drawings.Group(frozenset({6, 7, 8}), FOR), drawings.Group(frozenset({0, 1}), AGAINST)]
    body = drawings.molecule_drawing(nitrobenzene, groups)
    root = ElementTree.fromstring(f"<svg>{body}</svg>")  # noqa: S314 - ours
    assert not root.findall(".//*[@style]")  # pages with a strict policy refuse styles
    assert len(root.findall(f".//path[@stroke='{FOR}']")) == 1
    assert len(root.findall(f".//path[@stroke='{AGAINST}']")) == 2  # and dashes, for those who see no colour
    assert len(root.findall("path")) > nitrobenzene.GetNumBonds()


def test_sentences_are_in_reading_order(gallery):
    import drawings

    import mage

    words = ["good", "film", ",", "but", "long"]
    why = mage.explain_text(
        lambda texts: [2.0 * ("good" in text) - ("long" in text) for text in texts],
        words,
        edges=[(0, 1), (1, 2), (1, 4), (3, 4)],
        tau=0.5,
        progress=False,
    )
    body, height = drawings.sentence_drawing(why, 400)
    root = ElementTree.fromstring(f"<svg>{body}</svg>")  # noqa: S314 - ours
    places = {element.text: float(element.get("x")) for element in root.findall("text")}
    assert list(places) == words
    assert sorted(places.values()) == list(places.values())
    assert height > 0
    assert {FOR, AGAINST} == {element.get("fill") for element in root.findall("rect")}
