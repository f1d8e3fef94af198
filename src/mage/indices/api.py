"""``mage.interactions``: the one entrance to all indices and methods."""

from __future__ import annotations

import importlib.util
import logging
import math
import time
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from mage._core.checks import checked_whole
from mage._core.typing import Floats
from mage.games import Game
from mage.graph import PlayerGraph
from mage.indices.errors import Estimate
from mage.indices.estimators.exact import checked_count, exact_values, readable
from mage.indices.estimators.exact_local.coalitions import DEFAULT_LOCAL_BUDGET, NotLocalError, local_values
from mage.indices.estimators.exact_local.nodes import QUERIES_OF_A_CHECK, measure_reach, node_values
from mage.indices.estimators.permutation import DEFAULT_PERMUTATIONS, checked_orderings, permutation_values
from mage.indices.estimators.surrogate import DEFAULT_SURROGATE_BUDGET, least_budget, surrogate_values
from mage.indices.families import family_named
from mage.indices.request import IndexRequest
from mage.indices.result import Interactions
from mage.indices.stopping import Condition, Monitor
from mage.indices.subsets import MOST_SUBSETS

_log = logging.getLogger("mage")

DEFAULT_EXACT_BUDGET = 10_000_000
DEFAULT_AUTO_BUDGET = 100_000
_COSTLY_SECONDS = 1e-3  # of one query
_COSTLY_BUDGET = 5_000  # for "auto" to go exact where a query is costly
_TIMED_QUERIES = 64


def interactions(
    game: Game,
    index: str = "myerson-taylor",
    order: int | None = None,
    method: str = "auto",
    budget: int | None = None,
    permutations: int | None = None,
    seed: int = 0,
    *,
    request: IndexRequest | None = None,
    antithetic: bool = True,
    orderings: Any = None,
    radius: int | None = None,
    regressor: str = "auto",
    tolerance: float | None = None,
    until: str | Condition | None = None,
    callback: Callable[[Interactions], Any] | None = None,
    progress: bool | None = None,
) -> Interactions:
    """Compute an interaction index of a game.

    Args:
        game: Players, graph and value function.
        index: ``"shapley"``, ``"shapley-taylor"``, ``"myerson"`` or ``"myerson-taylor"``; the first two ignore edges.
        order: k; 2 by default for the Taylor indices, 1 for the other two.
        method: ``"exact"`` (one query per connected coalition), ``"permutation"`` (Algorithm 1 of the paper, with
            standard errors), ``"surrogate"`` (a regressor learns the game from few queries and is then corrected:
            unbiased, with standard errors, from a tenth of the queries or fewer), ``"exact-local"`` (exact from few
            queries, for games in which players only hear each other nearby; checked, and refused otherwise), or
            ``"auto"``: exact where the coalitions fit the budget, else surrogate, else (where that cannot be)
            permutation. The result says which, and the log says why.
        budget: Most distinct coalitions the result may rest on, known ones included: ``"exact"`` compares their number
            with it, the others stop before it is passed (and count the empty coalition). By default 10,000,000 for
            ``"exact"``, 2,000 for ``"surrogate"``, no limit for ``"permutation"``; and for ``"auto"`` to go exact
            100,000, or 5,000 where a query is measured to take more than a millisecond.
        permutations: Orderings to sample; 200 by default, or as many as ``budget`` allows where only that is given.
        seed: Seed of the orderings.
        request: All of the other arguments but ``callback`` and ``progress`` at once, instead of them.
        antithetic: Draw orderings in pairs, one the reverse of the other: a smaller error for the same number.
        orderings: Use exactly these orderings [t, n] instead of random ones (with ``"permutation"``).
        radius: L of ``"exact-local"``: how many hops away players hear each other; read from a model by default.
        regressor: Of ``"surrogate"``: ``"ridge"``, ``"trees"``, ``"mix"``, or ``"auto"`` for what predicts best.
        tolerance: Stop sampling when the largest standard error is at most this.
        until: Stop sampling when this holds: ``"motifs stable"`` (the best motif no longer changes within the error),
            or a function of the interactions so far.
        callback: Called with the interactions so far, from time to time; a true answer stops and keeps them. So does
            an interruption (Ctrl-C). :attr:`Interactions.stopped` says what ended a run.
        progress: Show a progress bar; by default on a terminal only.

    Returns:
        Values for all sets of at most k players, their standard errors, and what they cost.

    Raises:
        TooManyCoalitionsError: ``method="exact"`` over budget; the message has the count and the alternatives.
        ValueFunctionError: The value function failed; the message names the coalition.
    """
    given = {
        "index": index,
        "order": order,
        "method": method,
        "budget": budget,
        "permutations": permutations,
        "seed": seed,
        "antithetic": antithetic,
        "orderings": orderings,
        "radius": radius,
        "regressor": regressor,
        "tolerance": tolerance,
        "until": until,
    }
    if request is None:
        request = IndexRequest(**given)
    else:
        _check_alone(request, given)
    return compute_interactions(game, request, callback=callback, progress=progress)


