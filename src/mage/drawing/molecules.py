"""Molecules behind explanations: atoms, bonds and places, from SMILES or named atoms, by RDKit if it is here."""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.optional import require
from mage._core.typing import Floats
from mage.explanation.arguments import checked_explanation
from mage.explanation.subject import ELEMENTS, MoleculeSubject

if TYPE_CHECKING:
    from mage.explanation import Explanation

AROMATIC = "a"
"""Label of an aromatic bond; others are ``"1"``, ``"2"`` and ``"3"``, or empty where the order is not known."""

_NAMED_ATOM = re.compile(r"([A-Z][a-z]?)\d*")
# What an atom's bonds add up to without a charge, the usual first. Published molecules may leave charges out.
_VALENCES = {"C": (4,), "N": (3,), "O": (2,), "S": (2, 4, 6), "P": (3, 5), "F": (1,), "Cl": (1,), "Br": (1,), "I": (1,)}
_DOUBLE = "2"
_MOST_NEIGHBOURS = {"H": 1, "C": 4, "N": 4, "O": 3, "F": 1}
_METALS = frozenset({"Li", "Na", "K", "Ag", "Ca", "Mg", "Ba", "Zn"})


@dataclass(frozen=True)
class Molecule:
    """A molecule whose atoms are the nodes of an explained graph.

    Attributes:
        elements: One per atom.
        hydrogens: Hydrogens on each atom that are no nodes themselves.
        bonds: Pairs of atoms, with the order as drawn (alternating in rings): 1, 2 or 3; 0 where it is not known.
        kinds: The same bonds with the order as chemists compare them; see :data:`AROMATIC`.
        positions: Where atoms are drawn, [n, 2]; None without RDKit.
        chemical: RDKit's molecule; None without RDKit.
    """

    elements: tuple[str, ...]
    hydrogens: tuple[int, ...]
    bonds: tuple[tuple[int, int, int], ...]
    kinds: tuple[str, ...]
    positions: Floats | None = None
    chemical: Any = None

    @property
    def has_orders(self) -> bool:
        """Whether the order of all bonds is known as chemists compare them."""
        return all(self.kinds)

    def smiles(self, atoms: Sequence[int]) -> str:
        """RDKit's canonical SMILES of a fragment; empty without RDKit."""
        if self.chemical is None or not self.has_orders:
            return ""
        chem = importlib.import_module("rdkit.Chem")
        return str(chem.MolFragmentToSmiles(self.chemical, atomsToUse=list(atoms), canonical=True))

    def fragment(self, atoms: Sequence[int]) -> Any:
        """RDKit's molecule of some atoms, in this order, where they are drawn in the whole; None without RDKit.

        Nothing is put where bonds were cut. Hydrogens that are no nodes stay on atoms other than carbon.
        """
        if self.chemical is None:
            return None
        chem = importlib.import_module("rdkit.Chem")
        whole = chem.RWMol(self.chemical)
        with contextlib.suppress(ValueError):
            chem.Kekulize(whole, clearAromaticFlags=True)
        whole.RemoveAllConformers()
        places = chem.Conformer(whole.GetNumAtoms())
        for atom, (x, y) in enumerate(self.positions if self.positions is not None else ()):
            places.SetAtomPosition(atom, (float(x), float(y), 0.0))
        whole.AddConformer(places)
        for atom, hydrogens in zip(whole.GetAtoms(), self.hydrogens, strict=True):
            atom.SetNoImplicit(True)
            atom.SetNumExplicitHs(0 if atom.GetSymbol() == "C" else hydrogens)
            atom.SetNumRadicalElectrons(0)
        part = chem.RWMol(chem.RenumberAtoms(whole, [*atoms, *sorted(set(range(len(self.elements))) - set(atoms))]))
        part.BeginBatchEdit()
        for atom in range(len(atoms), len(self.elements)):
            part.RemoveAtom(atom)
        part.CommitBatchEdit()
        part.UpdatePropertyCache(strict=False)
        chem.FastFindRings(part)
        return part.GetMol()

    def smarts(self, atoms: Sequence[int]) -> str:
        """RDKit's SMARTS of a fragment; empty without RDKit."""
        if self.chemical is None or not self.has_orders:
            return ""
        chem = importlib.import_module("rdkit.Chem")
        return str(chem.MolFragmentToSmarts(self.chemical, list(atoms)))


