"""What an explanation is drawn on: a molecule, a sentence, an image, or else the graph itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mage.drawing.molecule_shapes import draw_molecule
from mage.drawing.molecules import bonds_of, chemical_of_smiles
from mage.drawing.pictures import encode_runs, png_uri
from mage.explanation.crop import crop
from mage.explanation.subject import GraphSubject, ImageSubject, MoleculeSubject, SentenceSubject, Subject
from mage.graph import PlayerGraph

if TYPE_CHECKING:
    from mage.explanation import Explanation

_BOND_SCALE = 34  # pixels for one ångström: letters and lines are as large in all molecules
_FEW_NODES = 60
_MOST_NODES = 300


def ground(explanation: Explanation) -> dict[str, Any]:
    """The ground of the drawing as plain values, with its ``"kind"``; what does not fit the graph is passed over."""
    make = next(make for kind, make in _GROUNDS.items() if isinstance(explanation.subject, kind))
    return make(explanation) or {"kind": "graph"}


def drawable(explanation: Explanation, most_nodes: int = _MOST_NODES) -> Explanation:
    """The explanation itself, or of a large graph the part around its motifs.

    Where few nodes are players, as in the neighbourhood of one node, no more other nodes than players are drawn.
    """
    if ground(explanation)["kind"] != "graph":
        return explanation
    num_playing = sum(len(nodes) for nodes in explanation.players)
    return crop(explanation, min(most_nodes, max(2 * num_playing, _FEW_NODES)))


def undirected_edges(explanation: Explanation) -> list[list[int]]:
    """Edges of the input graph as pairs i < j, each once."""
    pairs: list[list[int]] = PlayerGraph.from_edge_index(explanation.edge_index, explanation.num_nodes).edges.tolist()
    return pairs


def _image(explanation: Explanation) -> dict[str, Any]:
    subject: Any = explanation.subject
    return {
        "kind": "image",
        "source": png_uri(subject.pixels),
        "shape": list(subject.segments.shape),
        "runs": encode_runs(subject.segments),
    }


def _sentence(explanation: Explanation) -> dict[str, Any]:
    subject: Any = explanation.subject
    return {"kind": "sentence", "words": list(subject.words)}


def _molecule(explanation: Explanation) -> dict[str, Any] | None:
    """The molecule as RDKit draws it, if it is here: shapes in one ink, and where its atoms lie."""
    subject: Any = explanation.subject
    chemical = chemical_of_smiles(subject.smiles, explanation.num_nodes)
    if chemical is None or [list(pair) for pair in bonds_of(chemical)] != undirected_edges(explanation):
        return None  # the nodes are not these atoms, or not in this order: a wrong molecule is worse than none
    drawing = draw_molecule(chemical, scalingFactor=_BOND_SCALE)
    return {
        "kind": "molecule",
        "size": list(drawing.size),
        "places": [[round(x, 2), round(y, 2)] for x, y in drawing.places],
        "symbols": [atom.GetSymbol() for atom in chemical.GetAtoms()],
        "shapes": [{"d": shape.path, "filled": shape.filled, "width": shape.width} for shape in drawing.shapes],
    }


def _graph(_explanation: Explanation) -> None:
    """Graphs have no ground but themselves."""


# A new kind of subject is drawn as a graph until it has a line here.
_GROUNDS: dict[type[Subject], Callable[[Explanation], dict[str, Any] | None]] = {
    ImageSubject: _image,
    MoleculeSubject: _molecule,
    SentenceSubject: _sentence,
    GraphSubject: _graph,
    Subject: _graph,
}
