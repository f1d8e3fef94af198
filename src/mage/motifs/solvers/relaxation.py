"""The bound of the search: how each weight is divided among its nodes.

The search bounds a motif by letting each node choose its best partners alone. For that, a weight of a pair or triple
must be divided among its members, and any division gives a bound: a Lagrangian relaxation of "members agree on whether
they are together" (Caprara, Pisinger and Toth, 1999, for pairs). A member that sees less than nothing of a triple would
have both others and not pay for it; a price that it pays for each of them and gets back once bounds what that saves,
since x_j x_k ≥ x_j + x_k − 1. A subgradient method with Polyak's steps finds divisions and prices that make the bound
low.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mage._core.ragged import pointers
from mage._core.typing import Floats, Integers, Masks
from mage.motifs.problem import MotifProblem

ORDERS = np.array([(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
"""The six orders (i, j, k) of a triple: node i has one share of its weight for j together with k."""

_STALLED = 5  # rounds without progress after which steps are halved
_SMALLEST_STEP = 0.02
_PROGRESS = 1e-9


class Division(NamedTuple):
    """How weights are divided among nodes, for motifs for the output (first) and against it (second).

    Attributes:
        shares: What i sees of j [2, n, n]; i and j together see the weight of the pair.
        views: What members see of a triple [2, t, 6], in the six :data:`ORDERS`; together its weight.
        clashes: Price that each member of a triple pays for having both others [2, t, 3]; at most what it sees below 0.
    """

    shares: Floats
    views: Floats
    clashes: Floats

    @classmethod
    def even(cls, problem: MotifProblem) -> Division:
        """Equal parts for all members, and no prices."""
        views = np.repeat(problem.triple[:, :, None] / 6, 6, axis=2)
        return cls(problem.pair / 2, views, np.zeros((*views.shape[:2], 3)))

    def tightened(self, problem: MotifProblem, target: float, rounds: int) -> Division:
        """A division with a lower bound, from some rounds of the subgradient method.

        Args:
            problem: What the division is of.
            target: A worth that some family has; no bound lies below it.
            rounds: At most this many.
        """
        triples = _OrderedTriples(problem)
        best, lowest = self, np.inf
        current, step, stalled = self, 1.0, 0
        for _ in range(rounds):
            choice = _Choice(problem, triples, current)
            if choice.bound < lowest - _PROGRESS * abs(choice.bound):
                best, lowest, stalled = current, choice.bound, 0
            else:
                stalled += 1
                if stalled == _STALLED:
                    current, step, stalled = best, step / 2, 0
            if choice.bound <= target + _PROGRESS * problem.scale or step < _SMALLEST_STEP:
                break
            slopes = choice.slopes(current)
            steepness = sum(float(np.square(part).sum()) for part in slopes)
            if steepness == 0:
                break
            current = current._moved(slopes, step * (choice.bound - target) / steepness)
        return best

    def _moved(self, slopes: Division, length: float) -> Division:
        """Against the slopes, as far as prices may go."""
        shares, views, clashes = (part - length * slope for part, slope in zip(self, slopes, strict=True))
        below = np.maximum(-views, 0.0).reshape(*clashes.shape, 2).sum(axis=3)
        return Division(shares, views, np.clip(clashes, 0.0, below))


class _OrderedTriples:
    """Triples in all six orders, as lists: who sees (``i``), whom (``ij``), together with whom (``ik``)."""

    def __init__(self, problem: MotifProblem) -> None:
        n = problem.num_nodes
        i, j, k = problem.triples[:, ORDERS].reshape(-1, 3).T
        self.i, self.j, self.k = i, j, k
        self.ij: Integers = i * n + j
        self.ik: Integers = i * n + k


class _Choice:
    """What the nodes choose under a division: the solution of the relaxed problem at the root of the search."""

    def __init__(self, problem: MotifProblem, triples: _OrderedTriples, division: Division) -> None:
        n, sides = problem.num_nodes, problem.useful_sides
        self._triples = triples
        self.partner: Masks = np.zeros((2, n, n), dtype=np.bool_)
        potential = np.full((2, n), -np.inf)
        for side in sides:
            clashes = np.repeat(division.clashes[side], 2, axis=1).ravel()
            views = np.maximum(division.views[side].ravel(), 0.0) - clashes
            value = division.shares[side] + np.bincount(triples.ij, views, minlength=n * n).reshape(n, n)
            np.fill_diagonal(value, -np.inf)
            self.partner[side] = (value > 0) & _largest(value, problem.max_nodes - 1)
            potential[side] = (
                problem.node[side]
                + np.where(self.partner[side], value, 0.0).sum(axis=1)
                + np.bincount(triples.i, clashes, minlength=n) / 2
            )
        highest = potential.max(axis=0)
        free = np.where(problem.forbidden | problem.required, -np.inf, highest)
        room = problem.max_nodes - int(problem.required.sum())
        selection = problem.required | ((free > 0) & _largest(free[None], room)[0])
        self.bound = float(highest[selection].sum())
        self.chosen: Masks = selection & (potential == highest)
        self.chosen[1] &= ~self.chosen[0]
        self.partner &= self.chosen[:, :, None]

    def slopes(self, division: Division) -> Division:
        """How the bound grows with each part of the division."""
        triples = self._triples
        partner = self.partner.astype(np.float64)
        flat = partner.reshape(2, -1)
        selection = self.chosen.astype(np.float64)
        views = np.where(division.views > 0, flat[:, triples.ij].reshape(division.views.shape), 0.0)
        both = (selection[:, triples.i] - flat[:, triples.ij] - flat[:, triples.ik]).reshape(*division.clashes.shape, 2)
        clash = np.where((division.views < 0).reshape(both.shape).any(axis=3), both[..., 0], 0.0)
        return Division(
            (partner - partner.transpose(0, 2, 1)) / 2,
            views - views.mean(axis=2, keepdims=True),
            np.where((division.clashes <= 0) & (clash > 0), 0.0, clash),
        )


def _largest(values: Floats, count: int) -> Masks:
    """Which entries of each row are at least as large as the ``count`` largest; ties count."""
    width = values.shape[1]
    if count >= width:
        return np.ones(values.shape, dtype=np.bool_)
    if count <= 0:
        return np.zeros(values.shape, dtype=np.bool_)
    return np.asarray(values >= np.partition(values, width - count, axis=1)[:, width - count, None])


class Views(NamedTuple):
    """A division as the kernel reads it, see :func:`mage._kernels.motif_search.best_family`."""

    ranking: Integers
    view_starts: Integers
    view_others: Integers
    view_shares: Floats
    join_starts: Integers
    join_pairs: Integers
    join_shares: Floats


def views_of(problem: MotifProblem, division: Division) -> Views:
    """The lists of the kernel for a division."""
    n = problem.num_nodes
    triples = _OrderedTriples(problem)
    clashes = _entries(np.repeat(-division.clashes, 2, axis=2), triples, n)
    positive = _entries(np.maximum(division.views, 0.0), triples, n)
    keys, others, shares = (np.concatenate(parts) for parts in zip(clashes, positive, strict=True))
    order = np.lexsort((-shares, shares > 0, keys))
    starts = pointers(np.bincount(keys, minlength=2 * n * n))
    rows = starts[np.arange(2 * n)[:, None] * n + np.arange(n + 1)]
    estimate = division.shares.reshape(2 * n, n) + np.bincount(keys, shares, minlength=2 * n * n).reshape(2 * n, n)
    np.fill_diagonal(estimate[:n], -np.inf)
    np.fill_diagonal(estimate[n:], -np.inf)
    by_vertex = np.argsort(triples.i, kind="stable")
    return Views(
        ranking=np.argsort(-estimate, axis=1, kind="stable"),
        view_starts=rows,
        view_others=others[order],
        view_shares=shares[order],
        join_starts=pointers(np.bincount(triples.i, minlength=n)),
        join_pairs=np.stack([triples.j, triples.k], axis=1)[by_vertex],
        join_shares=np.ascontiguousarray(_joins(division.views)[:, by_vertex]),
    )


def _entries(shares: Floats, triples: _OrderedTriples, num_nodes: int) -> tuple[Integers, Integers, Floats]:
    """Where, with whom and how much, for all shares of triples that are not zero."""
    flat = shares.reshape(2, -1)
    side, place = np.nonzero(flat)
    return side * num_nodes**2 + triples.ij[place], triples.k[place], flat[side, place]


def _joins(views: Floats) -> Floats:
    """What i sees more of j once a has joined, for all (a, i, j) of :data:`ORDERS`: its part, and half of that of a."""
    place = {tuple(order): number for number, order in enumerate(ORDERS.tolist())}
    columns = [
        views[:, :, place[i, j, a]]
        + views[:, :, place[i, a, j]]
        + (views[:, :, place[a, i, j]] + views[:, :, place[a, j, i]]) / 2
        for a, i, j in ORDERS.tolist()
    ]
    return np.stack(columns, axis=2).reshape(2, -1)