def _check_alone(request: IndexRequest, given: dict[str, Any]) -> None:
    """Refuse single arguments beside a whole request."""
    if not isinstance(request, IndexRequest):
        raise TypeError(f"request must be a mage.indices.IndexRequest, got {type(request).__name__}")
    defaults = {field.name: field.default for field in fields(IndexRequest)}
    beside = [name for name, value in given.items() if value is not defaults[name] and value != defaults[name]]
    if beside:
        raise ValueError(f"{beside[0]}: give it in the request, or leave the request out")


def compute_interactions(
    game: Game,
    request: IndexRequest,
    *,
    callback: Callable[[Interactions], Any] | None = None,
    progress: bool | None = None,
) -> Interactions:
    """Compute what a request asks for; see :func:`interactions`.

    Args:
        game: Players, graph and value function.
        request: Index, order, method and cost.
        callback: Called with the interactions so far, from time to time; a true answer stops and keeps them.
        progress: Show a progress bar; by default on a terminal only.
    """
    if not isinstance(game, Game):
        raise TypeError(f"game must be a mage.Game, got {type(game).__name__}")
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be a function of the interactions, got {callback!r}")
    family, k = family_named(request.index), request.checked_order
    method, budget, permutations, seed = request.method, request.budget, request.permutations, request.seed
    antithetic, radius, regressor = request.antithetic, request.radius, request.regressor
    tolerance, until = request.tolerance, request.until
    orderings = None
    if request.orderings is not None:
        orderings, method = checked_orderings(request.orderings, game.num_players), "permutation"
    _check_size(game.num_players, k)
    graph = game.graph if family.sees_graph else PlayerGraph.complete(game.num_players)
    first_query = game.num_queries

    def build(estimate: Estimate, exact: bool = False, used: int = 0, stopped: str = "") -> Interactions:
        return Interactions(
            index=family.name,
            order=k,
            graph=game.graph,
            values=estimate.values,
            std_error=estimate.std_error,
            exact=exact,
            method=method,
            num_queries=game.num_queries - first_query,
            num_permutations=used,
            baseline=game.baseline,
            names=game.names,
            stopped=stopped,
            error_parts=None if exact else estimate.parts,
        )

    monitor = Monitor(build, tolerance, until, callback)
    if method == "auto":
        method = _chosen_method(game, graph, k, budget, permutations)
    used, stopped, exact = 0, "", method.startswith("exact")
    if method == "exact":
        count = checked_count(graph, DEFAULT_EXACT_BUDGET if budget is None else budget, family.name)
        estimate = _certain(exact_values(game, graph, k, count, progress))
    elif method == "exact-local":
        limit = DEFAULT_LOCAL_BUDGET if budget is None else budget
        # The same for both families: where players only hear their neighbours, structure adds nothing.
        estimate = _certain(_local_values(game, k, radius, limit, seed, progress))
    elif method == "surrogate":
        estimate, exact, stopped = surrogate_values(
            game, graph, k, budget=budget, regressor=regressor, seed=seed, monitor=monitor, progress=progress
        )
    else:
        if permutations is None and budget is None:
            permutations = DEFAULT_PERMUTATIONS
        estimate, used, stopped = permutation_values(
            game,
            graph,
            k,
            permutations=permutations,
            budget=budget,
            antithetic=antithetic,
            orderings=orderings,
            seed=seed,
            monitor=monitor,
            progress=progress,
        )
    return build(estimate, exact, used, stopped)


