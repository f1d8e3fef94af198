"""Atoms as types of nodes: ``python examples/typed_molecules.py [folder of MUTAG]``.

MUTAG has 188 molecules, mutagenic or not, as text files (``MUTAG_A.txt`` and so on); by default they are read from
``$MAGE_DATA/mutag``. Here each element is a type of nodes, and a bond between two elements is a relation. A network
with separate weights for each relation learns the classes in a few seconds. The explanations name motifs by their
elements, such as ``nitrogen – (2 × oxygen)``: the nitro group.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import HeteroData
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GraphConv, HeteroConv, global_add_pool

import mage

ELEMENTS = ("carbon", "nitrogen", "oxygen", "fluorine", "iodine", "chlorine", "bromine")


def molecules(folder: Path) -> list[HeteroData]:
    """All molecules; each has all types of nodes and relations, most of them without nodes or edges."""

    def numbers(name: str) -> np.ndarray:
        return np.loadtxt(folder / f"MUTAG_{name}.txt", dtype=np.int64, delimiter=",")

    edges, graph_of, elements = numbers("A") - 1, numbers("graph_indicator") - 1, numbers("node_labels")
    labels = (numbers("graph_labels") > 0).astype(np.int64)
    relations = sorted({(int(elements[i]), int(elements[j])) for i, j in edges})
    result = []
    for graph, label in enumerate(labels.tolist()):
        atoms = np.flatnonzero(graph_of == graph)
        bonds = edges[graph_of[edges[:, 0]] == graph]
        row = {int(atom): int((elements[atoms[atoms < atom]] == elements[atom]).sum()) for atom in atoms}
        data = HeteroData()
        for element, name in enumerate(ELEMENTS):
            data[name].x = torch.ones(int((elements[atoms] == element).sum()), 1)
        for first, second in relations:
            rows = [(row[int(i)], row[int(j)]) for i, j in bonds if (elements[i], elements[j]) == (first, second)]
            pairs = torch.tensor(rows, dtype=torch.long).reshape(-1, 2).T
            data[ELEMENTS[first], "bond", ELEMENTS[second]].edge_index = pairs
        data.y = torch.tensor([label])
        result.append(data)
    return result


class Network(nn.Module):
    """Three layers with weights for each relation; the output adds up all atoms."""

    def __init__(self, relations: Sequence[tuple[str, str, str]], width: int = 16) -> None:
        super().__init__()
        self.first = nn.ModuleDict({name: nn.Linear(1, width) for name in ELEMENTS})
        self.layers = nn.ModuleList(
            HeteroConv({relation: GraphConv(width, width) for relation in relations}, aggr="sum") for _ in range(3)
        )
        self.head = nn.Linear(width, 2)

    def forward(
        self,
        x_dict: dict[str, Tensor],
        edge_index_dict: dict[tuple[str, str, str], Tensor],
        batch_dict: dict[str, Tensor],
    ) -> Tensor:
        """Logits of the classes, a row per molecule."""
        states = {name: self.first[name](x) for name, x in x_dict.items()}
        for layer in self.layers:
            news = layer(states, edge_index_dict)
            states = {name: (state + news[name]).relu() if name in news else state for name, state in states.items()}
        atoms, batch = torch.cat(list(states.values())), torch.cat([batch_dict[name] for name in states])
        out: Tensor = self.head(global_add_pool(atoms, batch) / 8)
        return out


def train(graphs: Sequence[HeteroData], epochs: int = 30, seed: int = 0) -> Network:
    """A network that distinguishes mutagenic molecules from others."""
    torch.manual_seed(seed)
    model = Network(graphs[0].edge_types)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(epochs):
        for batch in DataLoader(graphs, batch_size=32, shuffle=True):
            optimizer.zero_grad()
            functional.cross_entropy(model(batch.x_dict, batch.edge_index_dict, batch.batch_dict), batch.y).backward()
            optimizer.step()
    return model.eval()


def predictions(model: Network, graphs: Sequence[HeteroData]) -> Tensor:
    """The class that the network gives to each molecule."""
    with torch.no_grad():
        batch = next(iter(DataLoader(graphs, batch_size=len(graphs))))
        classes: Tensor = model(batch.x_dict, batch.edge_index_dict, batch.batch_dict).argmax(dim=1)
    return classes


def explained(model: Network, data: HeteroData) -> mage.Explanation:
    """One molecule by its best motif."""
    names = ("not mutagenic", "mutagenic")
    return mage.explain(model, data, class_names=names, num_motifs=2, max_nodes=4, order=2, masking="split")


def main(folder: Path, count: int = 6) -> None:
    """Train, then print the motifs of some mutagenic molecules."""
    graphs = molecules(folder)
    model = train(graphs)
    classes = predictions(model, graphs)
    truth = torch.cat([data.y for data in graphs])
    print(f"right for {100 * float((classes == truth).float().mean()):.0f} % of {len(graphs)} molecules\n")
    patterns: Counter[str] = Counter()
    for number in torch.nonzero((classes == 1) & (truth == 1)).flatten().tolist()[:count]:
        explanation = explained(model, graphs[number])
        print(f"molecule {number}\n{explanation}\n")
        patterns.update(motif["pattern"] for motif in explanation.to_dict()["motifs"] if motif["sign"] > 0)
    for pattern, number in patterns.most_common(5):
        print(f"{number} times {pattern}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(os.environ["MAGE_DATA"]) / "mutag")
