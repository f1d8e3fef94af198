"""One formula for all four indices: a weighted sum of the worths of connected coalitions.

For a k-order index and |S| = k, with N(R) the neighbours of R outside R and q = |S ∩ N(R)|,

    Ψᵏ_S = Σ over connected R with S ⊆ R ∪ N(R) of (−1)^q · k · B(|R| + q − k + 1, |N(R)| − q + k) · f(R),

where B is Euler's Beta function. Smaller S carry δ_S f|_E(∅) = Σ (−1)^(|S|−|R|) f(R) over connected R ⊆ S with
S ⊆ R ∪ N(R). On the complete graph N(R) = V∖R, and the same lines give Shapley and Shapley-Taylor.
"""

import math

import numpy as np
from scipy.special import beta

from mage._core.typing import Bits, Floats
from mage._kernels import closed_form as kernels
from mage.indices.subsets import binomial_table, ranks, subsets_of_size


def top_order_coefficients(num_players: int, order: int) -> Floats:
    """(−1)^q · k · B(r + q − k + 1, b − q + k), indexed by r = |R|, b = |N(R)| and q; zero where S cannot exist."""
    r = np.arange(num_players + 1)[:, None, None]
    b = np.arange(num_players + 1)[None, :, None]
    q = np.arange(order + 1)[None, None, :]
    possible = (r + q >= order) & (q <= b) & (r >= 1)
    first, second = np.where(possible, r + q - order + 1, 1), np.where(possible, b - q + order, 1)
    signs = np.where(q % 2 == 0, 1.0, -1.0)
    return np.asarray(np.where(possible, signs * order * beta(first, second), 0.0))


def dividend_coefficients(num_players: int, order: int) -> Floats:
    """(−1)^q where |R| + q = order: the terms of δ_S f|_E(∅) for |S| = order, in the same layout."""
    r = np.arange(num_players + 1)[:, None, None]
    b = np.arange(num_players + 1)[None, :, None]
    q = np.arange(order + 1)[None, None, :]
    signs = np.where(q % 2 == 0, 1.0, -1.0)
    return np.asarray(np.where((r + q == order) & (q <= b), signs, 0.0))


class Accumulator:
    """The sum of one order's formula over the coalitions added so far.

    Args:
        num_players: Number of players n.
        order: Size k of the subsets S.
        coefficients: By |R|, |N(R)| and q, see above.
    """

    def __init__(self, num_players: int, order: int, coefficients: Floats) -> None:
        self._order = order
        self._num_players = num_players
        self._coefficients = np.ascontiguousarray(coefficients)
        self._binomials = binomial_table(num_players, order)
        self._totals: Floats = np.zeros((math.comb(num_players, order - 1), num_players))

    def add(self, members: Bits, neighbours: Bits, worths: Floats) -> None:
        """Add a block of distinct connected coalitions."""
        # A sum per block, then a sum of sums: rounding errors grow with the block, not with the run.
        block = np.zeros_like(self._totals)
        kernels.accumulate(members, neighbours, worths, self._coefficients, self._order, self._binomials, block)
        self._totals += block

    def values(self) -> Floats:
        """The index of every S of this order, in lexicographic order."""
        subsets = subsets_of_size(self._num_players, self._order)
        rows = ranks(subsets[:, :-1], self._num_players)
        return self._totals[rows, subsets[:, -1]]
