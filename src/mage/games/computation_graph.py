"""The part of a graph that an output can depend on, and the model's output on the unmasked graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from mage._torch.boundary_nodes import with_stand_ins
from mage._torch.evaluation import agree
from mage._torch.forward import raised_by_model
from mage._torch.graph_input import GraphInput, positions_among
from mage._torch.masked_model import MaskedModel, bytes_per_copy
from mage._torch.observation import observing
from mage._torch.receptive_field import LooksFurtherError, computation_nodes, nodes_within
from mage.games.participants import Participants

_SMALL_BOUNDARY = 32  # nodes that are not worth thinning
_PROBES = 4  # coalitions on which a thinned boundary is tried
_ROUNDINGS = 1000  # how often an output may be rounded where the same nodes come in another order
_SHARES = (0.9, 0.7, 0.5, 0.3)  # of the nodes, with which it is tried whether those outside matter
_WIDER = 2  # hops around the computation graph on which a large graph's prediction is computed


class ComputationGraph(NamedTuple):
    """The nodes that an output can depend on, and the model's output on the unmasked graph.

    Attributes:
        participants: The nodes that the output can depend on, each a player; at node level also boundary nodes, which
            are always present and only keep the degrees of players right.
        output: The model's output [1, C].
        num_hops: Hops of message passing, counted as the model ran.
        seen_nodes: How many nodes the output was computed from.
        seen_hops: How far around the targets these are; None for the whole graph.
        last_step: The torch function that made the output, such as ``softmax``; empty where it was not seen.
    """

    participants: Participants
    output: Tensor
    num_hops: int
    seen_nodes: int
    seen_hops: int | None
    last_step: str


def computation_graph(
    runner: MaskedModel,
    whole: GraphInput,
    targets: Tensor,
    num_hops: int | None,
    memory_cap: int,
    is_global: bool = False,
) -> ComputationGraph:
    """Run the unmasked graph once and find the nodes that the output can depend on.

    Args:
        runner: The model.
        whole: The input graph.
        targets: The explained node or both ends of the explained link; empty for the whole graph.
        num_hops: The number of hops in the request.
        memory_cap: Bytes that one copy may take. A node or link of a larger graph is explained from the nodes within
            two hops more than messages travel, and the model never runs on the whole graph.
        is_global: Whether the output was seen to depend on nodes that no messages come from; then no part of the graph
            stands for all of it.
    """
    everything = torch.arange(whole.num_nodes, device=whole.device)
    nearby = everything if runner.level == "graph" else _nodes_to_run(runner, whole, targets, num_hops, memory_cap)
    while True:
        participants = Participants.of(whole, targets, nearby)
        with observing(runner.networks) as run:
            output = _first_output(runner, participants)
            last_step = run.last_step(output)
        runner.ranks_nodes = run.ranks_nodes and runner.level != "graph"
        counted, partial = run.hops, len(nearby) < whole.num_nodes
        seen_hops = max(counted, num_hops or 0) + _WIDER if partial else None
        if runner.level == "graph":
            return ComputationGraph(participants, output, counted, len(nearby), seen_hops, last_step)
        try:
            players, boundary = computation_nodes(
                runner.networks,
                participants.graph,
                participants.target_rows.tolist(),
                counted,
                num_hops,
                _never if is_global else _agreement(runner, participants, output, careful=run.by_hand or not run.hops),
                patient=not partial,
            )
        except LooksFurtherError:
            if not partial:
                raise
            # Only a run on the whole graph shows how far the output depends on nodes.
            nearby = everything
            continue
        participants = Participants.of(whole, targets, nearby[torch.cat([players, boundary])])
        column = participants.column.clone()
        column[len(players) :] = len(players)
        participants = replace(participants, column=column, num_players=len(players))
        if len(boundary) > _SMALL_BOUNDARY and not whole.structures and runner.typed is None:
            participants = _thinned(runner, participants)
        return ComputationGraph(participants, output, counted, len(nearby), seen_hops, last_step)


def checked_batches(runner: MaskedModel, computation: ComputationGraph) -> Tensor:
    """The outputs for all nodes and for both halves of the players [3, C]; see ``check_batches`` of the model."""
    participants = computation.participants
    free = participants.column < participants.num_players
    free[participants.target_rows] = False
    return runner.check_batches(participants.graph, free, participants.target_rows, computation.output)


def _nodes_to_run(
    runner: MaskedModel, whole: GraphInput, targets: Tensor, num_hops: int | None, memory_cap: int
) -> Tensor:
    """All nodes; of a large graph only those within two hops more than messages travel."""
    everything = torch.arange(whole.num_nodes, device=whole.device)
    if bytes_per_copy(runner.model, whole) <= memory_cap:
        return everything
    near = Participants.of(whole, targets, nodes_within(runner.networks, whole, targets.tolist(), 1))
    with observing(runner.networks) as run:
        _first_output(runner, near)
    if not run.hops and num_hops is None:
        return everything
    return nodes_within(runner.networks, whole, targets.tolist(), max(run.hops, num_hops or 0) + _WIDER)


def _first_output(runner: MaskedModel, participants: Participants) -> Tensor:
    """The model's output on all nodes; if the model fails, the error says so."""
    try:
        return runner.raw(participants.graph, participants.graph.full_mask, participants.target_rows)
    except Exception as error:
        if not raised_by_model(error):
            raise
        reason = (str(error).strip() or "no message").splitlines()[0][:200]
        raise ValueError(
            f"model: it fails on data itself, before anything is masked: {type(error).__name__}: {reason}; pass "
            "forward=call(model, data) if it is called in a way of its own"
        ) from error


