"""The best family of motifs by looking at all of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np

from mage._core.typing import Floats, Masks
from mage._kernels.jit import kernel
from mage.graph import PlayerGraph
from mage.indices import Interactions


@kernel
def _best_covers(worths: Floats, num_motifs: int, covers: Floats) -> None:
    """covers[k, T]: best total worth of at most k disjoint sets that together are exactly T."""
    for k in range(1, num_motifs + 1):
        for whole in range(1, len(worths)):
            covers[k, whole] = covers[k - 1, whole]
            lowest = whole & -whole
            part = whole
            while part > 0:
                if part & lowest and worths[part] > -np.inf:
                    total = worths[part] + covers[k - 1, whole ^ part]
                    covers[k, whole] = max(covers[k, whole], total)
                part = (part - 1) & whole


def exhaustive_objective(
    interactions: Interactions,
    graph: PlayerGraph,
    num_motifs: int,
    max_nodes: int,
    tau: float,
    *,
    objective: str = "paper",
    noise_floor: float = 0.0,
    include: Iterable[int] = (),
    exclude: Iterable[int] = (),
) -> float | None:
    """Largest objective over all families of connected sets (n ≤ 13 or so); None where no family holds ``include``.

    Pass ``PlayerGraph.complete(n)`` for motifs that need not be connected.
    """
    n = graph.num_players
    masks = ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(bool)
    worths = set_worths(interactions, masks, tau, objective, noise_floor)
    worths[~graph.is_connected(masks)] = -np.inf
    worths[masks[:, list(exclude)].any(axis=1)] = -np.inf
    covers = np.full((num_motifs + 1, 2**n), -np.inf)
    covers[:, 0] = 0.0
    _best_covers(worths, num_motifs, covers)
    allowed = (masks.sum(axis=1) <= max_nodes) & masks[:, list(include)].all(axis=1)
    best = covers[num_motifs][allowed].max(initial=-np.inf)
    return None if best == -np.inf else float(best)


def set_worths(interactions: Interactions, masks: Masks, tau: float, objective: str, noise_floor: float) -> Floats:
    """What each set [q, n] is worth as a motif, term by term as the objective is defined."""
    signed = objective in ("signed", "balanced")
    other = 0.25 if objective == "balanced" else 0.0
    floored = [term.value for term in interactions if not signed or len(term.players) == interactions.order]
    largest, smallest = max(floored, default=0.0), min(floored, default=0.0)
    speaking_for, speaking_against = np.zeros(len(masks)), np.zeros(len(masks))
    for players, value, _ in interactions:
        inside = masks[:, list(players)].all(axis=1)
        if signed and len(players) < interactions.order:
            speaking_for += tau * value * inside
            speaking_against -= (1 - tau) * value * inside
        elif value > noise_floor * max(largest, 0.0) or value < noise_floor * min(smallest, 0.0):
            speaking_for += (tau if value > 0 else max(1 - tau, other * tau)) * value * inside
            speaking_against -= (1 - tau if value < 0 else max(tau, other * (1 - tau))) * value * inside
    if tau == 1:
        return speaking_for
    return speaking_against if tau == 0 else np.maximum(speaking_for, speaking_against)


def random_interactions(graph: PlayerGraph, order: int, seed: int, *, rounded: bool = False) -> Interactions:
    """Independent normal values for all sets of at most ``order`` players; ``rounded`` makes ties and zeros."""
    n = graph.num_players
    count = sum(len(list(itertools.combinations(range(n), size))) for size in range(1, order + 1))
    values = np.random.default_rng(seed).normal(size=count)
    if rounded:
        values = np.round(values)
    return Interactions(
        index="myerson-taylor",
        order=order,
        graph=graph,
        values=values,
        std_error=np.zeros(count),
        exact=True,
        method="random",
        num_queries=0,
    )
