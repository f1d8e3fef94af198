"""Small networks and graphs for tests of explanations."""

import networkx as nx
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, global_add_pool, global_mean_pool


class Net(nn.Module):
    def __init__(self, features=4, classes=2, pool=global_mean_pool):
        super().__init__()
        self.first, self.second, self.head = GCNConv(features, 8), GCNConv(8, 8), nn.Linear(8, classes)
        self.pool = pool

    def forward(self, x, edge_index, batch):
        return self.head(self.pool(self.second(self.first(x, edge_index).relu(), edge_index).relu(), batch))


class OneLayerNet(nn.Module):
    """The same weights wherever it is made."""

    def __init__(self, features):
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head = GCNConv(features, 8), nn.Linear(8, 2)

    def forward(self, x, edge_index, batch):
        return self.head(global_add_pool(self.conv(x, edge_index).relu(), batch))


class NodeNet(nn.Module):
    def __init__(self, features, classes, conv=GCNConv):
        super().__init__()
        self.first, self.second = conv(features, 16), conv(16, classes)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def graph(seed=0, nodes=12):
    torch.manual_seed(seed)
    edges = torch.tensor(list(nx.barabasi_albert_graph(nodes, 1, seed=seed).edges())).T
    return Data(x=torch.randn(nodes, 4), edge_index=torch.cat([edges, edges.flip(0)], dim=1))


def molecule(smiles):
    from rdkit import Chem

    mol = Chem.MolFromSmiles(smiles)
    kinds = [6, 7, 8, 9, 16, 17, 35]
    x = torch.zeros(mol.GetNumAtoms(), len(kinds) + 1)
    for atom in mol.GetAtoms():
        number = atom.GetAtomicNum()
        x[atom.GetIdx(), kinds.index(number) if number in kinds else len(kinds)] = 1
    bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in mol.GetBonds()]
    pairs = torch.tensor(bonds + [(j, i) for i, j in bonds], dtype=torch.long).reshape(-1, 2).T
    return Data(x=x, edge_index=pairs, smiles=smiles)
