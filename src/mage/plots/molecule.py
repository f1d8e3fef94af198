"""Pictures of an explained molecule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mage._core.optional import require
from mage.drawing.colours import coloured_motifs, pale
from mage.drawing.molecules import bond_ends, read_smiles
from mage.explanation.subject import MoleculeSubject

if TYPE_CHECKING:
    from mage.explanation import Explanation


def molecule_svg(explanation: Explanation, smiles: str | None = None, size: tuple[int, int] = (480, 360)) -> str:
    """The molecule with its motifs, drawn by RDKit as SVG (extra ``chem``).

    Args:
        explanation: Its nodes are the atoms of ``smiles``, in that order.
        smiles: The molecule; by default the one that came with the graph.
        size: Width and height in pixels.
    """
    drawing = require("rdkit.Chem.Draw.rdMolDraw2D", "chem")
    subject = explanation.subject
    text = smiles if smiles is not None else subject.smiles if isinstance(subject, MoleculeSubject) else ""
    if not text:
        raise ValueError("smiles: the explanation carries none; pass it")
    molecule = read_smiles(text, explanation.num_nodes)
    atoms, bonds = {}, {}
    for motif, colour, strength in coloured_motifs(explanation):
        shade = pale(colour, strength)
        inside = set(motif.nodes)
        atoms.update(dict.fromkeys(motif.nodes, shade))
        for bond in molecule.GetBonds():
            if inside.issuperset(bond_ends(bond)):
                bonds[bond.GetIdx()] = shade
    canvas = drawing.MolDraw2DSVG(*size)
    drawing.PrepareAndDrawMolecule(
        canvas,
        molecule,
        highlightAtoms=list(atoms),
        highlightAtomColors=atoms,
        highlightBonds=list(bonds),
        highlightBondColors=bonds,
    )
    canvas.FinishDrawing()
    return str(canvas.GetDrawingText())
