"""An explained graph that needs no model."""

from types import SimpleNamespace

import torch

from mage.metrics import ExplainedGraph


def explained_path(nodes, node=None, labels=None, **fields):
    """A path of four nodes, one with a loop, whose explanation is a set of nodes."""
    data = SimpleNamespace(num_nodes=4, edge_index=torch.tensor([[0, 1, 2, 2], [1, 2, 3, 2]]))
    data.get = {name: torch.tensor(values) for name, values in fields.items()}.get
    motifs = SimpleNamespace(nodes=tuple(nodes), labels=labels)
    explanation = SimpleNamespace(motifs=motifs, edge_scores=[1.0, 0.5, 0.0, 9.0], num_queries=7)
    return ExplainedGraph(None, data, explanation, {} if node is None else {"node": node})