def _never(_nodes: Tensor, _blank: Tensor) -> bool:
    return False


def _agreement(
    runner: MaskedModel, participants: Participants, full: Tensor, careful: bool
) -> Callable[[Tensor, Tensor], bool]:
    """A function that tells whether the targets' output stays the same on some of the nodes, some of them blanked.

    Args:
        runner: The model.
        participants: All nodes.
        full: The output on all nodes.
        careful: Also compare without some nodes, and without their features. This is for layers written by hand: a
            maximum may hide the effect of distant nodes as long as all nodes are present.
    """
    tolerance = _ROUNDINGS * runner.resolution(full)
    targets, everything = participants.target_rows, torch.arange(participants.graph.num_nodes, device=full.device)

    def output(nodes: Tensor, blank: Tensor, whole: GraphInput = participants.graph) -> Tensor:
        graph = whole.restricted_to(nodes).blanked(torch.isin(nodes, blank))
        return runner.raw(graph, graph.full_mask, positions_among(nodes, targets))

    def probes(nodes: Tensor) -> Iterator[tuple[GraphInput, Tensor]]:
        """Graphs with features of this graph's and others, and some of the nodes each."""
        generator = torch.Generator().manual_seed(0)
        # With other features, others are the largest.
        others = [_reassigned(participants.graph, generator) for _ in range(len(_SHARES) + 1)]
        for graph, share in zip([participants.graph] * len(_SHARES) + others, (*_SHARES, 1.0, *_SHARES), strict=True):
            is_kept = (torch.rand(len(nodes), generator=generator) < share).to(nodes.device)
            yield graph, nodes[is_kept | torch.isin(nodes, targets)]

    def outside_matters(nodes: Tensor) -> bool:
        outside, nothing = everything[~torch.isin(everything, nodes)], nodes[:0]
        trials = [(participants.graph, nodes, nodes), *((graph, sample, nothing) for graph, sample in probes(nodes))]
        return any(
            not agree(output(sample, blank, graph), output(torch.cat([sample, outside]), blank, graph), tolerance)
            for graph, sample, blank in trials
        )

    def features_matter(nodes: Tensor, blank: Tensor) -> bool:
        inside = nodes[~torch.isin(nodes, blank)]
        samples = ((graph, torch.cat([sample, blank])) for graph, sample in probes(inside))
        return any(
            not agree(output(sample, blank, graph), output(sample, blank[:0], graph), tolerance)
            for graph, sample in samples
        )

    def agrees(nodes: Tensor, blank: Tensor) -> bool:
        if not agree(output(nodes, blank), full, tolerance):
            return False
        try:
            return not careful or not (features_matter(nodes, blank) if len(blank) else outside_matters(nodes))
        except Exception as error:
            if raised_by_model(error):
                return True  # the model fails without some nodes; the first coalitions will raise the same error
            raise

    return agrees


def _reassigned(graph: GraphInput, generator: torch.Generator) -> GraphInput:
    """The graph whose nodes have features of other nodes, of another size and sign where these are no whole numbers."""
    order = torch.randperm(graph.num_nodes, generator=generator).to(graph.device)
    features = graph.node["x"][order] if "x" in graph.node else None
    if features is None:
        return graph
    if features.is_floating_point():
        features = features * torch.randn(features.shape, generator=generator).to(features)
    return replace(graph, node={**graph.node, "x": features})


def _thinned(runner: MaskedModel, participants: Participants) -> Participants:
    """Replace the boundary by a few stand-ins, if the model gives the same outputs on a few coalitions."""
    graph, count = participants.graph, participants.num_players
    rows = participants.target_rows
    probes = torch.ones(_PROBES, count, dtype=torch.bool, device=graph.device)
    probes[1:] = torch.rand(_PROBES - 1, count, generator=torch.Generator().manual_seed(0)).to(probes.device) < 0.8
    probes[:, rows] = True

    def outputs(candidate: GraphInput) -> Tensor:
        always = torch.ones(_PROBES, candidate.num_nodes - count, dtype=torch.bool, device=probes.device)
        masks = torch.cat([probes, always], dim=1)
        return torch.cat([runner.raw(candidate, mask[None], rows) for mask in masks])

    expected = outputs(graph)
    for thinner in with_stand_ins(graph, count):
        if agree(outputs(thinner), expected, _ROUNDINGS * runner.resolution(expected)):
            return participants.with_boundary(thinner)
    return participants
