"""Names of motifs: functional groups with formula and SMARTS, shapes of plain graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from mage.drawing.labelled_graphs import LabelledGraph
from mage.drawing.molecules import Molecule, molecule_of
from mage.drawing.pattern_names import pattern_name, pattern_text
from mage.explanation.arguments import checked_explanation
from mage.explanation.subject import GraphSubject

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


class MotifNames:
    """Names for groups of nodes of an explained graph."""

    def __init__(self, explanation: Explanation) -> None:
        self._molecule = molecule_of(explanation)
        self._is_graph = type(explanation.subject) is GraphSubject
        if self._molecule is None:
            pairs = explanation.edge_index.T.tolist()
            self._whole = LabelledGraph.make([""] * explanation.num_nodes, ((i, j, "") for i, j in pairs))
        else:
            self._whole = molecule_graph(self._molecule, self._molecule.has_orders)

    def of(self, nodes: Sequence[int]) -> MotifName:
        """The name of a group."""
        part, chemical = self._whole.induced(nodes), self._molecule is not None
        smarts = "" if self._molecule is None else self._molecule.smarts(nodes)
        return MotifName(pattern_name(part, chemical), pattern_text(part, chemical), smarts)

    def short(self, nodes: Sequence[int]) -> str:
        """What a reader calls the group; empty for words, regions and single nodes, and where there is no name."""
        if len(nodes) < 2 or not (self._is_graph or self._molecule is not None):
            return ""
        return pattern_name(self._whole.induced(nodes), self._molecule is not None)


def motif_names(explanation: Explanation) -> tuple[MotifName, ...]:
    """A name for each motif of an explanation, in their order."""
    checked_explanation(explanation)
    names = MotifNames(explanation)
    return tuple(names.of(motif.nodes) for motif in explanation.all_motifs)


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