def molecule_of(explanation: Explanation) -> Molecule | None:
    """The molecule that an explanation is about; None if its nodes are no atoms."""
    checked_explanation(explanation)
    subject = explanation.subject
    smiles, elements = (subject.smiles, subject.elements) if isinstance(subject, MoleculeSubject) else ("", ())
    bonds = _bonds(explanation)
    chemical = chemical_of_smiles(smiles, explanation.num_nodes)
    if chemical is not None and bonds_of(chemical) == [(i, j) for i, j, _ in bonds]:
        return _described(chemical)
    matches = [_NAMED_ATOM.fullmatch(name) for name in (elements or explanation.names)]
    elements = tuple(match[1] for match in matches if match is not None and match[1] in ELEMENTS)
    if not elements or len(elements) < explanation.num_nodes:
        return None
    if not isinstance(subject, MoleculeSubject) and not _is_organic(elements, bonds):
        return None  # nodes that only happen to be named like atoms
    plain = Molecule(elements, (0,) * len(elements), bonds, tuple("" for _ in bonds))
    try:
        return _from_atoms(plain)
    except ImportError:
        return plain


def _is_organic(elements: Sequence[str], bonds: Sequence[tuple[int, int, int]]) -> bool:
    """Whether a graph of named nodes can be an organic molecule: carbon, and no atom with too many neighbours."""
    neighbours = np.bincount(np.array([bond[:2] for bond in bonds], dtype=np.int64).ravel(), minlength=len(elements))
    most = [_MOST_NEIGHBOURS.get(element, 6) for element in elements]
    return "C" in elements and bool((neighbours <= most).all())


def read_smiles(smiles: str, num_atoms: int) -> Any:
    """RDKit's molecule with so many atoms, hydrogens included if needed; an error says why there is none."""
    chem = require("rdkit.Chem", "chem")
    with _quiet():
        chemical = chem.MolFromSmiles(smiles)
        if chemical is None:
            raise ValueError(f"smiles: RDKit cannot read {smiles!r}")
        if chemical.GetNumAtoms() < num_atoms:
            chemical = chem.AddHs(chemical)
    if chemical.GetNumAtoms() != num_atoms:
        raise ValueError(f"smiles: {chemical.GetNumAtoms()} atoms, but the graph has {num_atoms} nodes")
    return chemical


def chemical_of_smiles(smiles: str, num_atoms: int) -> Any:
    """Like :func:`read_smiles`, but None if there is no such molecule or no RDKit: it only makes drawings better."""
    try:
        return read_smiles(smiles, num_atoms) if smiles else None
    except (ImportError, ValueError):
        return None


def bonds_of(chemical: Any) -> list[tuple[int, int]]:
    """Pairs of atoms i < j that are joined in RDKit's molecule, ascending."""
    return sorted(bond_ends(bond) for bond in chemical.GetBonds())


def bond_ends(bond: Any) -> tuple[int, int]:
    """The two atoms that a bond of RDKit joins, the smaller number first."""
    first, second = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
    return min(first, second), max(first, second)


def _bonds(explanation: Explanation) -> tuple[tuple[int, int, int], ...]:
    """Undirected edges of an explained graph with the orders that came with it."""
    count = explanation.edge_index.shape[1]
    subject = explanation.subject
    orders = (subject.bond_orders if isinstance(subject, MoleculeSubject) else ()) or (0,) * count
    bonds = {
        (min(i, j), max(i, j)): int(order) if order in {1, 2, 3} else 0
        for (i, j), order in zip(explanation.edge_index.T.tolist(), orders, strict=True)
        if i != j
    }
    return tuple((i, j, order) for (i, j), order in sorted(bonds.items()))


