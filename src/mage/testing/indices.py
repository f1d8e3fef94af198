"""The axioms and propositions of the paper as checks of a computed index.

Every check builds its own random graphs and games from a seed and compares numbers; nothing is assumed of the index
under test but that it is called with a game and answers with :class:`mage.Interactions`. Which index it is to be, its
values on unanimity games say; the axioms of efficiency are asked only of indices that have them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mage._core.typing import Floats
from mage.games import Game
from mage.graph import PlayerGraph
from mage.indices import FAMILIES, IndexFamily, Interactions
from mage.testing.definitions import by_definition
from mage.testing.reference import random_game, random_graph, restricted, unanimity_game

ComputeIndex = Callable[[Game], Interactions]
_PLAYERS = 6


@dataclass(frozen=True)
class Case:
    """One random graph on which an index is checked.

    Attributes:
        family: Which index it is to be.
        order: Its order k.
        graph: The graph.
        seed: Of the random worths.
        tolerance: Largest absolute difference.
    """

    family: IndexFamily
    order: int
    graph: PlayerGraph
    seed: int
    tolerance: float


Check = Callable[[ComputeIndex, Case], None]


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


def check_linearity(compute: ComputeIndex, case: Case) -> None:
    """Axiom L: the index of f₁ + α f₂ is the index of f₁ plus α times that of f₂."""
    first, second = _random_table(case.seed), _random_table(case.seed + 1)
    combined = compute(_table_game(first - 1.7 * second, case.graph)).values
    separate = compute(_table_game(first, case.graph)).values - 1.7 * compute(_table_game(second, case.graph)).values
    np.testing.assert_allclose(combined, separate, atol=case.tolerance, rtol=0, err_msg="linearity")


def check_restricted_null_player(compute: ComputeIndex, case: Case) -> None:
    """Axiom RNP: who adds just f(i) to every connected coalition gets f(i) and interacts with nobody."""
    null = case.seed % case.graph.num_players
    table = _random_table(case.seed)
    for coalition in sorted(_connected_sets(case.graph), key=len):
        if null in coalition and len(coalition) > 1:
            parts = case.graph.components(set(coalition - {null}))
            table[_mask_of(coalition)] = table[1 << null] + sum(table[_mask_of(set(part))] for part in parts)
    for term in compute(_table_game(table, case.graph)):
        if null in term.players:
            expected = table[1 << null] if len(term.players) == 1 else 0.0
            assert abs(term.value - expected) <= case.tolerance, f"restricted null player: {term} should be {expected}"


def check_coalitional_fairness(compute: ComputeIndex, case: Case) -> None:
    """Axiom CF: a change of one connected coalition's worth moves all its subsets of one size alike."""
    connected = _connected_sets(case.graph)
    changed = connected[case.seed % len(connected)]
    table = _random_table(case.seed)
    before = compute(_table_game(table, case.graph))
    table[_mask_of(changed)] += 2.5
    after = compute(_table_game(table, case.graph))
    for size in range(1, min(case.order, len(changed)) + 1):
        moves = [after[s] - before[s] for s in itertools.combinations(sorted(changed), size)]
        problem = f"coalitional fairness: {sorted(changed)} moved subsets of {size} by {moves}"
        assert np.ptp(moves) <= case.tolerance, problem


def check_interaction_distribution(compute: ComputeIndex, case: Case) -> None:
    """Axiom ID and the Proposition on unanimity games, for any index: a_s(|T|) for S ⊆ T, nothing for others.

    For the Taylor indices this is 1/C(|T|, k) within T on top, and nothing below but T itself.
    """
    for carrier in _connected_sets(case.graph):
        for term in compute(unanimity_game(case.graph.num_players, carrier, case.graph)):
            inside = frozenset(term.players) <= carrier
            size = len(term.players)
            expected = case.family.on_unanimity(size, case.order, len(carrier)) if inside else 0.0
            assert abs(term.value - expected) <= case.tolerance, (
                f"unanimity of {sorted(carrier)}: {term} should be {expected}"
            )


def check_component_efficiency(compute: ComputeIndex, case: Case) -> None:
    """Axiom CE: within each component of the graph the index adds up to the component's worth."""
    game = _table_game(_random_table(case.seed), case.graph)
    index = compute(game)
    for component in case.graph.components():
        total = sum(term.value for term in index if set(term.players) <= set(component))
        worth = float(game.worth([component])[0])
        assert abs(total - worth) <= case.tolerance * len(index), (
            f"efficiency: {component} adds up to {total}, worth {worth}"
        )


