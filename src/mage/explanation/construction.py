"""Explanations by a set of nodes, for methods that choose nodes or score them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.checks import (
    checked_array,
    checked_list,
    checked_names,
    checked_numbers,
    checked_text,
    checked_whole,
    shortened,
)
from mage._core.typing import Floats, Integers
from mage.graph import PlayerGraph
from mage.indices import Interactions
from mage.motifs import Motif, MotifSet

if TYPE_CHECKING:
    from mage.games import Game


@dataclass(frozen=True)
class ModelOutput:
    """What a model said about its input, and which part of it is explained.

    Attributes:
        prediction: The model's output, a number per class.
        target: The class that is explained; None for regression.
        task: ``"multiclass"``, ``"binary"`` or ``"regression"``.
        output: What of the target is explained: logit, probability or log-probability.
        return_type: What the model returns: ``"raw"``, ``"probs"`` or ``"log_probs"``.
        level: ``"graph"``, ``"node"``, ``"edge"`` or ``"image"``.
        target_nodes: The explained node, or both ends of the explained link.
        num_queries: Calls of the model so far.
    """

    prediction: Floats
    target: int | None
    task: str
    output: str = "logit"
    return_type: str = "raw"
    level: str = "graph"
    target_nodes: tuple[int, ...] = ()
    num_queries: int = 0

    @classmethod
    def of(cls, game: Game) -> ModelOutput:
        """What a game knows of it."""
        return cls(**{field.name: getattr(game, field.name) for field in fields(cls)})


def explanation_fields(
    nodes: Iterable[int],
    game: Game | ModelOutput,
    data: Any,
    *,
    method: str,
    max_nodes: int | None,
    node_scores: Floats | None,
    num_queries: int | None,
    names: Sequence[str] | None,
) -> dict[str, Any]:
    """The fields of an explanation by a set of nodes; see :meth:`mage.Explanation.from_nodes`."""
    checked_text("method", method)
    if not all(hasattr(game, field.name) for field in fields(ModelOutput)):
        raise TypeError(f"game must be a game on a model or a ModelOutput, got {shortened(game)}")
    outcome = vars(game if isinstance(game, ModelOutput) else ModelOutput.of(game))
    queries = outcome["num_queries"] if num_queries is None else checked_whole("num_queries", num_queries, least=0)
    num_nodes, edge_index = _graph_of(data)
    node_names = checked_names(range(num_nodes) if names is None else names, num_nodes, "node")
    members = sorted(
        {checked_whole("nodes", node, least=0) for node in checked_list("nodes", nodes, "a list of nodes")}
    )
    if members and not 0 <= members[0] <= members[-1] < num_nodes:
        raise ValueError(f"nodes must lie in 0 … {num_nodes - 1}, got {members[0]} … {members[-1]}")
    graph = PlayerGraph(num_nodes, edge_index.T)
    scores = _node_scores(node_scores, members, num_nodes)
    return {
        **outcome,
        "num_queries": queries,
        "method": method,
        "motifs": _connected_parts(graph, members, scores, node_names, max_nodes),
        "interactions": Interactions(
            index=method,
            order=1,
            graph=graph,
            values=scores,
            std_error=np.full(num_nodes, np.nan),
            exact=False,
            method=method.lower(),
            num_queries=queries,
            baseline=0.0,
            names=node_names,
        ),
        "players": tuple((node,) for node in range(num_nodes)),
        "edge_index": edge_index,
        "num_nodes": num_nodes,
        "names": node_names,
    }


def _graph_of(data: Any) -> tuple[int, Integers]:
    """Number of nodes and edges of a graph, or an error that says what it lacks."""
    edges, count = getattr(data, "edge_index", None), getattr(data, "num_nodes", None)
    if edges is None or count is None:
        raise TypeError(f"data must have edge_index and num_nodes, as a PyG Data has, got {shortened(data)}")
    edge_index = checked_array("data.edge_index", edges, "whole numbers [2, e]")
    if edge_index.ndim != 2 or len(edge_index) != 2 or (edge_index.size and edge_index.dtype.kind not in "iu"):
        raise ValueError(f"data.edge_index must hold whole numbers [2, e], got {list(edge_index.shape)}")
    return checked_whole("data.num_nodes", count), edge_index.astype(np.int64)


def _node_scores(node_scores: Floats | None, members: list[int], num_nodes: int) -> Floats:
    if node_scores is not None:
        scores = checked_numbers("node_scores", node_scores)
        if scores.shape != (num_nodes,):
            raise ValueError(f"node_scores must have a number for each of {num_nodes} nodes, got {list(scores.shape)}")
        return scores
    scores = np.zeros(num_nodes)
    scores[members] = 1.0
    return scores


def _connected_parts(
    graph: PlayerGraph, members: list[int], scores: Floats, names: tuple[str, ...], max_nodes: int | None
) -> MotifSet:
    """The connected parts of the chosen nodes as motifs, strongest first; a score is the sum over the nodes."""
    parts = graph.components(members) if members else []
    motifs = [Motif(tuple(part), float(scores[part].sum()), tuple(names[v] for v in part)) for part in parts]
    motifs.sort(key=lambda motif: (-abs(motif.score), motif.nodes))
    return MotifSet(
        motifs=tuple(motifs),
        objective=float(sum(abs(motif.score) for motif in motifs)),
        bound=float("inf"),
        optimal=False,
        num_nodes=graph.num_players,
        num_motifs=len(motifs),
        max_nodes=len(members) if max_nodes is None else max_nodes,
        tau=1.0,
        connected=True,
        solver="none",
        work=0,
    )