def _from_atoms(plain: Molecule) -> Molecule:
    """A molecule of named atoms and bonds as RDKit sees it; as it was given where RDKit refuses it."""
    chem = importlib.import_module("rdkit.Chem")
    chemical = chem.RWMol()
    valences = [0] * len(plain.elements)
    for i, j, order in plain.bonds:
        valences[i] += order or 1
        valences[j] += order or 1
    knows_orders = all(order for _, _, order in plain.bonds)
    for element, valence in zip(plain.elements, valences, strict=True):
        atom = chem.Atom(element)
        atom.SetNoImplicit(True)
        if knows_orders:
            atom.SetFormalCharge(_charge(element, valence))
        chemical.AddAtom(atom)
    kinds = (chem.BondType.SINGLE, chem.BondType.SINGLE, chem.BondType.DOUBLE, chem.BondType.TRIPLE)
    for i, j, order in plain.bonds:
        chemical.AddBond(i, j, kinds[order])
    with _quiet():
        if knows_orders:
            try:
                chem.SanitizeMol(chemical)
                return _described(chemical.GetMol())
            except ValueError:
                pass
        chemical.UpdatePropertyCache(strict=False)
        chem.FastFindRings(chemical)
        orders = tuple(str(order) if order else "" for _, _, order in plain.bonds)
        return replace(plain, kinds=orders, positions=_positions(chemical), chemical=chemical.GetMol())


def _charge(element: str, valence: int) -> int:
    """The charge of an atom that shows all its bonds, such as +1 for nitrogen with four."""
    if element in _METALS:
        return 1 if valence == 0 else 0
    if element == "C" or element not in _VALENCES or valence in _VALENCES[element]:
        return 0
    usual = _VALENCES[element]
    # S and P take another pair of bonds before they take a charge.
    return valence - max((v for v in usual if v < valence), default=usual[0])


def _described(chemical: Any) -> Molecule:
    chem = importlib.import_module("rdkit.Chem")
    atoms = list(chemical.GetAtoms())
    kinds: dict[tuple[int, int], str] = {}
    for bond in chemical.GetBonds():
        ends = bond_ends(bond)
        kind = AROMATIC if bond.GetIsAromatic() else str(int(bond.GetBondTypeAsDouble()))
        # Both oxygens of a nitro group are alike; writing one bond as single with two charges is a convention.
        charges = sorted(atoms[end].GetFormalCharge() for end in ends)
        if bond.GetBondType() == chem.BondType.SINGLE and charges == [-1, 1]:
            kind = _DOUBLE
        kinds[ends] = kind
    picture = chem.Mol(chemical)
    try:
        chem.Kekulize(picture, clearAromaticFlags=True)
    except ValueError:
        picture = chemical
    orders = {bond_ends(bond): int(bond.GetBondTypeAsDouble()) for bond in picture.GetBonds()}
    pairs = sorted(kinds)
    return Molecule(
        tuple(atom.GetSymbol() for atom in atoms),
        tuple(int(atom.GetTotalNumHs()) for atom in atoms),
        tuple((i, j, int(kinds[i, j]) if kinds[i, j] != AROMATIC else orders[i, j]) for i, j in pairs),
        tuple(kinds[pair] for pair in pairs),
        _positions(picture),
        chemical,
    )


def _positions(chemical: Any) -> Floats:
    layout = importlib.import_module("rdkit.Chem.rdDepictor")
    copy = importlib.import_module("rdkit.Chem").Mol(chemical)
    layout.Compute2DCoords(copy, canonOrient=True)
    return np.asarray(copy.GetConformer().GetPositions()[:, :2], dtype=np.float64)


class _quiet:  # noqa: N801 (used as a statement)
    """RDKit prints what it cannot read; the page says it instead."""

    def __enter__(self) -> None:
        self._block = importlib.import_module("rdkit.rdBase").BlockLogs()

    def __exit__(self, *_error: object) -> None:
        del self._block
