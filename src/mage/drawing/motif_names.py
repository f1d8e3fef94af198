"""Names of motifs for people: functional groups with formula and SMARTS, shapes of plain graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mage.drawing.labelled_graphs import LabelledGraph
from mage.drawing.molecules import Molecule, molecule_of
from mage.drawing.pattern_names import pattern_name, pattern_text

if TYPE_CHECKING:
    from mage.explanation import Explanation


class MotifName(NamedTuple):
    """What a motif is called.

    Attributes:
        name: Functional groups, such as ``nitro on carbon``, or a shape, such as ``5-cycle``; empty where there is no
            name.
        text: Formula such as C–NO₂, or what the motif consists of.
        smarts: SMARTS of the atoms; empty where the nodes are no atoms, bonds are not known, or RDKit is missing.
    """

    name: str
    text: str
    smarts: str


def motif_names(explanation: Explanation) -> tuple[MotifName, ...]:
    """A name for each motif of an explanation, in their order."""
    molecule = molecule_of(explanation)
    if molecule is None:
        whole = LabelledGraph.make(
            [""] * explanation.num_nodes, ((i, j, "") for i, j in explanation.edge_index.T.tolist())
        )
    else:
        whole = molecule_graph(molecule, molecule.has_orders)
    chemical = molecule is not None
    names = []
    for motif in explanation.all_motifs:
        pattern = whole.induced(motif.nodes)
        smarts = "" if molecule is None else molecule.smarts(motif.nodes)
        names.append(MotifName(pattern_name(pattern, chemical), pattern_text(pattern, chemical), smarts))
    return tuple(names)


def molecule_graph(molecule: Molecule, orders: bool = True) -> LabelledGraph:
    """A molecule as a labelled graph.

    Hydrogens that are no nodes go into the labels of all atoms but carbon: NH2 is another group than N, whereas the
    same carbon skeleton is worth recognising whatever it carries.

    Args:
        molecule: The molecule.
        orders: Whether bonds carry their order.
    """
    labels = [
        element if not count or element == "C" else f"{element}H{count if count > 1 else ''}"
        for element, count in zip(molecule.elements, molecule.hydrogens, strict=True)
    ]
    pairs = zip(molecule.bonds, molecule.kinds, strict=True)
    return LabelledGraph.make(labels, ((i, j, kind if orders else "") for (i, j, _), kind in pairs))
