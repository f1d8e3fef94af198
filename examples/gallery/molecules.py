"""Two figures of molecules: two NO₂ groups (after the paper's figure 3a) and two benzene rings.

``python examples/gallery/molecules.py [FOLDER]`` needs the published files of Mutagenicity and Benzene in the folder
that ``MAGE_DATA`` names or in the cache; see ``mage datasets``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from canvas import figure
from drawings import LEGEND, molecule_drawing, molecule_height
from methods import Skipped, compared, load, says, written

from mage._core.optional import require
from mage.models import pretrained

WIDTH, MOST_HEIGHT = 300.0, 250.0
_USUAL = {"N": 3, "O": 2}


def make_mutagenic(folder: Path, methods: Sequence[str] | None = None) -> Path:
    """The first test molecule with exactly two NO₂ groups that the GIN gets right."""
    require("rdkit.Chem", "chem")
    dataset, model = load("mutagenic"), pretrained("mutagenic", "gin")

    def fits(position: int) -> bool:
        names = dataset[position].names
        return [sorted(names[v] for v in nodes) for nodes in dataset.motifs(position)] == 2 * [["N", "O", "O"]]

    position, rule = _first(dataset, model, fits, "with exactly two NO₂ groups")
    molecule = from_atoms(dataset[position])
    return _figure(folder, "mutagenic", "Mutagenic: two NO₂ groups", dataset, model, position, molecule, rule, methods)


def make_benzene(folder: Path, methods: Sequence[str] | None = None) -> Path:
    """The first test molecule with two benzene rings and no other ring that the GIN gets right."""
    chem = require("rdkit.Chem", "chem")
    dataset, model = load("benzene"), pretrained("benzene", "gin")

    def fits(position: int) -> bool:
        rings = chem.MolFromSmiles(dataset[position].smiles).GetRingInfo().NumRings()
        return rings == 2 and [len(nodes) for nodes in dataset.motifs(position)] == [6, 6]

    position, rule = _first(dataset, model, fits, "with two benzene rings and no other ring")
    molecule = chem.MolFromSmiles(dataset[position].smiles)
    return _figure(folder, "benzene", "Benzene: two rings", dataset, model, position, molecule, rule, methods)


def from_atoms(data: Any) -> Any:
    """The molecule of a graph with names of atoms and orders of bonds, charges as its bonds need them."""
    chem = require("rdkit.Chem", "chem")
    molecule = chem.RWMol()
    for name in data.names:
        atom = chem.Atom(name)
        atom.SetNoImplicit(True)
        molecule.AddAtom(atom)
    kinds = (chem.BondType.SINGLE, chem.BondType.DOUBLE, chem.BondType.TRIPLE)
    for (i, j), kind in zip(data.edge_index.T.tolist(), data.bond.tolist(), strict=True):
        if i < j:
            molecule.AddBond(i, j, kinds[kind])
    for atom in molecule.GetAtoms():
        bonds = int(sum(bond.GetBondTypeAsDouble() for bond in atom.GetBonds()))
        if atom.GetSymbol() in _USUAL and bonds != _USUAL[atom.GetSymbol()]:
            atom.SetFormalCharge(bonds - _USUAL[atom.GetSymbol()])
    molecule.UpdatePropertyCache(strict=False)
    chem.FastFindRings(molecule)
    return molecule.GetMol()


def _first(dataset: Any, model: Any, fits: Callable[[int], bool], words: str) -> tuple[int, str]:
    for position in dataset.explained(model).tolist():
        if fits(position):
            return position, f"the first test molecule {words} that the GIN gets right"
    raise Skipped(f"{dataset.title}: no test molecule {words}")


def _figure(
    folder: Path,
    name: str,
    title: str,
    dataset: Any,
    model: Any,
    position: int,
    molecule: Any,
    rule: str,
    methods: Sequence[str] | None,
) -> Path:
    data, truth = dataset[position], dataset.motifs(position)
    size = WIDTH, molecule_height(molecule, WIDTH, MOST_HEIGHT)
    panels = compared(
        model,
        data,
        truth,
        dataset.settings(position),
        lambda groups: molecule_drawing(molecule, groups, size),
        methods=methods,
        dataset=dataset,
        size=size,
    )
    lines = [
        f"The GIN says {says(model, data, dataset.class_names)}. Each method chooses {sum(map(len, truth))} atoms at "
        f"most. Molecule {position}: {rule}."
    ]
    return written(folder, name, figure(title, lines, panels, 4, LEGEND))


if __name__ == "__main__":
    for make in (make_mutagenic, make_benzene):
        try:
            print(make(Path(sys.argv[1] if len(sys.argv) > 1 else "gallery-output")))
        except (Skipped, ImportError) as reason:
            print(f"skipped: {reason}")