def check_fairness(compute: ComputeIndex, case: Case) -> None:
    """Appendix C: when an edge ij goes, S ∪ i and S ∪ j change by the same amount."""
    if case.graph.num_edges == 0:
        return
    table = _random_table(case.seed)
    i, j = case.graph.edges[case.seed % case.graph.num_edges].tolist()
    edges = [pair for pair in case.graph.edges.tolist() if pair != [i, j]]
    whole = compute(_table_game(table, case.graph))
    cut = compute(_table_game(table, PlayerGraph(case.graph.num_players, edges)))
    others = [player for player in range(case.graph.num_players) if player not in (i, j)]
    for size in range(case.order):
        for s in itertools.combinations(others, size):
            gains = [whole[(*s, end)] - cut[(*s, end)] for end in (i, j)]
            assert abs(gains[0] - gains[1]) <= case.tolerance, f"fairness: edge {i}-{j}, S = {s}: {gains}"


def check_reduction(compute: ComputeIndex, case: Case) -> None:
    """Proposition (reduction): the shares 1/|S| of all S with player i add up to its value (Shapley or Myerson)."""
    game = _table_game(_random_table(case.seed), case.graph)
    shares = np.zeros(case.graph.num_players)
    for term in compute(game):
        shares[list(term.players)] += term.value / len(term.players)
    np.testing.assert_allclose(shares, by_definition(game, 1), atol=case.tolerance, rtol=0, err_msg="reduction")


def check_symmetry(compute: ComputeIndex, case: Case) -> None:
    """Renaming players renames the index and changes nothing else."""
    renaming = np.random.default_rng(case.seed).permutation(case.graph.num_players)
    table = _random_table(case.seed)
    masks = (np.arange(len(table))[:, None] >> np.arange(case.graph.num_players)) & 1
    renamed = np.empty_like(table)
    renamed[masks @ (1 << renaming)] = table
    original = compute(_table_game(table, case.graph))
    other = compute(_table_game(renamed, PlayerGraph(case.graph.num_players, renaming[case.graph.edges])))
    for term in original:
        players = tuple(int(renaming[p]) for p in term.players)
        problem = f"symmetry: {term} became {other[players]} as {players}"
        assert abs(other[players] - term.value) <= case.tolerance, problem


def check_restriction(compute: ComputeIndex, case: Case) -> None:
    """Lemma: f and f|_E have the same index."""
    table = _random_table(case.seed)
    worth = restricted(_table_game(table, case.graph))
    sets = (frozenset(p for p in range(_PLAYERS) if mask >> p & 1) for mask in range(len(table)))
    cut = np.array([worth(s) for s in sets])
    left, right = compute(_table_game(table, case.graph)).values, compute(_table_game(cut, case.graph)).values
    np.testing.assert_allclose(left, right, atol=case.tolerance, rtol=0, err_msg="f and f|_E")


INDEX_CHECKS: dict[str, Check] = {
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


_EFFICIENCY = {"component efficiency", "reduction"}


def index_checks(index: str, order: int) -> list[str]:
    """Names of the checks that an index of an order must pass.

    Fairness removes an edge, which only indices that see the graph notice. Efficiency and reduction are asked of
    indices whose values add up.
    """
    family = FAMILIES[index]
    unsuited = set() if family.sees_graph else {"fairness"}
    unsuited |= set() if family.is_efficient(order) else _EFFICIENCY
    return [name for name in INDEX_CHECKS if name not in unsuited]


def check_index(
    compute: ComputeIndex,
    order: int,
    *,
    index: str = "myerson-taylor",
    only: str | None = None,
    seeds: range = range(5),
    tolerance: float = 1e-9,
) -> None:
    """Assert that an index satisfies every axiom and proposition of the paper that belongs to it.

    Args:
        compute: The index under test: maps a :class:`mage.Game` to its interactions.
        order: Its order k.
        index: Which index it is to be, by name: its values on unanimity games are compared. Indices that ignore the
            graph are held to the axioms on complete graphs only. For an index of your own register its family first
            (:func:`mage.indices.register_index`).
        only: Name of a single check.
        seeds: One random graph and game for each.
        tolerance: Largest absolute difference.
    """
    if only is not None and only not in INDEX_CHECKS:
        raise ValueError(f"only must be one of {', '.join(INDEX_CHECKS)}; got {only!r}")
    names = index_checks(index, order)
    if only is not None and only not in names:
        raise ValueError(f"only: {only} is no axiom of the {index} index of order {order}")
    family = FAMILIES[index]
    for name in names if only is None else [only]:
        for seed in seeds:
            density = (0.0, 0.25, 0.4, 0.6, 1.0)[seed % 5]
            graph = random_graph(_PLAYERS, density if family.sees_graph else 1.0, seed)
            INDEX_CHECKS[name](compute, Case(family, order, graph, seed, tolerance))
