"""The paper's BA-2Motifs and Mutagenic data and the authors' trained models, read from the folder in ``MAGE_DATA``."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GCNConv, GINConv, global_max_pool, global_mean_pool


def data_folder() -> Path:
    """The folder in ``MAGE_DATA``, or the end of the script with a word on what is missing."""
    folder = os.environ.get("MAGE_DATA", "")
    if not (Path(folder) / "authors_checkpoints").is_dir() or not folder:
        sys.exit("set MAGE_DATA to a folder that holds ba_2motifs, mutagenicity and authors_checkpoints")
    return Path(folder)


def ba_2motifs() -> list[Data]:
    """The published 1,000 graphs; the motif's edges have both ends at node 20 or above."""
    arrays = np.load(data_folder() / "ba_2motifs" / "ba_2motifs.npz")
    graphs = []
    for adjacency, x, y in zip(arrays["adj"], arrays["x"], arrays["y"], strict=True):
        edge_index = torch.from_numpy(np.argwhere(adjacency).T.copy())
        truth = (edge_index >= 20).all(dim=0) & (edge_index[0] != edge_index[1])
        graphs.append(Data(x=torch.from_numpy(x), edge_index=edge_index, y=int(y), edge_truth=truth))
    return graphs


def mutagenic() -> list[Data]:
    """Mutagenicity without mutagens that have neither NO2 nor NH2; label 0 is the mutagen."""
    folder = data_folder() / "mutagenicity"

    def column(name: str) -> np.ndarray:
        with gzip.open(folder / f"Mutagenicity_{name}.txt.gz", "rt") as file:
            return np.loadtxt(file, dtype=np.int64, delimiter=",", ndmin=1)

    edges, truth, owner = column("A") - 1, column("edge_gt"), column("graph_indicator") - 1
    labels, atoms = column("graph_labels"), column("node_labels")
    first = np.searchsorted(owner, np.arange(len(labels) + 1))
    cuts = np.searchsorted(owner[edges[:, 0]], np.arange(len(labels) + 1))
    graphs = []
    for graph, label in enumerate(labels.tolist()):
        some = slice(cuts[graph], cuts[graph + 1])
        inside = torch.from_numpy(truth[some] > 0)
        if label == 0 and not inside.any():
            continue
        own = torch.from_numpy(atoms[first[graph] : first[graph + 1]])
        x = torch.nn.functional.one_hot(own, 14).float()
        edge_index = torch.from_numpy((edges[some] - first[graph]).T.copy())
        graphs.append(Data(x=x, edge_index=edge_index, y=label, edge_truth=inside if label == 0 else inside & False))
    return graphs


def test_split(graphs: list[Data]) -> list[Data]:
    """The last tenth of an 80/10/10 split with a generator seeded 2."""
    sizes = [int(0.8 * len(graphs)), int(0.1 * len(graphs))]
    sizes.append(len(graphs) - sum(sizes))
    generator = torch.Generator().manual_seed(2)
    return list(torch.utils.data.random_split(graphs, sizes, generator)[2])


class AuthorsModel(torch.nn.Module):
    """Three layers of the paper's GCN or GIN, pooling, a linear head, with the authors' weights."""

    def __init__(self, weights: dict[str, torch.Tensor], *, normalise: bool, pool_max: bool) -> None:
        super().__init__()
        self.is_gcn = "convs.0.weight" in weights
        convs = []
        for i in range(3):
            if self.is_gcn:
                inputs, outputs = weights[f"convs.{i}.weight"].shape
                convs.append(GCNConv(inputs, outputs, normalize=normalise))
            else:
                outputs, inputs = weights[f"convs.{i}.nn.0.weight"].shape
                layers = [torch.nn.Linear(inputs, outputs), torch.nn.BatchNorm1d(outputs), torch.nn.ReLU()]
                convs.append(GINConv(torch.nn.Sequential(*layers, torch.nn.Linear(outputs, outputs)), train_eps=True))
        self.convs = torch.nn.ModuleList(convs)
        self.head = torch.nn.Linear(*reversed(weights["mlps.0.weight"].shape))
        # The plain A + I that the authors use: PyG adds self-loops only together with the normalisation.
        self.add_loops = self.is_gcn and not normalise
        self.pool = global_max_pool if pool_max else global_mean_pool
        self.load_state_dict(self._renamed(weights))
        self.eval()

    def _renamed(self, weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        renamed = {}
        for key, value in weights.items():
            if key.startswith("mlps.0."):
                renamed[key.replace("mlps.0.", "head.")] = value
            elif self.is_gcn and key.endswith("lin.weight"):
                continue  # a dead copy
            elif self.is_gcn and key.endswith(".weight"):
                renamed[key.replace(".weight", ".lin.weight")] = value.T
            else:
                renamed[key] = value
        return renamed

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
        """Logits of a batch of graphs."""
        if self.add_loops:
            loops = torch.arange(len(x)).expand(2, -1)
            edge_index = torch.cat([edge_index, loops], dim=1)
        for conv in self.convs:
            x = conv(x, edge_index)
            if self.is_gcn:
                x = x.relu()
        return self.head(self.pool(x, batch))


def authors_model(dataset: str, kind: str) -> AuthorsModel:
    """The authors' checkpoint for ``"ba_2motifs"`` or ``"mutagenic"`` and ``"gcn"`` or ``"gin"``."""
    folder = {"ba_2motifs": "ba_2motifs", "mutagenic": "mutag0"}[dataset]
    path = data_folder() / "authors_checkpoints" / folder / f"{kind}_3l_best.pth"
    weights = torch.load(path, map_location="cpu", weights_only=True)["net"]
    mutagenic_gin = dataset == "mutagenic" and kind == "gin"
    return AuthorsModel(weights, normalise=dataset == "mutagenic", pool_max=mutagenic_gin)


@torch.no_grad()
def accuracy(model: AuthorsModel, graphs: list[Data]) -> float:
    """Share of graphs that the model gets right."""
    batch = Batch.from_data_list([Data(x=g.x, edge_index=g.edge_index) for g in graphs])
    predicted = model(batch.x, batch.edge_index, batch.batch).argmax(dim=1)
    return float((predicted == torch.tensor([g.y for g in graphs])).float().mean())
