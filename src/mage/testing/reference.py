"""Random graphs and games, f|_E and Algorithm 1 of the paper word for word."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from mage._core.typing import Floats, Masks
from mage.games import Game
from mage.graph import PlayerGraph

Worth = Callable[[frozenset[int]], float]


def random_graph(num_players: int, density: float, seed: int) -> PlayerGraph:
    """Each pair joined with the same probability; may well be disconnected."""
    generator = np.random.default_rng(seed)
    pairs = np.argwhere(np.triu(np.ones((num_players, num_players)), 1))
    return PlayerGraph(num_players, pairs[generator.random(len(pairs)) < density])


def random_game(num_players: int, edges: Any = None, seed: int = 0, table: Floats | None = None) -> Game:
    """A game with an independent normal worth for every coalition (n ≤ 20), or with the worths in ``table``."""
    worths = np.random.default_rng(seed).normal(size=2**num_players) if table is None else table
    powers = 1 << np.arange(num_players)

    def value_fn(masks: Masks) -> Floats:
        return np.asarray(worths[masks @ powers])

    return Game(value_fn, num_players, edges)


def unanimity_game(num_players: int, carrier: Iterable[int], edges: Any = None) -> Game:
    """u_T: worth 1 for coalitions that contain all of T, else 0."""
    members = sorted(set(carrier))
    return Game(lambda masks: masks[:, members].all(axis=1), num_players, edges)


def restricted(game: Game, graph: PlayerGraph | None = None) -> Worth:
    """f|_E as a function of one set, computed component by component."""
    neighbours = (graph or game.graph).neighbour_lists()
    memo: dict[frozenset[int], float] = {frozenset(): 0.0}

    def components(coalition: frozenset[int]) -> list[frozenset[int]]:
        parts: list[frozenset[int]] = []
        remaining = set(coalition)
        while remaining:
            todo, component = [remaining.pop()], set()
            while todo:
                player = todo.pop()
                component.add(player)
                near = remaining.intersection(neighbours[player])
                remaining -= near
                todo.extend(near)
            parts.append(frozenset(component))
        return parts

    def worth(coalition: frozenset[int]) -> float:
        if coalition not in memo:
            parts = components(coalition)
            memo[coalition] = float(game.worth([parts[0]])[0]) if len(parts) == 1 else sum(worth(p) for p in parts)
        return memo[coalition]

    return worth


def derivative(worth: Worth, players: Sequence[int], coalition: Iterable[int]) -> float:
    """δ_S f(T) = Σ over W ⊆ S of (−1)^(|S|−|W|) f(W ∪ T)."""
    base = frozenset(coalition)
    return sum(
        (-1.0) ** (len(players) - size) * worth(base.union(subset))
        for size in range(len(players) + 1)
        for subset in itertools.combinations(players, size)
    )


def algorithm_1(game: Game, order: int, orderings: Any, graph: PlayerGraph | None = None) -> Floats:
    """The paper's Algorithm 1 for given orderings, with Algorithm 2 inside, loops and all."""
    n = game.num_players
    worth = restricted(game, graph)
    subsets = list(itertools.combinations(range(n), order))
    sums = dict.fromkeys(subsets, 0.0)
    for ordering in orderings:
        rank = {int(player): position for position, player in enumerate(ordering)}
        for s in subsets:
            first = min(rank[player] for player in s)
            sums[s] += derivative(worth, s, (int(player) for player in ordering[:first]))
    values = [derivative(worth, s, ()) for size in range(1, order) for s in itertools.combinations(range(n), size)]
    return np.array([*values, *(sums[s] / len(orderings) for s in subsets)])