def _certain(values: list[Floats]) -> Estimate:
    joined = np.concatenate(values)
    return Estimate(joined, np.zeros_like(joined))


def _local_values(
    game: Game, order: int, radius: int | None, limit: int, seed: int, progress: bool | None
) -> list[Floats]:
    if radius is not None:
        return local_values(game, game.graph, order, checked_whole("radius", radius, least=0), limit, seed, progress)
    hops = game.num_hops
    if hops < 1:
        raise ValueError("radius: say how many hops away players act together; only a model's game knows it itself")
    if game.node_contributions is not None:
        # The model shows what each node adds: exact from far fewer queries.
        before = game.num_queries
        reach = measure_reach(game, game.node_contributions, seed)
        left = limit - (game.num_queries - before) - QUERIES_OF_A_CHECK
        try:
            return node_values(game, game.node_contributions, reach, order, max(left, 1), seed, progress)
        except NotLocalError as error:
            _log.info("%s", error)
    try:
        return local_values(game, game.graph, order, hops, limit, seed, progress)
    except NotLocalError as error:
        # Where layers divide by degrees, nodes one hop further away matter. Worths known so far are remembered.
        _log.info("%s; trying radius %d", error, hops + 1)
        return local_values(game, game.graph, order, hops + 1, limit, seed, progress)


def _chosen_method(game: Game, graph: PlayerGraph, order: int, budget: int | None, permutations: int | None) -> str:
    """Exact where it fits the budget, else the surrogate where it can work, else permutation; and a word on why."""
    limit = DEFAULT_AUTO_BUDGET if budget is None else budget
    count = graph.count_connected(cap=limit)
    number = f"more than {limit:,}" if count > limit else f"{count:,}"
    why = f"{number} connected coalitions, limit {limit:,}"
    if permutations is not None:
        # An explicit number of orderings is a wish to sample.
        return _said("permutation", f"permutations={permutations} asks for it")
    if budget is None and _COSTLY_BUDGET < count <= limit:
        seconds = _seconds_of_a_query(game, graph)
        if seconds > _COSTLY_SECONDS:
            limit = _COSTLY_BUDGET
            why = f"{number} connected coalitions, a query takes {1e3 * seconds:.2g} ms, limit then {limit:,}"
    if count <= limit:
        return _said("exact", why)
    least = least_budget(graph, order)
    if (DEFAULT_SURROGATE_BUDGET if budget is None else budget) < least:
        return _said("permutation", f"{why}; a surrogate would need a budget of {least:,}")
    if importlib.util.find_spec("lightgbm") is None:
        return _said("permutation", f"{why}; the surrogate needs pip install 'mage-explain[surrogate]'")
    return _said("surrogate", why)


def _said(method: str, why: str) -> str:
    _log.info("method='auto' takes %s: %s", method, why)
    return method


def _seconds_of_a_query(game: Game, graph: PlayerGraph) -> float:
    """Time per query of a batch of small coalitions that every method needs anyway."""
    block = next(graph.blocks(_TIMED_QUERIES, max_size=2))
    known = game.num_queries
    start = time.perf_counter()
    game.worth_of_bits(block.members, all_distinct=True)
    asked = game.num_queries - known
    return (time.perf_counter() - start) / asked if asked else 0.0


def _check_size(num_players: int, order: int) -> None:
    """Refuse an index that would not fit in memory; the sums hold a row of n for every set of k − 1."""
    sets = sum(math.comb(num_players, size) for size in range(1, min(order, num_players) + 1))
    sums = math.comb(num_players, min(order, num_players + 1) - 1) * num_players
    if max(sets, sums) > MOST_SUBSETS:
        raise ValueError(
            f"order: {num_players} players have {readable(sets)} sets of up to {order}, and sums over them take "
            f"{readable(sums)} numbers, more than {MOST_SUBSETS:,}; lower the order or group players"
        )
