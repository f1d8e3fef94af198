"""Computation trees as input graphs: a model computes the same for their roots as for the nodes in the coalitions."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from mage._core.typing import Bits, Integers
from mage._torch.computation_tree import build_computation_tree, incoming_edges
from mage._torch.masked_model import MaskedModel
from mage._torch.masking import union_of_copies
from mage.games.colouring import Colouring
from mage.games.participants import Participants
from mage.graph import packing


class StateTrees:
    """Builds computation trees of nodes in coalitions.

    Args:
        runner: The model.
        participants: Nodes in play.
        colouring: What tells nodes apart.
    """

    def __init__(self, runner: MaskedModel, participants: Participants, colouring: Colouring) -> None:
        self.runner = runner
        self.participants = participants
        self.colouring = colouring
        graph = participants.graph
        self._edge_index: Integers = graph.edge_index.cpu().numpy()
        self._incoming = incoming_edges(self._edge_index, graph.num_nodes)

    def __call__(self, coalitions: Bits, nodes: Integers) -> Data:
        """One graph: first the given nodes, one of each coalition, then all nodes that send messages to them."""
        colouring, graph = self.colouring, self.participants.graph
        present = self.present(coalitions).cpu().numpy()
        linked = np.ones_like(present) if colouring.keeps_edges else present
        colours = colouring.by_round(coalitions)
        tree = build_computation_tree(self._edge_index, self._incoming, linked, nodes, colours, colouring.with_degrees)
        rows = torch.from_numpy(tree.nodes).to(graph.device)
        features = {key: value[rows] for key, value in graph.node.items()}
        if colouring.keeps_edges:
            absent = torch.zeros(1, graph.num_nodes, dtype=torch.bool, device=graph.device)
            blank = self.runner.masking(graph, absent)[0].x[rows]
            shown = torch.from_numpy(present[tree.coalitions, tree.nodes]).to(graph.device)
            features["x"] = torch.where(shown.view(-1, *[1] * (blank.dim() - 1)), features["x"], blank)
        one_graph = torch.zeros(len(rows), dtype=torch.long, device=graph.device)
        data = union_of_copies(graph, 1, features, torch.from_numpy(tree.edges).to(graph.device), one_graph)
        data.edge_index = torch.from_numpy(tree.ends).to(graph.device)
        return data

    def present(self, coalitions: Bits) -> Tensor:
        """Nodes that are present in each coalition [q, n]."""
        return self.participants.present(packing.unpack(coalitions, self.participants.num_players))
