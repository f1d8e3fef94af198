"""Boundary nodes: they do not play and only keep the degrees of players right; a few can stand in for many.

At node level the ring of nodes just beyond the computation graph is kept where layers divide by degrees. What these
nodes are does not matter, only how many of them each player is joined to; so one stand-in may serve many players. A
neighbourhood of a thousand nodes then needs as many stand-ins as its best-connected border node has outer neighbours,
instead of thousands of nodes that every coalition would carry along.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from mage._torch.graph_input import GraphInput


def with_stand_ins(graph: GraphInput, num_players: int) -> Iterator[GraphInput]:
    """Thinner graphs with the same players, the thinnest first; whether the model minds is for the caller to see.

    Edges between players stay. Player p's r-th boundary neighbour becomes stand-in r, for all p; edges keep their
    features. Edges within the boundary go, and in the first graph also those that lead out of a player.

    Args:
        graph: Players first, then boundary nodes.
        num_players: How many players there are.
    """
    outside = graph.edge_index >= num_players
    border = outside[0] != outside[1]
    player = graph.edge_index.min(dim=0).values[border]
    beyond = graph.edge_index.max(dim=0).values[border]
    joined, position = torch.unique(player * graph.num_nodes + beyond, return_inverse=True)
    owner = joined // graph.num_nodes
    starts = torch.searchsorted(owner, owner)  # where the neighbours of the same player begin
    stand_in = num_players + (torch.arange(len(joined), device=owner.device) - starts)[position]
    ends = graph.edge_index.clone()
    ends[:, border] = torch.where(outside[:, border], stand_in, ends[:, border])
    count = int(stand_in.max()) + 1 if len(stand_in) else num_players
    for edges in (~outside[1], ~outside.all(dim=0)):
        yield GraphInput(
            num_nodes=count,
            edge_index=ends[:, edges],
            node={key: value[:count] for key, value in graph.node.items()},
            edge={key: value[edges] for key, value in graph.edge.items()},
            graph=graph.graph,
        )
