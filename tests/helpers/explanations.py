"""Explanations without a model behind them: pages need only interactions and a graph."""

from __future__ import annotations

import networkx as nx
import numpy as np

import mage
from mage.explanation import Explanation
from mage.graph import PlayerGraph
from mage.indices import Interactions
from mage.report.pictures import attach_image


def made_up(
    graph: nx.Graph, seed: int = 0, exact: bool = True, noise_floor: float = 0.0, names=None, extra=None, **search
) -> Explanation:
    """Interactions that fade with distance, positive in one part of the graph and negative in another."""
    count = graph.number_of_nodes()
    generator = np.random.default_rng(seed)
    distance = np.full((count, count), np.inf)
    for source, reached in nx.all_pairs_shortest_path_length(graph, cutoff=3):
        for target, steps in reached.items():
            distance[source, target] = steps
    mood = generator.normal(size=count)
    matrix = np.exp2(-distance) * (mood[:, None] + mood[None]) + 0.05 * generator.normal(size=(count, count))
    matrix[~np.isfinite(distance)] = 0.0
    matrix = (matrix + matrix.T) / 2
    values = np.concatenate([np.diag(matrix), matrix[np.triu_indices(count, 1)]])
    players = PlayerGraph(count, list(graph.edges()))
    interactions = Interactions(
        index="myerson-taylor",
        order=2,
        graph=players,
        values=values,
        std_error=np.zeros(len(values)) if exact else 0.05 * np.abs(values) + 0.01,
        exact=exact,
        method="exact" if exact else "permutation",
        num_queries=1000,
        num_permutations=0 if exact else 100,
        names=tuple(names) if names is not None else (),
    )
    motifs = mage.find_motifs(
        interactions, noise_floor=noise_floor, **{"num_motifs": 2, "max_nodes": 6, "tau": 0.5, **search}
    )
    return Explanation(
        motifs=motifs,
        interactions=interactions,
        prediction=np.array([-1.0, 1.5]),
        target=1,
        players=tuple((node,) for node in range(count)),
        edge_index=np.array(list(graph.edges()), dtype=np.int64).reshape(-1, 2).T,
        num_nodes=count,
        names=tuple(names) if names is not None else tuple(str(node) for node in range(count)),
        task="multiclass",
        output="logit",
        masking="remove",
        level="graph",
        num_queries=1000,
        seconds=0.1,
        extra=extra or {},
    )


def sentence() -> Explanation:
    """A sentence with its tree."""
    words = [
        "the",
        "film",
        "is",
        "not",
        "a",
        "bad",
        "one",
        ",",
        "but",
        "its",
        "<b>ending</b>",
        "drags",
        "on",
        "till",
        "end",
    ]
    tree = nx.Graph(
        [(0, 1), (1, 2), (2, 3), (2, 6), (4, 6), (5, 6), (2, 7), (2, 8), (9, 10), (10, 11), (2, 11), (11, 12), (11, 13)]
    )
    tree.add_edge(13, 14)
    return made_up(ordered(tree), exact=False, names=words, extra={"words": words}, max_nodes=7)


def image(side: int = 6, pixels: int = 8) -> Explanation:
    """Square patches of an image of a disk."""
    graph = ordered(nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side)))
    labels = np.arange(side * side).reshape(side, side).repeat(pixels, 0).repeat(pixels, 1)
    across = np.linspace(-1, 1, side * pixels)
    disk = np.clip(1.4 - 1.6 * np.hypot(across[:, None], across[None]), 0, 1)
    return attach_image(made_up(graph, max_nodes=9), np.stack([disk, 0.7 * disk, 1 - disk], axis=2), labels)


def ordered(graph: nx.Graph) -> nx.Graph:
    """The same graph with its nodes listed by number."""
    result = nx.Graph()
    result.add_nodes_from(sorted(graph.nodes()))
    result.add_edges_from(graph.edges())
    return result
