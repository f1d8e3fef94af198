"""Which nodes can a node-level output depend on?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import k_hop_subgraph

from mage._torch.graph_input import GraphInput

_MOST_EXTRA_HOPS = 4


class LooksFurtherError(ValueError):
    """A node-level output depends on nodes further away than the model's message passing reaches."""


def _layers(model: Any) -> list[MessagePassing]:
    modules = model.modules() if isinstance(model, torch.nn.Module) else ()
    return [module for module in modules if isinstance(module, MessagePassing)]


@contextmanager
def counting_hops(model: Any) -> Iterator[list[int]]:
    """Counts the hops of message passing while the model runs: a layer called twice counts twice, K-hop layers K.

    Layers of PyG that go several steps by themselves say so as ``K`` or ``num_layers``. Other threads may run the same
    model meanwhile; their hops do not count.
    """
    hops: list[int] = []
    here = threading.get_ident()

    def note(module: Any, _inputs: Any, _output: Any) -> None:
        if threading.get_ident() != here:
            return
        said = (getattr(module, name, 1) for name in ("K", "num_layers"))
        hops.append(max(steps if isinstance(steps, int) and steps > 0 else 1 for steps in said))

    handles = [layer.register_forward_hook(note) for layer in _layers(model)]
    try:
        yield hops
    finally:
        for handle in handles:
            handle.remove()


def computation_nodes(
    model: Any,
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
    more is kept as scenery, provided that what its nodes are does not matter.

    Args:
        model: The model, for the direction of its messages.
        graph: The whole graph.
        targets: Nodes whose output is explained.
        counted_hops: Hops that the model was seen to make.
        num_hops: Hops that the user asked for.
        agrees: Whether the answer stays the same on these nodes, with features of the second argument's nodes blanked.
        patient: Whether to try a few hops more than the model was seen to make before giving up.

    Raises:
        LooksFurtherError: The answer depends on nodes further away.
    """
    if num_hops is None and counted_hops == 0:
        raise ValueError("num_hops: the model has no message-passing layers to count; say how far a node can see")
    if num_hops is not None and num_hops < 0:
        raise ValueError(f"num_hops must not be negative, got {num_hops}")
    first = counted_hops if num_hops is None else num_hops
    for hops in range(first, first + (_MOST_EXTRA_HOPS if num_hops is None and patient else 1)):
        players = nodes_within(model, graph, targets, hops)
        nothing = players[:0]
        if len(players) == graph.num_nodes or agrees(players, nothing):
            return players, nothing
        ring = nodes_within(model, graph, targets, hops + 1)
        scenery = ring[~torch.isin(ring, players)]
        around = torch.cat([players, scenery])
        if agrees(around, nothing) and agrees(around, scenery):
            return players, scenery
        if num_hops is not None:
            return players, nothing
    raise LooksFurtherError(
        f"node: the model's answer changes when it sees only {first} hops around the target, so it looks further than "
        "its message-passing layers reach (global pooling, virtual nodes, …); pass num_hops= to cut it there anyway"
    )


def nodes_within(model: Any, graph: GraphInput, targets: list[int], hops: int) -> Tensor:
    """Nodes whose messages reach one of the targets within some hops, ascending."""
    flow = next((layer.flow for layer in _layers(model)), "source_to_target")
    nodes: Tensor = k_hop_subgraph(targets, hops, graph.edge_index, num_nodes=graph.num_nodes, flow=flow)[0]
    return nodes
