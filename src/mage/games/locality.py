"""Which nodes can a node-level output depend on?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import k_hop_subgraph

from mage.games.graph_input import GraphInput


def message_passing_depth(model: Any) -> int:
    """Number of message-passing layers of a model."""
    modules = model.modules() if isinstance(model, torch.nn.Module) else ()
    return sum(isinstance(module, MessagePassing) for module in modules)


def computation_nodes(
    model: Any,
    graph: GraphInput,
    targets: list[int],
    num_hops: int | None,
    agrees: Callable[[Tensor], bool],
) -> tuple[Tensor, Tensor]:
    """Players, and nodes around them that are kept but do not play.

    Players are the nodes within k hops of the targets. Layers that normalise by degree also feel the edges that leave
    this neighbourhood; where the model's answer on the players alone differs from that on the whole graph, one ring
    more is kept as scenery.
    """
    hops = message_passing_depth(model) if num_hops is None else num_hops
    if num_hops is None and hops == 0:
        raise ValueError("num_hops: the model has no message-passing layers to count; say how far a node can see")
    if hops < 0:
        raise ValueError(f"num_hops must not be negative, got {num_hops}")
    players = _within(graph, targets, hops)
    nothing = players[:0]
    if len(players) == graph.num_nodes or agrees(players):
        return players, nothing
    ring = _within(graph, targets, hops + 1)
    scenery = ring[~torch.isin(ring, players)]
    if agrees(torch.cat([players, scenery])):
        return players, scenery
    if num_hops is not None:
        return players, nothing
    raise ValueError(
        f"node: the model's answer changes when it sees only {hops} hops around the target, so it looks further than "
        "its message-passing layers reach (global pooling, virtual nodes, …); pass num_hops= to cut it there anyway"
    )


def _within(graph: GraphInput, targets: list[int], hops: int) -> Tensor:
    nodes: Tensor = k_hop_subgraph(targets, hops, graph.edge_index, num_nodes=graph.num_nodes)[0]
    return nodes
