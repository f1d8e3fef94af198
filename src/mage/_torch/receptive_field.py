"""Which nodes can a node-level output depend on?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch_geometric.utils import k_hop_subgraph

from mage._torch.graph_input import GraphInput
from mage._torch.observation import message_passing_layers

_MOST_EXTRA_HOPS = 4


class LooksFurtherError(ValueError):
    """A node-level output depends on nodes further away than the model's message passing reaches."""


def computation_nodes(
    networks: Sequence[torch.nn.Module],
    graph: GraphInput,
    targets: list[int],
    counted_hops: int,
    num_hops: int | None,
    agrees: Callable[[Tensor, Tensor], bool],
    patient: bool = True,
) -> tuple[Tensor, Tensor]:
    """Players, and nodes around them that are kept but do not play.

    Players are the nodes within k hops of the targets. Layers that normalise by degree also feel the edges that leave
    this neighbourhood; where the model's answer on the players alone differs from that on the whole graph, one ring
    more is kept as a boundary, provided that what its nodes are does not matter.

    Args:
        networks: The networks behind the model, for the direction of their messages.
        graph: The whole graph.
        targets: Nodes whose output is explained.
        counted_hops: Hops that the model was seen to make.
        num_hops: The number of hops in the request.
        agrees: Whether the answer stays the same on these nodes, with features of the second argument's nodes blanked.
        patient: Whether to try a few hops more than the model was seen to make before giving up.

    Raises:
        LooksFurtherError: The answer depends on nodes further away.
    """
    if num_hops is not None and num_hops < 0:
        raise ValueError(f"num_hops must not be negative, got {num_hops}")
    first = counted_hops if num_hops is None else num_hops
    for hops in range(first, first + (_MOST_EXTRA_HOPS if num_hops is None and patient else 1)):
        reached = nodes_within(networks, graph, targets, hops)
        # Some layers send messages against the edges too.
        around = nodes_within(networks, graph, targets, hops, both_ways=True)
        for players, both_ways in (
            ((reached, False), (around, True)) if len(around) > len(reached) else ((reached, False),)
        ):
            nothing = players[:0]
            if len(players) == graph.num_nodes or agrees(players, nothing):
                return players, nothing
            ring = nodes_within(networks, graph, targets, hops + 1, both_ways)
            boundary = ring[~torch.isin(ring, players)]
            wider = torch.cat([players, boundary])
            if agrees(wider, nothing) and agrees(wider, boundary):
                return players, boundary
        if num_hops is not None:
            return reached, reached[:0]
    if counted_hops == 0:
        reason = "the model has no message-passing layers to count, and sees more than the target"
        raise LooksFurtherError(f"num_hops: {reason}; give num_hops, the number of hops that messages cross")
    raise LooksFurtherError(
        f"node: the model's answer changes when it sees only {first} hops around the target, so it looks further than "
        "its message-passing layers reach (global pooling, virtual nodes, …); pass num_hops= to cut it there anyway"
    )


def nodes_within(
    networks: Sequence[torch.nn.Module], graph: GraphInput, targets: list[int], hops: int, both_ways: bool = False
) -> Tensor:
    """Nodes whose messages reach one of the targets within some hops, ascending; against the edges too if asked."""
    flow = next((layer.flow for layer in message_passing_layers(networks)), "source_to_target")
    edges = graph.all_edges
    edges = torch.cat([edges, edges.flip(0)], dim=1) if both_ways else edges
    nodes: Tensor = k_hop_subgraph(targets, hops, edges, num_nodes=graph.num_nodes, flow=flow)[0]
    return nodes
