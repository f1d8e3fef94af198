"""The paper's Algorithms 1 and 2: average discrete derivatives over random orderings of the players."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mage._kernels import permutation as kernels
from mage._progress import progress_bar
from mage._typing import Bits, Floats, Integers
from mage.games import Game
from mage.graph import PlayerGraph
from mage.indices._subsets import binomial_table

DEFAULT_PERMUTATIONS = 200
_MOST_PERMUTATIONS = 1_000_000
_DRAW = 64  # units drawn at a time; fixed, so that the sequence does not depend on anything else


class PermutationEstimate(NamedTuple):
    """Mean and standard error by set, and the number of orderings they rest on."""

    values: Floats
    std_error: Floats
    num_permutations: int


class _Terms(NamedTuple):
    """δ_S f|_E(T) of some orderings as signed worths; ``ends[t]`` closes the terms of ordering t."""

    coalitions: Bits
    signs: Floats
    targets: Integers
    ends: Integers


def checked_orderings(orderings: Any, num_players: int) -> Integers:
    """Orderings given by the user, [t, n], each a permutation of the players."""
    array = np.ascontiguousarray(orderings)
    if array.ndim != 2 or array.shape[1] != num_players or len(array) == 0:
        raise ValueError(f"orderings must have shape [t, {num_players}] with t ≥ 1, got {list(array.shape)}")
    if not np.array_equal(np.sort(array, axis=1), np.broadcast_to(np.arange(num_players), array.shape)):
        raise ValueError("orderings: each row must name every player once")
    return array.astype(np.int64)


def permutation_top_order(
    game: Game,
    graph: PlayerGraph,
    order: int,
    *,
    permutations: int | None,
    max_queries: int | None,
    antithetic: bool,
    orderings: Integers | None,
    seed: int,
    progress: bool | None,
) -> PermutationEstimate:
    """Estimate the index of all sets of ``order`` players.

    All components that some orderings need are collected first, the distinct new ones are evaluated in batches, then
    the signed worths are summed. With ``antithetic``, orderings come in pairs, one the reverse of the other; a pair is
    then the unit over which standard errors are taken.

    Args:
        game: The game.
        graph: Its graph, or the complete one for the structure-blind indices.
        order: k.
        permutations: Number of orderings; rounded up to whole units.
        max_queries: Stop before the game would have been asked more new coalitions than this.
        antithetic: Whether to draw pairs.
        orderings: Take these instead of random ones.
        seed: Seed of the orderings.
        progress: See :func:`mage._progress.progress_bar`.
    """
    unit = 2 if antithetic and orderings is None else 1
    wanted = _MOST_PERMUTATIONS if permutations is None else -(-permutations // unit) * unit
    mean = np.zeros(math.comb(game.num_players, order))
    spread = np.zeros_like(mean)
    if orderings is not None:
        wanted, source = len(orderings), iter([orderings])
    else:
        source = _random_orderings(game.num_players, antithetic, seed)
    first_query = game.num_queries
    done = 0
    with progress_bar("sampled index", wanted if permutations or orderings is not None else 1, progress) as tick:
        for batch in source:
            for terms in _collected(graph, batch[: wanted - done], unit, order):
                fitting, stop = len(terms.ends) // unit, False
                if max_queries is not None:
                    spent = game.num_queries - first_query
                    fitting, stop = _units_within(game, terms, unit, max_queries - spent)
                last = terms.ends[fitting * unit - 1] if fitting else 0
                contributions = terms.signs[:last] * game.worth_of_bits(terms.coalitions[:last])
                kernels.add_units(terms.ends, unit, fitting, terms.targets, contributions, done // unit, mean, spread)
                done += fitting * unit
                tick(fitting * unit if max_queries is None else 0)
                if stop:
                    break
            if stop or done >= wanted:
                break
    if done == 0:
        what = "pair of orderings" if unit == 2 else "ordering"
        raise ValueError(f"budget: not one {what} of {game.num_players} players fits; raise it")
    units = done // unit
    with np.errstate(invalid="ignore", divide="ignore"):
        std_error = np.sqrt(spread / (units - 1) / units) if units > 1 else np.full_like(mean, np.nan)
    return PermutationEstimate(mean, std_error, done)


def _random_orderings(num_players: int, antithetic: bool, seed: int) -> Iterator[Integers]:
    generator = np.random.default_rng(seed)
    while True:
        drawn = generator.permuted(np.tile(np.arange(num_players), (_DRAW, 1)), axis=1)
        yield np.stack([drawn, drawn[:, ::-1]], axis=1).reshape(-1, num_players) if antithetic else drawn


def _collected(graph: PlayerGraph, orderings: Integers, unit: int, order: int) -> Iterator[_Terms]:
    """Terms of the orderings, whole units at a time, in buffers of bounded size."""
    words = graph.adjacency_bits.shape[1]
    binomials = binomial_table(graph.num_players, order)
    orderings = np.ascontiguousarray(orderings)
    capacity, start = 1 << 17, 0
    while start < len(orderings):
        terms = _Terms(
            np.empty((capacity, words), dtype=np.uint64),
            np.empty(capacity),
            np.empty(capacity, dtype=np.int64),
            np.zeros(len(orderings) - start, dtype=np.int64),
        )
        done, written = kernels.collect_terms(graph.adjacency_bits, orderings, start, unit, order, binomials, *terms)
        if done == 0:
            capacity *= 2
            continue
        start += done
        yield _Terms(terms.coalitions[:written], terms.signs[:written], terms.targets[:written], terms.ends[:done])


def _units_within(game: Game, terms: _Terms, unit: int, queries: int) -> tuple[int, bool]:
    """How many units can be afforded, and whether that is not all of them."""
    cost = np.concatenate([[0], np.cumsum(game.novel(terms.coalitions))])[terms.ends[unit - 1 :: unit]]
    affordable = int(np.searchsorted(cost, queries, side="right"))
    return affordable, affordable < len(cost)
