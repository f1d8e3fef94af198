"""Predictions of a model on the graphs of a dataset."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch_geometric.data import Data

from mage._torch.evaluation import evaluating
from mage._torch.forward import Forward
from mage.datasets.columns import Indices

if TYPE_CHECKING:
    from mage.datasets.dataset import GraphDataset

ModelCall: TypeAlias = Callable[[Any, Any, int], torch.Tensor]
"""Calls a model on a union of so many graphs; gives one row per graph, or per node without a readout."""
_BATCH_SIZE = 512


def graph_logits(model: Any, data: Data, num_graphs: int) -> torch.Tensor:
    """Any model's output on a union of graphs: called by its signature, on the device of its weights."""
    parameters = getattr(model, "parameters", lambda: iter(()))()
    device = next((parameter.device for parameter in parameters), torch.device("cpu"))
    forward = Forward(model, set(data.keys()) - {"edge_index", "batch", "ptr"})
    if forward.takes_batch or num_graphs == 1:
        rows = forward(data.to(device), num_graphs)
        return rows.reshape(-1, rows.shape[-1]).cpu()
    graphs: Any = data
    return torch.cat([forward(graph.to(device), 1).reshape(1, -1) for graph in graphs.to_data_list()]).cpu()


@torch.no_grad()
def dataset_logits(
    model: Any, dataset: GraphDataset, positions: Indices, call: ModelCall = graph_logits
) -> torch.Tensor:
    """Rows of logits of graphs, or of nodes of a node-level set, at these positions."""
    if dataset.task == "node":
        return call(model, dataset.batch([0]), 1)[positions]
    parts = [call(model, batch, batch.num_graphs) for batch in dataset.batches(positions, _BATCH_SIZE)]
    return torch.cat(parts) if parts else torch.zeros(0, dataset.num_classes)


def predicted_classes(model: Any, dataset: GraphDataset, positions: Indices, call: ModelCall = graph_logits) -> Indices:
    """Predicted classes of graphs, or of nodes of a node-level set, at these positions."""
    with evaluating(model):
        classes: Indices = dataset_logits(model, dataset, positions, call).argmax(dim=1).numpy()
    return classes
