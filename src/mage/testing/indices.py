"""The axioms and propositions of the paper as checks of a computed index.

Every check builds its own random graphs and games from a seed and compares numbers; nothing is assumed of the index
under test but that it is called with a game and answers with :class:`mage.Interactions`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from mage._core.typing import Floats
from mage.games import Game
from mage.graph import PlayerGraph
from mage.indices import Interactions
from mage.testing.reference import by_definition, random_game, random_graph, restricted, unanimity_game

ComputeIndex = Callable[[Game], Interactions]
GraphMaker = Callable[[int], PlayerGraph]

_PLAYERS = 6


def _table_game(table: Floats, graph: PlayerGraph) -> Game:
    return random_game(graph.num_players, graph, table=table)


def _random_table(seed: int) -> Floats:
    table: Floats = np.random.default_rng(seed).normal(size=2**_PLAYERS)
    table[0] = 0.0
    return table


def _mask_of(players: frozenset[int] | set[int]) -> int:
    return sum(1 << player for player in players)


def _connected_sets(graph: PlayerGraph) -> list[frozenset[int]]:
    return [frozenset(np.flatnonzero(row).tolist()) for block in graph.connected_coalitions() for row in block]


def check_linearity(compute: ComputeIndex, order: int, graph: PlayerGraph, seed: int, tolerance: float) -> None:
    """Axiom L: the index of f₁ + α f₂ is the index of f₁ plus α times that of f₂."""
    del order
    first, second = _random_table(seed), _random_table(seed + 1)
    combined = compute(_table_game(first - 1.7 * second, graph)).values
    separate = compute(_table_game(first, graph)).values - 1.7 * compute(_table_game(second, graph)).values
    np.testing.assert_allclose(combined, separate, atol=tolerance, rtol=0, err_msg="linearity")


def check_restricted_null_player(
    compute: ComputeIndex, order: int, graph: PlayerGraph, seed: int, tolerance: float
) -> None:
    """Axiom RNP: who adds just f(i) to every connected coalition gets f(i) and interacts with nobody."""
    del order
    null = seed % graph.num_players
    table = _random_table(seed)
    for coalition in sorted(_connected_sets(graph), key=len):
        if null in coalition and len(coalition) > 1:
            parts = graph.components(set(coalition - {null}))
            table[_mask_of(coalition)] = table[1 << null] + sum(table[_mask_of(set(part))] for part in parts)
    for term in compute(_table_game(table, graph)):
        if null in term.players:
            expected = table[1 << null] if len(term.players) == 1 else 0.0
            assert abs(term.value - expected) <= tolerance, f"restricted null player: {term} should be {expected}"


def check_coalitional_fairness(
    compute: ComputeIndex, order: int, graph: PlayerGraph, seed: int, tolerance: float
) -> None:
    """Axiom CF: a change of one connected coalition's worth moves all its subsets of one size alike."""
    connected = _connected_sets(graph)
    changed = connected[seed % len(connected)]
    table = _random_table(seed)
    before = compute(_table_game(table, graph))
    table[_mask_of(changed)] += 2.5
    after = compute(_table_game(table, graph))
    for size in range(1, min(order, len(changed)) + 1):
        moves = [after[s] - before[s] for s in itertools.combinations(sorted(changed), size)]
        assert np.ptp(moves) <= tolerance, f"coalitional fairness: {sorted(changed)} moved subsets of {size} by {moves}"


def check_interaction_distribution(
    compute: ComputeIndex, order: int, graph: PlayerGraph, seed: int, tolerance: float
) -> None:
    """Axiom ID and the Proposition on unanimity games: 1/C(|T|, k) within T on top, nothing below but T itself."""
    del seed
    for carrier in _connected_sets(graph):
        for term in compute(unanimity_game(graph.num_players, carrier, graph)):
            s = frozenset(term.players)
            expected = (
                float(s == carrier) if len(s) < order else (s <= carrier) / math.comb(max(len(carrier), order), order)
            )
            assert abs(term.value - expected) <= tolerance, (
                f"unanimity of {sorted(carrier)}: {term} should be {expected}"
            )


def check_component_efficiency(
    compute: ComputeIndex, order: int, graph: PlayerGraph, seed: int, tolerance: float
) -> None:
    """Axiom CE: within each component of the graph the index adds up to the component's worth."""
    del order
    game = _table_game(_random_table(seed), graph)
    index = compute(game)
    for component in graph.components():
        total = sum(term.value for term in index if set(term.players) <= set(component))
        worth = float(game.worth([component])[0])
        assert abs(total - worth) <= tolerance * len(index), (
            f"efficiency: {component} adds up to {total}, worth {worth}"
        )


