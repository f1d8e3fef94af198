"""Graphs of molecules that are given as SMILES, with the features that a network was trained on.

Two families of datasets have molecules. Their features are one-hot elements:

- Mutagenic: all atoms are nodes, hydrogens too; :data:`mage.datasets.mutagenic.ATOMS`.
- Benzene, Fluoride-Carbonyl, Alkane-Carbonyl: heavy atoms are nodes; bonds have one-hot types.

``"pyg"`` is :func:`torch_geometric.utils.from_smiles`, which many models of one's own use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mage._core.checks import did_you_mean
from mage._core.optional import require
from mage.datasets.mutagenic import ATOMS

if TYPE_CHECKING:
    from torch_geometric.data import Data

Featurizer = Callable[[str], "Data"]

_ZINC_ATOMS = ("C", "N", "O", "S", "F", "P", "Cl", "Br", "Na", "Ca", "I", "B", "H", "*")
_ZINC_BONDS = ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC")
_ZINC_BOND_COLUMNS = 5  # the published features have a column that no bond uses


def smiles_graph(smiles: str, featurizer: str | Featurizer = "pyg") -> Data:
    """The graph of a molecule: nodes are atoms in the order of the SMILES, edges are bonds in both directions.

    Args:
        smiles: The molecule.
        featurizer: ``"pyg"``; the name of a dataset of molecules, see :data:`FEATURIZERS`; or a function of the SMILES
            that returns a graph whose nodes are the atoms in RDKit's order.

    Returns:
        A graph with ``smiles``.

    Raises:
        ValueError: RDKit cannot read the SMILES, or the features have no place for one of its elements.
    """
    require("torch_geometric", "pyg")
    molecule = _read(smiles)
    if isinstance(featurizer, str):
        if featurizer not in FEATURIZERS:
            choices = ", ".join(FEATURIZERS)
            hint = did_you_mean(featurizer, FEATURIZERS)
            raise ValueError(f"featurizer must be one of {choices}, or a function; got {featurizer!r}{hint}")
        graph: Data = FEATURIZERS[featurizer](smiles)
    elif callable(featurizer):
        graph = featurizer(smiles)
    else:
        raise TypeError(f"featurizer must be a name or a function of the SMILES, got {type(featurizer).__name__}")
    counts = (molecule.GetNumAtoms(), _with_hydrogens(molecule).GetNumAtoms())
    if getattr(graph, "num_nodes", None) not in counts:
        raise ValueError(
            f"featurizer: the graph must have a node per atom, {counts[0]} or, with hydrogens, {counts[1]}; "
            f"got {getattr(graph, 'num_nodes', None)}"
        )
    graph.smiles = smiles
    return graph


def atom_names(smiles: str, num_nodes: int) -> list[str]:
    """A name for each node of the graph of a molecule: the element and the number of the atom, such as N7."""
    molecule = _read(smiles)
    if molecule.GetNumAtoms() < num_nodes:
        molecule = _with_hydrogens(molecule)
    return [f"{atom.GetSymbol()}{atom.GetIdx()}" for atom in molecule.GetAtoms()]


def _read(smiles: str) -> Any:
    chem = require("rdkit.Chem", "chem")
    if not isinstance(smiles, str) or not smiles.strip():
        raise ValueError(f"smiles must be a text such as 'c1ccccc1', got {smiles!r}")
    block = require("rdkit.rdBase", "chem").BlockLogs()  # RDKit prints its errors otherwise
    molecule = chem.MolFromSmiles(smiles)
    del block
    if molecule is None or not molecule.GetNumAtoms():
        raise ValueError(f"smiles: RDKit cannot read {smiles!r}")
    return molecule


def _with_hydrogens(molecule: Any) -> Any:
    return require("rdkit.Chem", "chem").AddHs(molecule)


def _one_hot(molecule: Any, elements: Sequence[str], name: str) -> Any:
    import torch

    symbols = [atom.GetSymbol() for atom in molecule.GetAtoms()]
    unknown = sorted(set(symbols) - set(elements))
    if unknown:
        raise ValueError(f"smiles: {unknown[0]} is no element of {name}; it has {', '.join(elements)}")
    return torch.eye(len(elements))[[elements.index(symbol) for symbol in symbols]]


def _bonds(molecule: Any) -> tuple[Any, list[Any]]:
    """Both directions of all bonds [2, 2b], and the bond of each column."""
    import torch

    bonds = list(molecule.GetBonds())
    ends = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds]
    pairs = [pair for first, second in ends for pair in ((first, second), (second, first))]
    edge_index = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T.contiguous()
    return edge_index, [bond for bond in bonds for _ in range(2)]


def _mutagenic_graph(smiles: str) -> Data:
    from torch_geometric.data import Data

    molecule = _with_hydrogens(_read(smiles))
    return Data(x=_one_hot(molecule, ATOMS, "Mutagenic"), edge_index=_bonds(molecule)[0])


def _zinc_graph(smiles: str) -> Data:
    import torch
    from torch_geometric.data import Data

    molecule = _read(smiles)
    edge_index, bonds = _bonds(molecule)
    kinds = [_ZINC_BONDS.index(str(bond.GetBondType())) for bond in bonds]
    edge_attr = torch.eye(_ZINC_BOND_COLUMNS)[kinds]
    return Data(x=_one_hot(molecule, _ZINC_ATOMS, "this dataset"), edge_index=edge_index, edge_attr=edge_attr)


def _pyg_graph(smiles: str) -> Data:
    graph: Data = require("torch_geometric.utils", "pyg").from_smiles(smiles)
    return graph


FEATURIZERS: dict[str, Featurizer] = {
    "pyg": _pyg_graph,
    "mutagenic": _mutagenic_graph,
    "benzene": _zinc_graph,
    "fluoride_carbonyl": _zinc_graph,
    "alkane_carbonyl": _zinc_graph,
}
"""Ways to make a graph of SMILES: PyG's, and those of the datasets of molecules."""
