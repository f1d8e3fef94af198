"""``mage.interactions``: the one entrance to all indices and methods."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np

from mage._checks import checked_whole
from mage._typing import Floats
from mage.games import Game
from mage.graph import PlayerGraph
from mage.indices._families import checked_order, family_named
from mage.indices._subsets import MOST_SUBSETS
from mage.indices.exact import checked_count, exact_values, readable
from mage.indices.interactions import Interactions
from mage.indices.local import DEFAULT_LOCAL_BUDGET, NotLocalError, local_values
from mage.indices.permutation import DEFAULT_PERMUTATIONS, checked_orderings, permutation_values

_log = logging.getLogger("mage")

METHODS = ("auto", "exact", "exact-local", "permutation")
DEFAULT_EXACT_BUDGET = 10_000_000
DEFAULT_AUTO_BUDGET = 100_000


def interactions(
    game: Game,
    index: str = "myerson-taylor",
    order: int | None = None,
    method: str = "auto",
    budget: int | None = None,
    permutations: int | None = None,
    seed: int = 0,
    *,
    antithetic: bool = True,
    orderings: Any = None,
    radius: int | None = None,
    progress: bool | None = None,
) -> Interactions:
    """Compute an interaction index of a game.

    Args:
        game: Players, graph and value function.
        index: ``"shapley"``, ``"shapley-taylor"``, ``"myerson"`` or ``"myerson-taylor"``; the first two ignore edges.
        order: k; 2 by default for the Taylor indices, 1 for the other two.
        method: ``"exact"`` (one query per connected coalition), ``"permutation"`` (Algorithm 1 of the paper, with
            standard errors), ``"exact-local"`` (exact from few queries, for games in which players only hear each other
            nearby; checked, and refused otherwise), or ``"auto"``: exact where the coalitions fit the budget, else
            permutation. The result says which.
        budget: Most distinct coalitions the result may rest on, known ones included: ``"exact"`` compares their number
            with it, ``"permutation"`` stops before it is passed (and counts the empty coalition). By default
            10,000,000 for ``"exact"``, 100,000 for ``"auto"`` to go exact, and no limit for ``"permutation"``.
        permutations: Orderings to sample; 200 by default, or as many as ``budget`` allows where only that is given.
        seed: Seed of the orderings.
        antithetic: Draw orderings in pairs, one the reverse of the other: a smaller error for the same number.
        orderings: Use exactly these orderings [t, n] instead of random ones (with ``"permutation"``).
        radius: L of ``"exact-local"``: how many hops away players hear each other; read from a model by default.
        progress: Show a progress bar; by default on a terminal only.

    Returns:
        Values for all sets of at most k players, their standard errors, and what they cost.

    Raises:
        TooManyCoalitionsError: ``method="exact"`` over budget; the message has the count and the alternatives.
        ValueFunctionError: The value function failed; the message names the coalition.
    """
    if not isinstance(game, Game):
        raise TypeError(f"game must be a mage.Game, got {type(game).__name__}")
    family = family_named(index)
    k = checked_order(family, order)
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    budget = None if budget is None else checked_whole("budget", budget)
    permutations = None if permutations is None else checked_whole("permutations", permutations)
    checked_whole("seed", seed, least=0)
    if method.startswith("exact") and (permutations is not None or orderings is not None):
        raise ValueError(f"permutations and orderings go with method='permutation', not with method={method!r}")
    if radius is not None and method != "exact-local":
        raise ValueError(f"radius goes with method='exact-local', not with method={method!r}")
    if orderings is not None:
        if permutations is not None:
            raise ValueError("permutations: orderings already say how many; give one of the two")
        orderings, method = checked_orderings(orderings, game.num_players), "permutation"
    _check_size(game.num_players, k)
    graph = game.graph if family.sees_graph else PlayerGraph.complete(game.num_players)
    first_query = game.num_queries
    if method == "auto":
        method = _chosen_method(graph, DEFAULT_AUTO_BUDGET if budget is None else budget, permutations)
    used = 0
    if method == "exact":
        count = checked_count(graph, DEFAULT_EXACT_BUDGET if budget is None else budget, family.name)
        values = np.concatenate(exact_values(game, graph, k, count, progress))
        std_error = np.zeros_like(values)
    elif method == "exact-local":
        limit = DEFAULT_LOCAL_BUDGET if budget is None else budget
        # The same for both families: where players only hear their neighbours, structure adds nothing.
        values = np.concatenate(_local_values(game, k, radius, limit, seed, progress))
        std_error = np.zeros_like(values)
    else:
        if permutations is None and budget is None:
            permutations = DEFAULT_PERMUTATIONS
        values, std_error, used = permutation_values(
            game,
            graph,
            k,
            permutations=permutations,
            budget=budget,
            antithetic=antithetic,
            orderings=orderings,
            seed=seed,
            progress=progress,
        )
    return Interactions(
        index=family.name,
        order=k,
        graph=game.graph,
        values=values,
        std_error=std_error,
        exact=method.startswith("exact"),
        method=method,
        num_queries=game.num_queries - first_query,
        num_permutations=used,
        baseline=game.baseline,
        names=game.names,
    )


def _local_values(
    game: Game, order: int, radius: int | None, limit: int, seed: int, progress: bool | None
) -> list[Floats]:
    if radius is not None:
        return local_values(game, game.graph, order, checked_whole("radius", radius, least=0), limit, seed, progress)
    found = int(getattr(game, "num_hops", 0))
    if found < 1:
        raise ValueError("radius: say how many hops away players hear each other; only a model's game knows it itself")
    try:
        return local_values(game, game.graph, order, found, limit, seed, progress)
    except NotLocalError as error:
        # Layers that divide by degrees hear one hop further. What was asked so far is remembered.
        _log.info("%s; trying radius %d", error, found + 1)
        return local_values(game, game.graph, order, found + 1, limit, seed, progress)


def _chosen_method(graph: PlayerGraph, limit: int, permutations: int | None) -> str:
    """Exact where it fits the limit; an explicit number of orderings is a wish to sample."""
    count = graph.count_connected(cap=limit)
    method = "permutation" if permutations is not None or count > limit else "exact"
    number = f"more than {limit:,}" if count > limit else f"{count:,}"
    _log.info("method='auto' takes %s: %s connected coalitions, limit %s", method, number, f"{limit:,}")
    return method


def _check_size(num_players: int, order: int) -> None:
    """Refuse an index that would not fit in memory; the sums hold a row of n for every set of k − 1."""
    sets = sum(math.comb(num_players, size) for size in range(1, min(order, num_players) + 1))
    sums = math.comb(num_players, min(order, num_players + 1) - 1) * num_players
    if max(sets, sums) > MOST_SUBSETS:
        raise ValueError(
            f"order: {num_players} players have {readable(sets)} sets of up to {order}, and sums over them take "
            f"{readable(sums)} numbers, more than {MOST_SUBSETS:,}; lower the order or group players"
        )
