"""The definitions of all indices, word for word: slow and obvious, so that fast code can be measured against them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from scipy.special import bernoulli

from mage._core.typing import Floats
from mage.games import Game
from mage.graph import PlayerGraph
from mage.indices import FAMILIES
from mage.indices.families import banzhaf, faith_shap, k_sii, shapley_taylor, sii
from mage.indices.families.family import MeasureOf
from mage.testing.reference import Worth, derivative, restricted

Players = tuple[int, ...]
# Of a worth, n and k: the values of all sets of at most k players, by size and then in lexicographic order.
Definition = Callable[[Worth, int, int], list[float]]


def by_definition(game: Game, order: int, index: str = "myerson-taylor") -> Floats:
    """An index by its definition, over all 2ⁿ coalitions.

    Args:
        game: The game.
        order: k.
        index: Name of the index. Indices that see the graph are those of f|_E, the others those of f.

    Returns:
        Values in the order of :attr:`mage.Interactions.values`.
    """
    family = FAMILIES[index]
    worth = restricted(game, game.graph if family.sees_graph else PlayerGraph.complete(game.num_players))
    return np.array(_DEFINITIONS[family.measure](worth, game.num_players, order))


def _sets(num_players: int, size: int) -> list[Players]:
    return list(itertools.combinations(range(num_players), size))


def _expected(worth: Worth, players: Players, num_players: int, weights: Callable[[int], float]) -> float:
    """Σ over T ⊆ V∖S of weight(|T|) · δ_S f(T)."""
    others = [player for player in range(num_players) if player not in players]
    return sum(
        weights(size) * derivative(worth, players, before)
        for size in range(len(others) + 1)
        for before in itertools.combinations(others, size)
    )


def _taylor(worth: Worth, n: int, order: int) -> list[float]:
    """Sundararajan et al. 2020, Bui et al. 2024: δ_S f(∅) below the order, an average over orderings at it."""
    values = [derivative(worth, s, ()) for size in range(1, order) for s in _sets(n, size)]
    top = [_expected(worth, s, n, lambda size: order / n / math.comb(n - 1, size)) for s in _sets(n, order)]
    return [*values, *top]


def _sii(worth: Worth, n: int, order: int) -> list[float]:
    """Grabisch and Roubens 1999: S joins T as one player."""

    def value(players: Players) -> float:
        many = n - len(players)
        return _expected(worth, players, n, lambda size: 1 / ((many + 1) * math.comb(many, size)))

    return [value(s) for size in range(1, order + 1) for s in _sets(n, size)]


def _banzhaf(worth: Worth, n: int, order: int) -> list[float]:
    """Grabisch and Roubens 1999: all T alike."""

    def value(players: Players) -> float:
        return _expected(worth, players, n, lambda _: 2.0 ** (len(players) - n))

    return [value(s) for size in range(1, order + 1) for s in _sets(n, size)]


def _k_sii(worth: Worth, n: int, order: int) -> list[float]:
    """Bordt and von Luxburg 2023: order by order, what is new is taken from all smaller sets."""
    listed = [s for size in range(1, order + 1) for s in _sets(n, size)]
    sii = dict(zip(listed, _sii(worth, n, order), strict=True))
    values: dict[Players, float] = {}
    for k in range(1, order + 1):
        for players in list(values):
            number = float(bernoulli(k)[k - len(players)])
            values[players] += number * sum(sii[s] for s in _sets(n, k) if set(players) < set(s))
        values.update({s: sii[s] for s in _sets(n, k)})
    return [values[s] for s in listed]


def _faith_shap(worth: Worth, n: int, order: int) -> list[float]:
    """Tsai et al. 2023: the best fit of f by sets of at most k players, exact at ∅ and V, by weighted least squares."""
    listed = [s for size in range(1, order + 1) for s in _sets(n, size)]
    proper = [t for size in range(1, n) for t in _sets(n, size)]
    if order >= n:
        return [derivative(worth, s, ()) for s in listed]
    inside = np.array([[set(s) <= set(t) for s in listed] for t in proper], dtype=np.float64)
    weights = np.array([(n - 1) / (math.comb(n, len(t)) * len(t) * (n - len(t))) for t in proper])
    worths = np.array([worth(frozenset(t)) for t in proper])
    everything = np.ones((len(listed), 1))
    system = np.block([[inside.T @ (weights[:, None] * inside), everything], [everything.T, np.zeros((1, 1))]])
    right = np.append(inside.T @ (weights * worths), worth(frozenset(range(n))))
    return [float(value) for value in np.linalg.solve(system, right)[:-1]]


# Both forms of an index have one measure, and so one definition.
_DEFINITIONS: dict[MeasureOf, Definition] = {
    shapley_taylor.measure: _taylor,
    sii.measure: _sii,
    k_sii.measure: _k_sii,
    banzhaf.measure: _banzhaf,
    faith_shap.measure: _faith_shap,
}
