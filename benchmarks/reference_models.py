"""A fixed-weight GCN as a value function."""

from __future__ import annotations

import numpy as np
import torch
from torch_geometric.nn import GCNConv, global_mean_pool


class GCN(torch.nn.Module):
    """Three graph convolutions, mean pooling, a linear head; weights fixed by a seed."""

    def __init__(self, width: int, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.convs = torch.nn.ModuleList(
            [GCNConv(10, width, normalize=False), *(GCNConv(width, width, normalize=False) for _ in range(2))]
        )
        self.head = torch.nn.Linear(width, 2)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor, size: int) -> torch.Tensor:
        """Logits of a batch of graphs."""
        for conv in self.convs:
            x = conv(x, edge_index).relu()
        return self.head(global_mean_pool(x, batch, size))


class GraphWorth:
    """Class probability with only the coalition's edges kept (the paper's "split" masking), many coalitions at once."""

    def __init__(self, num_nodes: int, edges: list[tuple[int, int]], width: int = 20) -> None:
        self.model = GCN(width).eval()
        self.num_nodes = num_nodes
        columns = torch.tensor(edges).T
        self.edge_index = torch.cat([columns, columns.flip(0)], dim=1)
        self.features = torch.full((num_nodes, 10), 0.1)

    @torch.no_grad()
    def __call__(self, masks: np.ndarray) -> np.ndarray:
        """Worth of each coalition."""
        presence = torch.from_numpy(masks)
        source, target = self.edge_index
        graph, column = torch.nonzero(presence[:, source] & presence[:, target], as_tuple=True)
        edge_index = self.edge_index[:, column] + graph * self.num_nodes
        batch = torch.arange(len(masks)).repeat_interleave(self.num_nodes)
        logits = self.model(self.features.repeat(len(masks), 1), edge_index, batch, len(masks))
        return logits.softmax(dim=1)[:, 0].double().numpy()
