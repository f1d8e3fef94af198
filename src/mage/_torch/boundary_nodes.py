"""Boundary nodes: always present, not players; they only keep the degrees of players right, so a few can replace many.

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
    """Graphs with the same players and fewer boundary nodes, the smallest first; the caller checks the model's output.

    Edges between players stay. Player p's r-th boundary neighbour becomes stand-in r, for all p; edges keep their
    features. Edges within the boundary go, and in the first graph also those that lead out of a player.

    Args:
        graph: Players first, then boundary nodes.
        num_players: How many players there are.
    """
    outside = graph.edge_index >= num_players
    border = outside[0] != outside[1]
    player = graph.edge_index.min(dim=0).values[border]
    boundary_node = graph.edge_index.max(dim=0).values[border]
    border_pairs, position = torch.unique(player * graph.num_nodes + boundary_node, return_inverse=True)
    player_of_pair = border_pairs // graph.num_nodes
    starts = torch.searchsorted(player_of_pair, player_of_pair)  # where the neighbours of the same player begin
    stand_in = num_players + (torch.arange(len(border_pairs), device=player_of_pair.device) - starts)[position]
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
