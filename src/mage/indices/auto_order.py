"""The default order of an index: a decision by counts alone, the same on every machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mage.games import Game
from mage.indices.api import compute_interactions, first_possible
from mage.indices.families import family_named
from mage.indices.method_choice import exact_choices
from mage.indices.problem import Problem
from mage.indices.request import IndexRequest
from mage.indices.result import Interactions

Callback = Callable[[Interactions], Any]
TRIPLES = 3
FEW_PLAYERS = 40
"""Players up to which interactions of three are estimated where they cannot be exact; there are 9,880 sets of three."""


def best_interactions(
    game: Game, request: IndexRequest, *, callback: Callback | None = None, progress: bool | None = None
) -> Interactions:
    """The interactions of a request; of order 3 where the order is left open and that is within reach, else of order 2.

    Interactions of three tell motifs apart that pairs cannot. They are within reach where they can be computed exactly,
    and where there are at most 40 players.

    Args:
        game: Players, graph and value function.
        request: Index, order, method and cost.
        callback: Called with the interactions so far, from time to time; a true answer stops and keeps them.
        progress: Show a progress bar; by default on a terminal only.
    """
    if request.order is not None or not _has_triples(request) or _sampled(request):
        return compute_interactions(game, request, callback=callback, progress=progress)
    higher = replace(request, order=min(TRIPLES, game.num_players))
    if game.num_players <= FEW_PLAYERS:
        return compute_interactions(game, higher, callback=callback, progress=progress)
    problem = Problem.of(game, higher)
    exactly = first_possible(problem, exact_choices(problem), callback, progress)
    if exactly is not None:
        return exactly
    return compute_interactions(game, request, callback=callback, progress=progress)


def _has_triples(request: IndexRequest) -> bool:
    largest = family_named(request.index).largest_order
    return largest is None or largest >= TRIPLES


def _sampled(request: IndexRequest) -> bool:
    """Whether the request is for orderings or random sets, whose number grows with the order."""
    settings = (request.permutations, request.orderings, request.samples)
    return request.method in ("permutation", "multilinear") or any(value is not None for value in settings)
