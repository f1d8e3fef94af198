"""``mage.interactions``: the one entrance to all indices and methods."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any

from mage._core.checks import checked_flag
from mage.games import Game
from mage.indices.estimate import Estimate
from mage.indices.estimators import ESTIMATORS, NotLocalError, TooManyCoalitionsError
from mage.indices.estimators.exact import readable
from mage.indices.method_choice import Choice, choices
from mage.indices.problem import Problem
from mage.indices.request import IndexRequest
from mage.indices.result import Interactions
from mage.indices.stopping import Condition, Monitor
from mage.indices.subsets import MOST_SUBSETS

_log = logging.getLogger("mage")
_USUAL = IndexRequest()
_OF_GAMES = ("graph", "baseline", "names")
_OF_ESTIMATES = ("values", "std_error", "exact", "num_permutations", "num_samples", "stopped")
"""Fields of results that are taken over from games and from estimates."""


def interactions(
    game: Game,
    index: str = _USUAL.index,
    order: int | None = _USUAL.order,
    method: str = _USUAL.method,
    budget: int | None = _USUAL.budget,
    permutations: int | None = _USUAL.permutations,
    seed: int = _USUAL.seed,
    *,
    request: IndexRequest | None = None,
    antithetic: bool = _USUAL.antithetic,
    orderings: Any = _USUAL.orderings,
    radius: int | None = _USUAL.radius,
    regressor: str = _USUAL.regressor,
    tolerance: float | None = _USUAL.tolerance,
    until: str | Condition | None = _USUAL.until,
    samples: int | None = _USUAL.samples,
    callback: Callable[[Interactions], Any] | None = None,
    progress: bool | None = None,
) -> Interactions:
    """Compute an interaction index of a game.

    Args:
        game: Players, graph and value function.
        index: ``"shapley"``, ``"shapley-taylor"``, ``"sii"``, ``"k-sii"``, ``"banzhaf"`` or ``"faith-shap"``, which
            ignore the graph; or the same through the graph: ``"myerson"``, ``"myerson-taylor"``, ``"myerson-sii"``,
            ``"myerson-k-sii"``, ``"myerson-banzhaf"``, ``"myerson-faith-shap"``.
        order: k; 2 by default, 1 for ``"shapley"`` and ``"myerson"``.
        method: ``"exact"`` (one query per connected coalition), ``"exact-local"`` (exact from few queries, for games in
            which players act together only nearby; checked, and refused otherwise), ``"permutation"`` (Algorithm 1 of
            the paper, with standard errors, for the Shapley, Myerson and Taylor indices), ``"multilinear"`` (random
            sets of players, with standard errors, for every index), ``"surrogate"`` (a regressor learns the game from
            few queries and is then corrected: unbiased, with standard errors, from a tenth of the queries or fewer),
            or ``"auto"``: exact or exact-local where that is within reach; else permutation, where the model is small
            and 32 orderings need at most 80,000 coalitions; else surrogate, or (where that cannot be) permutation or
            multilinear. The choice depends on counts alone; the result has the method and the reason.
        budget: The largest number of distinct coalitions, including known ones: ``"exact"`` compares their number
            with it, the others stop before it is passed (and count the empty coalition). By default 10,000,000 for
            ``"exact"``, 200,000 for ``"exact-local"``, 2,000 for ``"surrogate"``, 200,000 for the other two; and for
            ``"auto"`` to go exact 100,000 (fewer for large models), or 10,000,000 for message-passing models.
        permutations: Orderings to sample; 200 by default, or as many as ``budget`` allows where only that is given.
        seed: Seed of everything that is random.
        request: All of the other arguments but ``callback`` and ``progress`` at once, instead of them.
        antithetic: Draw orderings in pairs, one the reverse of the other, and random sets with their complements: a
            smaller error for the same number.
        orderings: Use exactly these orderings [t, n] instead of random ones (with ``"permutation"``).
        radius: L of ``"exact-local"``: how many hops away players act together; read from a model by default.
        regressor: Of ``"surrogate"``: ``"ridge"``, ``"trees"``, ``"mix"``, or ``"auto"`` for what predicts best.
        tolerance: Stop sampling when the largest standard error is at most this.
        until: Stop sampling when this is true: ``"motifs stable"`` (the best motif no longer changes within the error),
            or a function of the interactions so far.
        samples: Random sets to draw with ``"multilinear"``; 200 by default, or as many as ``budget`` allows.
        callback: Called with the interactions so far, from time to time; if it returns true, the run ends. So does
            an interruption (Ctrl-C). :attr:`Interactions.stopped` says what ended a run.
        progress: Show a progress bar; by default on a terminal only.

    Returns:
        Values for all sets of at most k players, their standard errors, and their cost.

    Raises:
        TooManyCoalitionsError: ``method="exact"`` over budget; the message has the count and the alternatives.
        ValueFunctionError: The value function failed; the message names the coalition.
    """
    direct = IndexRequest(
        *(index, order, method, budget, permutations, seed, antithetic, orderings),
        *(radius, regressor, tolerance, until, samples),
    )
    if request is None:
        request = direct
    elif direct != _USUAL:
        twice = [field.name for field in fields(direct) if getattr(direct, field.name) != getattr(_USUAL, field.name)]
        raise ValueError(f"request already holds {', '.join(twice)}; give either the request or the arguments")
    return compute_interactions(game, request, callback=callback, progress=progress)


def compute_interactions(
    game: Game,
    request: IndexRequest,
    *,
    callback: Callable[[Interactions], Any] | None = None,
    progress: bool | None = None,
) -> Interactions:
    """Compute the index of a request; see :func:`interactions`.

    Args:
        game: Players, graph and value function.
        request: Index, order, method and cost.
        callback: Called with the interactions so far, from time to time; a true answer stops and keeps them.
        progress: Show a progress bar; by default on a terminal only.
    """
    if not isinstance(game, Game):
        raise TypeError(f"game must be a mage.Game, got {type(game).__name__}")
    if not isinstance(request, IndexRequest):
        raise TypeError(f"request must be a mage.indices.IndexRequest, got {type(request).__name__}")
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be a function of the interactions, got {callback!r}")
    if progress is not None:
        progress = checked_flag("progress", progress)
    problem = Problem.of(game, request)
    interactions = first_possible(problem, choices(problem), callback, progress)
    if interactions is None:
        raise ValueError("method: no estimator can do it; the log says what was tried")
    return interactions


def first_possible(
    problem: Problem,
    estimators: Iterable[Choice],
    callback: Callable[[Interactions], Any] | None = None,
    progress: bool | None = None,
) -> Interactions | None:
    """The interactions by the first of some estimators that can compute them; None where none can.

    Args:
        problem: The game and the index.
        estimators: Estimators, the best first.
        callback: Called with the interactions so far, from time to time; a true answer stops and keeps them.
        progress: Show a progress bar; by default on a terminal only.
    """
    _check_size(problem.num_players, problem.order)
    first_query, request = problem.game.num_queries, problem.request
    for choice in estimators:
        if request.method == "auto":
            _log.info("method='auto' takes %s: %s", choice.method, choice.reason)
        limited = problem if choice.budget is None else replace(problem, request=replace(request, budget=choice.budget))
        try:
            return _computed(limited, choice, first_query, callback, progress)
        except (NotLocalError, TooManyCoalitionsError) as error:
            # The next choice may do; its reason says what was tried.
            if request.method != "auto":
                raise
            _log.info("%s", error)
    return None


def _computed(
    problem: Problem,
    choice: Choice,
    first_query: int,
    callback: Callable[[Interactions], Any] | None,
    progress: bool | None,
) -> Interactions:
    """The interactions by one estimator."""
    game, request, estimator = problem.game, problem.request, ESTIMATORS[choice.method]
    refusal = estimator.refusal(problem)
    if refusal is not None:
        raise refusal

    def build(estimate: Estimate) -> Interactions:
        return Interactions(
            index=problem.family.name,
            order=problem.order,
            method=choice.method,
            reason=choice.reason,
            num_queries=game.num_queries - first_query,
            error_parts=None if estimate.exact else estimate.parts,
            **{name: getattr(game, name) for name in _OF_GAMES},
            **{name: getattr(estimate, name) for name in _OF_ESTIMATES},
        )

    monitor = Monitor(build, request.tolerance, request.until, callback)
    return build(estimator.estimate(problem, monitor, progress))


def _check_size(num_players: int, order: int) -> None:
    """Refuse an index that would not fit in memory; the sums hold a row of n for every set of k − 1."""
    sets = sum(math.comb(num_players, size) for size in range(1, min(order, num_players) + 1))
    sums = math.comb(num_players, min(order, num_players + 1) - 1) * num_players
    if max(sets, sums) > MOST_SUBSETS:
        raise ValueError(
            f"order: {num_players} players have {readable(sets)} sets of up to {order}, and sums over them take "
            f"{readable(sums)} numbers, more than {MOST_SUBSETS:,}; lower the order or group players"
        )
