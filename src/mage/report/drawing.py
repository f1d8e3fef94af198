"""What a page draws an explanation on: a molecule, a sentence, an image, or else the graph itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from mage.explanation.subject import ImageSubject, MoleculeSubject, SentenceSubject
from mage.graph import PlayerGraph
from mage.report.pictures import encode_runs, png_uri

if TYPE_CHECKING:
    from mage.explanation import Explanation

_BOND_SCALE = 34  # pixels for one ångström: letters and lines are as large in all molecules
_INK = "#000000"
MOST_NODES = 300
_FEW_NODES = 60


def drawing(explanation: Explanation) -> dict[str, Any]:
    """The ground of the drawing as plain values, with its ``"kind"``; what does not fit the graph is passed over."""
    for attempt in (_image, _molecule, _sentence):
        found = attempt(explanation)
        if found is not None:
            return found
    return {"kind": "graph"}


def drawable(explanation: Explanation, most_nodes: int = MOST_NODES) -> Explanation:
    """The explanation itself, or of a large graph the part around its motifs.

    Where few nodes play, as in the neighbourhood of one node, there are no more bystanders than players.
    """
    from mage.explanation.crop import crop

    if drawing(explanation)["kind"] != "graph":
        return explanation
    playing = sum(len(nodes) for nodes in explanation.players)
    return crop(explanation, min(most_nodes, max(2 * playing, _FEW_NODES)))


def undirected_edges(explanation: Explanation) -> list[list[int]]:
    """Edges of the input graph as pairs i < j, each once."""
    pairs: list[list[int]] = PlayerGraph.from_edge_index(explanation.edge_index, explanation.num_nodes).edges.tolist()
    return pairs


def _image(explanation: Explanation) -> dict[str, Any] | None:
    subject = explanation.subject
    if not isinstance(subject, ImageSubject):
        return None
    segments = subject.segments
    return {
        "kind": "image",
        "source": png_uri(subject.pixels),
        "shape": list(segments.shape),
        "runs": encode_runs(segments),
    }


def _sentence(explanation: Explanation) -> dict[str, Any] | None:
    subject = explanation.subject
    return {"kind": "sentence", "words": list(subject.words)} if isinstance(subject, SentenceSubject) else None


def _molecule(explanation: Explanation) -> dict[str, Any] | None:
    """The molecule as RDKit draws it: shapes in one ink, and where its atoms lie."""
    smiles = explanation.subject.smiles if isinstance(explanation.subject, MoleculeSubject) else ""
    if not smiles:
        return None
    try:
        from rdkit import Chem, rdBase
        from rdkit.Chem.Draw import rdMolDraw2D
    except ImportError:
        return None
    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles)
        if molecule is not None and molecule.GetNumAtoms() < explanation.num_nodes:
            molecule = Chem.AddHs(molecule)
    if molecule is None or molecule.GetNumAtoms() != explanation.num_nodes:
        return None
    bonds = sorted(sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())) for bond in molecule.GetBonds())
    if bonds != undirected_edges(explanation):
        return None  # the nodes are not these atoms, or not in this order: a wrong molecule is worse than none
    canvas = rdMolDraw2D.MolDraw2DSVG(-1, -1)  # as large as the molecule
    options: Any = canvas.drawOptions()
    options.useBWAtomPalette()  # colour is for the motifs
    options.clearBackground = False
    options.bondLineWidth = 2
    options.scalingFactor = _BOND_SCALE
    prepared = rdMolDraw2D.PrepareMolForDrawing(molecule, kekulize=True, addChiralHs=False)
    canvas.DrawMolecule(prepared)
    canvas.FinishDrawing()
    places = [canvas.GetDrawCoords(atom) for atom in range(explanation.num_nodes)]
    return {
        "kind": "molecule",
        "size": [canvas.Width(), canvas.Height()],
        "places": [[round(place.x, 2), round(place.y, 2)] for place in places],
        "symbols": [atom.GetSymbol() for atom in molecule.GetAtoms()],
        "shapes": _shapes(canvas.GetDrawingText()),
    }


def _shapes(svg: str) -> list[dict[str, Any]]:
    """Paths of a drawing by RDKit as plain values; the page builds them anew, so no markup is passed on."""
    shapes = []
    for element in ElementTree.fromstring(svg).iter():  # noqa: S314 - RDKit wrote it just now
        tag = element.tag.rpartition("}")[2]
        path = element.get("d")
        if tag != "path" or path is None:
            continue
        style = dict(re.findall(r"([\w-]+):([^;]+)", element.get("style", "")))
        fill, stroke = (element.get(name) or style.get(name, "none") for name in ("fill", "stroke"))
        width = style.get("stroke-width", "0").removesuffix("px")
        shapes.append({"d": path, "filled": fill == _INK, "width": float(width) if stroke == _INK else 0})
    return shapes
