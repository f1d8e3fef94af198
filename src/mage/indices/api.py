"""``mage.interactions``: the one entrance to all indices and methods."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np

from mage.games import Game
from mage.graph import PlayerGraph
from mage.indices._families import checked_order, family_named
from mage.indices._subsets import MOST_SUBSETS
from mage.indices.exact import checked_count, exact_top_order, lower_orders
from mage.indices.interactions import Interactions
from mage.indices.permutation import DEFAULT_PERMUTATIONS, checked_orderings, permutation_top_order

_log = logging.getLogger("mage")

METHODS = ("auto", "exact", "permutation")
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
    progress: bool | None = None,
) -> Interactions:
    """Compute an interaction index of a game.

    Args:
        game: Players, graph and value function.
        index: ``"shapley"``, ``"shapley-taylor"``, ``"myerson"`` or ``"myerson-taylor"``; the first two ignore edges.
        order: k; 2 by default for the Taylor indices, 1 for the other two.
        method: ``"exact"`` (one query per connected coalition), ``"permutation"`` (Algorithm 1 of the paper, with
            standard errors), or ``"auto"``: exact where the coalitions fit the budget, else permutation. The result
            says which.
        budget: Most distinct coalitions the model may be asked in this call. By default 10,000,000 for ``"exact"``,
            100,000 for ``"auto"`` to go exact, and no limit for ``"permutation"``.
        permutations: Orderings to sample; 200 by default, or as many as ``budget`` allows where only that is given.
        seed: Seed of the orderings.
        antithetic: Draw orderings in pairs, one the reverse of the other: a smaller error for the same number.
        orderings: Use exactly these orderings [t, n] instead of random ones (with ``"permutation"``).
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
    for name, number in (("budget", budget), ("permutations", permutations)):
        if number is not None and (isinstance(number, bool) or int(number) != number or number < 1):
            raise ValueError(f"{name} must be a whole number ≥ 1, got {number!r}")
    if orderings is not None:
        if method == "exact":
            raise ValueError("orderings: only method='permutation' takes orderings")
        orderings, method = checked_orderings(orderings, game.num_players), "permutation"
    if math.comb(game.num_players, k) > MOST_SUBSETS:
        raise ValueError(
            f"order: {game.num_players} players have {math.comb(game.num_players, k):,} sets of {k}, more than "
            f"{MOST_SUBSETS:,}; lower the order or group players"
        )
    graph = game.graph if family.sees_graph else PlayerGraph.complete(game.num_players)
    first_query = game.num_queries
    if method == "auto":
        limit = DEFAULT_AUTO_BUDGET if budget is None else budget
        # An explicit number of orderings is a wish to sample.
        count = graph.count_connected(cap=limit)
        method = "permutation" if permutations is not None or count > limit else "exact"
        _log.info("method='auto' takes %s: %s connected coalitions, limit %s", method, count, limit)
    if method == "exact":
        count = checked_count(graph, DEFAULT_EXACT_BUDGET if budget is None else budget, family.name)
        lower = lower_orders(game, graph, k)
        top, error, used = exact_top_order(game, graph, k, count, progress), None, 0
    else:
        if permutations is None and budget is None:
            permutations = DEFAULT_PERMUTATIONS
        _ = game.baseline
        lower = lower_orders(game, graph, k)
        spent = game.num_queries - first_query
        top, error, used = permutation_top_order(
            game,
            graph,
            k,
            permutations=permutations,
            max_queries=None if budget is None else budget - spent,
            antithetic=antithetic,
            orderings=orderings,
            seed=seed,
            progress=progress,
        )
    values = np.concatenate([*lower, top])
    std_error = np.zeros_like(values)
    if error is not None:
        std_error[len(values) - len(error) :] = error
    return Interactions(
        index=family.name,
        order=k,
        graph=game.graph,
        values=values,
        std_error=std_error,
        exact=error is None,
        method=method,
        num_queries=game.num_queries - first_query,
        num_permutations=used,
        baseline=game.baseline,
        names=game.names,
    )
