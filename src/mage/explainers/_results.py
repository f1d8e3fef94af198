"""From scores of nodes or edges, or from a set of nodes, to an explanation of at most M nodes."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mage._core.typing import Floats
from mage.explanation import Explanation
from mage.graph import PlayerGraph
from mage.indices import Interactions
from mage.motifs import Motif, MotifSet

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mage.games import ModelGame


def budget_of(max_nodes: int | float, num_nodes: int) -> int:
    """M as a count: a count is itself, a share below 1 is of the nodes; at least 1, at most all."""
    if isinstance(max_nodes, bool) or max_nodes <= 0:
        raise ValueError(f"max_nodes must be a count of at least 1 or a share between 0 and 1, got {max_nodes}")
    # The same rounding as in the motif search: 0.29 of 100 nodes are 29, whatever floating point makes of it.
    count = int(max_nodes) if max_nodes >= 1 else int(max_nodes * num_nodes + 1e-9)
    return max(1, min(count, num_nodes))


def nodes_of_best_edges(edge_index: NDArray[np.integer], scores: Floats, max_nodes: int) -> list[int]:
    """The nodes of the best edges, as many as the budget holds.

    Edges are taken by falling score, of equal ones the earlier first; loops and edges that score 0 are left out.
    An edge whose new nodes do not fit any more is passed over, so there are never more than ``max_nodes``. (The paper's
    released pipeline takes such an edge when one place is left, and may end with M + 1 nodes.)
    """
    chosen: dict[int, None] = {}
    for column in np.argsort(-scores, kind="stable"):
        first, second = (int(node) for node in edge_index[:, column])
        if first == second or scores[column] == 0:
            continue
        new = [node for node in (first, second) if node not in chosen]
        if len(chosen) + len(new) <= max_nodes:
            chosen.update(dict.fromkeys(new))
    return sorted(chosen)


def best_nodes(scores: Floats, max_nodes: int) -> list[int]:
    """The nodes with the highest scores, of equal ones the earlier first; nodes that score exactly 0 are left out."""
    order = np.argsort(-scores, kind="stable")[:max_nodes]
    return sorted(int(node) for node in order if scores[node] != 0)


def edges_between(edge_index: NDArray[np.integer], nodes: Iterable[int], num_nodes: int) -> Floats:
    """1 for edges with both ends among the nodes, else 0."""
    inside = np.zeros(num_nodes, dtype=bool)
    inside[list(nodes)] = True
    return np.asarray(inside[edge_index[0]] & inside[edge_index[1]], dtype=np.float64)


def explanation_of(
    title: str,
    game: ModelGame,
    data: Data,
    nodes: Iterable[int],
    *,
    started: float,
    max_nodes: int,
    masking: str = "",
    node_scores: Floats | None = None,
    edge_scores: Floats | None = None,
    num_queries: int | None = None,
    extra: dict[str, Any] | None = None,
) -> Explanation:
    """An explanation by a set of nodes, whose motifs are its connected parts.

    Args:
        title: Name of the method.
        game: The game on the graph, which knows prediction, target and queries.
        data: The graph.
        nodes: The chosen nodes.
        started: When explaining began, by ``time.perf_counter``.
        max_nodes: M as a count.
        masking: What absence of a node meant, where the method asked what coalitions are worth.
        node_scores: A score for each node; by default 1 for the chosen ones. A motif's score is the sum over its nodes.
        edge_scores: A score for each column of ``edge_index``, where the method scores edges.
        num_queries: Graphs the model was run on; by default those of the game.
        extra: More to keep, as plain values.
    """
    num_nodes = int(data.num_nodes)
    chosen = sorted({int(node) for node in nodes})
    edge_index = data.edge_index.cpu().numpy()
    if node_scores is None:
        node_scores = np.zeros(num_nodes)
        node_scores[chosen] = 1.0
    graph = PlayerGraph(num_nodes, edge_index.T)
    names = tuple(str(node) for node in range(num_nodes))
    parts = graph.components(chosen) if chosen else []
    motifs = [Motif(tuple(part), float(node_scores[part].sum()), tuple(names[v] for v in part)) for part in parts]
    motifs.sort(key=lambda motif: (-abs(motif.score), motif.nodes))
    objective = float(sum(abs(motif.score) for motif in motifs))
    found = MotifSet(
        motifs=tuple(motifs),
        objective=objective,
        bound=float("inf"),
        optimal=False,
        num_nodes=num_nodes,
        num_motifs=len(motifs),
        max_nodes=max_nodes,
        tau=1.0,
        connected=True,
        solver="none",
        work=0,
    )
    scores = Interactions(
        index=title,
        order=1,
        graph=graph,
        values=np.asarray(node_scores, dtype=np.float64),
        std_error=np.full(num_nodes, np.nan),
        exact=False,
        method=title.lower(),
        num_queries=game.num_queries if num_queries is None else num_queries,
        baseline=0.0,
    )
    kept = {"method": title, "return_type": game.readout.return_type, **(extra or {})}
    if edge_scores is not None:
        kept["edge_scores"] = np.asarray(edge_scores, dtype=np.float64).tolist()
    if isinstance(data.get("smiles"), str):
        kept["smiles"] = data.smiles
    return Explanation(
        motifs=found,
        interactions=scores,
        prediction=game.prediction,
        target=game.target,
        players=tuple((node,) for node in range(num_nodes)),
        edge_index=edge_index,
        num_nodes=num_nodes,
        names=names,
        task=game.readout.task,
        output=game.readout.output,
        masking=masking,
        level=game.level,
        num_queries=scores.num_queries,
        seconds=time.perf_counter() - started,
        extra=kept,
    )
