"""Which coalitions to query."""

from __future__ import annotations

import numpy as np

from mage._core.typing import Bits, Floats, Integers, Masks
from mage.graph import PlayerGraph, packing
from mage.indices.estimators.surrogate.population import Population

_BINS = 8
_PRIOR_WEIGHT = 4.0
_LEAST_SHARE = 0.1


def essential(population: Population, most: int) -> Integers:
    """Rows that are always queried: those of the boundary, single players, pairs, whole and near-whole components.

    All of the boundary are taken, for the index has that part exactly; of the others those that weigh most, up to
    ``most``.
    """
    sizes = packing.sizes(population.members)
    needed = population.at_boundary
    component = _component_sizes(population.graph, population.members)
    near_ends = (sizes <= 2) | (component - sizes <= 1)
    influence = population.influence()
    others = np.flatnonzero(near_ends & ~needed)
    room = max(0, most - int(needed.sum()))
    best = others[np.argsort(-influence[others], kind="stable")[:room]]
    return np.sort(np.concatenate([np.flatnonzero(needed), best]))


def _component_sizes(graph: PlayerGraph, members: Bits) -> Integers:
    """The size of the graph's component that each coalition lies in."""
    all_players = np.ones((1, graph.num_players), dtype=np.bool_)
    labels = graph.component_labels(all_players)[0]
    sizes = np.bincount(labels)
    result = np.zeros(len(members), dtype=np.int64)
    for label, size in enumerate(sizes):
        inside = packing.pack((labels == label)[None])[0]
        result[(members & inside).any(axis=1)] = size
    return result


def inclusion(importance: Floats, count: int) -> Floats:
    """Chances π ∝ importance of being drawn, at most 1 each, that add up to ``count``."""
    chances = np.zeros(len(importance))
    if count >= len(importance):
        return np.ones(len(importance))
    certain: Masks = np.zeros(len(importance), dtype=np.bool_)
    while True:
        left = importance[~certain].sum()
        scale = (count - certain.sum()) / left if left > 0 else 0.0
        chances = np.where(certain, 1.0, importance * scale)
        more = (chances >= 1.0) & ~certain
        if not more.any():
            return chances
        certain |= more


def draw(chances: Floats, generator: np.random.Generator) -> Integers:
    """Draw so that each row comes with exactly its chance, and as many rows as the chances add up to."""
    order = generator.permutation(len(chances))
    ends = np.cumsum(chances[order])
    # Rounding must neither lose the last row nor add one.
    ends *= round(float(ends[-1])) / ends[-1] if len(ends) and ends[-1] > 0 else 1.0
    marks = np.floor(ends + generator.random())
    return np.sort(order[np.diff(marks, prepend=0.0) >= 1.0])


class Spread:
    """σ(R): how large an error the regressor makes on coalitions like R, by their size."""

    def __init__(self, sizes: Integers, squares: Floats, weights: Floats) -> None:
        """Learn from the squared errors on coalitions of these sizes, weighted by how many others each stands for."""
        overall = float(np.average(squares, weights=weights)) if len(squares) else 1.0
        edges = np.unique(np.quantile(sizes, np.linspace(0, 1, _BINS + 1)[1:-1])) if len(sizes) else np.zeros(0)
        where = np.searchsorted(edges, sizes, side="left")
        total = np.bincount(where, weights * squares, minlength=len(edges) + 1)
        weight = np.bincount(where, weights, minlength=len(edges) + 1)
        number = np.bincount(where, minlength=len(edges) + 1)
        means = np.divide(total, weight, out=np.full(len(weight), overall), where=weight > 0)
        shrunken = (number * means + _PRIOR_WEIGHT * overall) / (number + _PRIOR_WEIGHT)
        self._edges = edges
        self._deviations = np.sqrt(np.maximum(shrunken, _LEAST_SHARE**2 * overall))

    def __call__(self, sizes: Integers) -> Floats:
        """σ of coalitions of these sizes."""
        return np.asarray(self._deviations[np.searchsorted(self._edges, sizes, side="left")])
