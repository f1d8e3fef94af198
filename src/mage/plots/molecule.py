"""Pictures of an explained molecule."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mage.drawing import scene_of, scene_svg
from mage.drawing.molecules import bonds_of, read_smiles
from mage.drawing.scene_builders import undirected_edges
from mage.explanation.arguments import checked_explanation
from mage.explanation.subject import MoleculeSubject

if TYPE_CHECKING:
    from mage.explanation import Explanation


def molecule_svg(explanation: Explanation, smiles: str | None = None) -> str:
    """The molecule with its motifs as SVG, its atoms and bonds drawn by RDKit (extra ``chem``).

    Args:
        explanation: Its nodes are the atoms of ``smiles``, in that order.
        smiles: The molecule; by default the one that came with the graph.
    """
    checked_explanation(explanation)
    subject = explanation.subject
    if smiles is None and isinstance(subject, MoleculeSubject):
        return scene_svg(explanation, scene_of(explanation))
    if not smiles:
        raise ValueError("smiles: the explanation carries none; pass it")
    chemical = read_smiles(smiles, explanation.num_nodes)
    if bonds_of(chemical) != undirected_edges(explanation):
        raise ValueError("smiles: its bonds are not the edges of the graph; list its atoms in the order of the nodes")
    molecule = replace(explanation, subject=MoleculeSubject(smiles))
    return scene_svg(molecule, scene_of(molecule))
