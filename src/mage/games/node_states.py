"""States of nodes: their embeddings before the pool of a message-passing model, computed once for each colour."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from mage._core.typing import Bits, Integers
from mage._torch.pool_and_head import PoolAndHead
from mage.games.memo import CoalitionTable
from mage.games.state_trees import StateTrees

Projection = Callable[[Tensor], Tensor]

_ROOTS_AT_ONCE = 1 << 12
_TREE_WORK_SHARE = 0.75  # nodes of trees for each node of whole graphs; a node of a tree takes longer to build


class NodeStates:
    """The embeddings of nodes in coalitions, one for each colour.

    Args:
        trees: Builds the computation trees that the model is run on.
        pool_and_head: The model's pool and head.
    """

    def __init__(self, trees: StateTrees, pool_and_head: PoolAndHead) -> None:
        self._trees = trees
        self._pool_and_head = pool_and_head
        self._table = CoalitionTable(1)
        self._parts: list[Tensor] = []
        self._projection: Projection | None = None
        self._isolated_rows: Integers | None = None
        if not trees.runner.removes and not trees.colouring.keeps_edges:
            self._isolated_rows = self._add_isolated_states()

    def __len__(self) -> int:
        return self._table.size

    @property
    def embeddings(self) -> Tensor:
        """The embeddings [states, width], or their projections, in the order in which they were met."""
        if len(self._parts) > 1:
            self._parts = [torch.cat(self._parts)]
        return self._parts[0]

    def project(self, projected: Tensor, projection: Projection) -> None:
        """Replace the embeddings by projections, since the embeddings of many states take much memory.

        Args:
            projected: The projections of all embeddings so far.
            projection: The function that projects later embeddings.
        """
        self._parts = [projected]
        self._projection = projection

    def rows(self, coalitions: Bits) -> Integers:
        """The state of each node in each coalition [q, n], as a row of :attr:`embeddings`; −1 for removed nodes.

        New states are computed, however many there are.
        """
        return cast("Integers", self._rows(coalitions, math.inf))

    def rows_if_cheap(self, coalitions: Bits) -> Integers | None:
        """The same, or None where the trees of the new states are more work than the coalitions' graphs."""
        return self._rows(coalitions, _TREE_WORK_SHARE * len(coalitions) * self._trees.participants.graph.num_nodes)

    def _rows(self, coalitions: Bits, most_nodes: float) -> Integers | None:
        colours = self._trees.colouring.of_nodes(coalitions)
        there = colours != 0
        rows = self._table.find(colours.reshape(-1, 1)).reshape(colours.shape)
        unknown = np.flatnonzero(there & (rows < 0))
        if len(unknown):
            fresh = unknown[np.unique(colours.ravel()[unknown], return_index=True)[1]]
            coalition, node = np.unravel_index(fresh, rows.shape)
            parts = []
            for start in range(0, len(fresh), _ROOTS_AT_ONCE):
                places, roots = coalition[start : start + _ROOTS_AT_ONCE], node[start : start + _ROOTS_AT_ONCE]
                tree = self._trees(coalitions[places], roots)
                # Colours are sorted hashes, so the first tree is a random sample: the others have about its size.
                if start == 0 and len(tree.batch) * len(fresh) > most_nodes * len(roots):
                    return None
                parts.append(self._embed_new(tree, coalitions, places, roots))
            # Colours are added last: an interrupted run must leave no colour without its embedding.
            tables = [self.embeddings[: self._table.size]] if self._parts else []
            if self._projection is not None:
                parts = [self._projection(torch.cat(parts))]
            self._parts = [torch.cat([*tables, *parts])]
            self._table.intern(colours.ravel()[fresh][:, None])
            rows.ravel()[unknown] = self._table.find(colours.ravel()[unknown][:, None])
        return rows if self._isolated_rows is None else np.where(there, rows, self._isolated_rows)

    def embed(self, coalitions: Bits, nodes: Integers) -> Tensor:
        """The embedding of one node in each coalition [q, width], from their computation trees."""
        return self._run(self._trees(coalitions, nodes))[: len(nodes)]

    def _embed_new(self, tree: Data, coalitions: Bits, rows: Integers, nodes: Integers) -> Tensor:
        """Embeddings of one node in each of some coalitions: from trees, or from whole graphs if that is less work."""
        distinct, rank = np.unique(rows, return_inverse=True)
        if len(tree.batch) <= len(distinct) * self._trees.participants.graph.num_nodes:
            return self._run(tree)[: len(nodes)]
        embeddings = self.embed_all(coalitions[distinct])
        return embeddings[torch.from_numpy(rank), torch.from_numpy(nodes)]

    def embed_all(self, coalitions: Bits) -> Tensor:
        """The embeddings of all nodes in each coalition [q, n, width], from the masked graphs; zero where removed."""
        runner, graph = self._trees.runner, self._trees.participants.graph
        present = self._trees.present(coalitions)
        parts = []
        for portion in torch.split(present, runner.portions(present)):
            union, place = runner.masking(graph, portion)
            runner.num_runs += len(portion)
            embeddings = self._pool_and_head.embeddings(union, len(portion))[0]
            shown = portion | (not runner.removes)
            parts.append(torch.where(shown[..., None], embeddings[place.clamp(min=0)], 0))
        return torch.cat(parts)

    def _run(self, data: Data) -> Tensor:
        """The embeddings of all nodes of a tree."""
        self._trees.runner.num_runs += -(-len(data.batch) // self._trees.participants.graph.num_nodes)
        return self._pool_and_head.embeddings(data, 1)[0]

    def _add_isolated_states(self) -> Integers:
        """Compute the states of nodes without edges, which absent nodes have where the masking keeps them."""
        runner, graph = self._trees.runner, self._trees.participants.graph
        absent = torch.zeros(1, graph.num_nodes, dtype=torch.bool, device=graph.device)
        runner.num_runs += 1
        embeddings = self._pool_and_head.embeddings(runner.masking(graph, absent)[0], 1)[0]
        rows = self._table.intern(self._trees.colouring.of_isolated_nodes()[:, None])
        first = np.unique(rows, return_index=True)[1]
        self._parts.append(embeddings[torch.from_numpy(first).to(graph.device)])
        return rows