def check_fairness(compute: ComputeIndex, order: int, graph: PlayerGraph, seed: int, tolerance: float) -> None:
    """Appendix C: when an edge ij goes, S ∪ i and S ∪ j change by the same amount."""
    if graph.num_edges == 0:
        return
    table = _random_table(seed)
    i, j = graph.edges[seed % graph.num_edges].tolist()
    kept = [pair for pair in graph.edges.tolist() if pair != [i, j]]
    whole = compute(_table_game(table, graph))
    cut = compute(_table_game(table, PlayerGraph(graph.num_players, kept)))
    others = [player for player in range(graph.num_players) if player not in (i, j)]
    for size in range(order):
        for s in itertools.combinations(others, size):
            gains = [whole[(*s, end)] - cut[(*s, end)] for end in (i, j)]
            assert abs(gains[0] - gains[1]) <= tolerance, f"fairness: edge {i}-{j}, S = {s}: {gains}"


def check_reduction(compute: ComputeIndex, order: int, graph: PlayerGraph, seed: int, tolerance: float) -> None:
    """Proposition (reduction): the shares 1/|S| of all S with player i add up to its value (Shapley or Myerson)."""
    del order
    game = _table_game(_random_table(seed), graph)
    shares = np.zeros(graph.num_players)
    for term in compute(game):
        shares[list(term.players)] += term.value / len(term.players)
    np.testing.assert_allclose(shares, by_definition(game, 1), atol=tolerance, rtol=0, err_msg="reduction")


def check_symmetry(compute: ComputeIndex, order: int, graph: PlayerGraph, seed: int, tolerance: float) -> None:
    """Renaming players renames the index and changes nothing else."""
    del order
    renaming = np.random.default_rng(seed).permutation(graph.num_players)
    table = _random_table(seed)
    masks = (np.arange(len(table))[:, None] >> np.arange(graph.num_players)) & 1
    renamed = np.empty_like(table)
    renamed[masks @ (1 << renaming)] = table
    original = compute(_table_game(table, graph))
    other = compute(_table_game(renamed, PlayerGraph(graph.num_players, renaming[graph.edges])))
    for term in original:
        players = tuple(int(renaming[p]) for p in term.players)
        assert abs(other[players] - term.value) <= tolerance, f"symmetry: {term} became {other[players]} as {players}"


def check_restriction(compute: ComputeIndex, order: int, graph: PlayerGraph, seed: int, tolerance: float) -> None:
    """Lemma: f and f|_E have the same index."""
    del order
    table = _random_table(seed)
    worth = restricted(_table_game(table, graph))
    sets = (frozenset(p for p in range(_PLAYERS) if mask >> p & 1) for mask in range(len(table)))
    cut = np.array([worth(s) for s in sets])
    left, right = compute(_table_game(table, graph)).values, compute(_table_game(cut, graph)).values
    np.testing.assert_allclose(left, right, atol=tolerance, rtol=0, err_msg="f and f|_E")


INDEX_CHECKS: dict[str, Callable[[ComputeIndex, int, PlayerGraph, int, float], None]] = {
    "linearity": check_linearity,
    "restricted null player": check_restricted_null_player,
    "coalitional fairness": check_coalitional_fairness,
    "interaction distribution": check_interaction_distribution,
    "component efficiency": check_component_efficiency,
    "fairness": check_fairness,
    "reduction": check_reduction,
    "symmetry": check_symmetry,
    "restriction": check_restriction,
}


def check_index(
    compute: ComputeIndex,
    order: int,
    *,
    sees_graph: bool = True,
    only: str | None = None,
    seeds: range = range(5),
    tolerance: float = 1e-9,
) -> None:
    """Assert that an index satisfies every axiom and proposition of the paper.

    Args:
        compute: The index under test: maps a :class:`mage.Game` to its interactions.
        order: Its order k.
        sees_graph: False for structure-blind indices, which are held to the axioms on complete graphs only (and not to
            fairness, which removes an edge).
        only: Name of a single check.
        seeds: One random graph and game for each.
        tolerance: Largest absolute difference.
    """
    if only is not None and only not in INDEX_CHECKS:
        raise ValueError(f"only must be one of {', '.join(INDEX_CHECKS)}; got {only!r}")
    if only == "fairness" and not sees_graph:
        raise ValueError("only: fairness removes an edge, which a structure-blind index does not see")
    for name, check in INDEX_CHECKS.items():
        if only not in (None, name) or (name == "fairness" and not sees_graph):
            continue
        for seed in seeds:
            density = (0.0, 0.25, 0.4, 0.6, 1.0)[seed % 5]
            graph = random_graph(_PLAYERS, density if sees_graph else 1.0, seed)
            check(compute, order, graph, seed, tolerance)
