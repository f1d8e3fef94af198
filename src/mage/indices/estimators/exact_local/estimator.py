"""The estimator ``"exact-local"``: from what nodes see where a model shows it, else from coalitions of small radius."""

from __future__ import annotations

import logging

from mage.indices.estimate import Estimate
from mage.indices.estimators.exact_local.coalitions import NotLocalError, values_from_coalitions
from mage.indices.estimators.exact_local.nodes import QUERIES_OF_A_CHECK, values_from_nodes
from mage.indices.estimators.exact_local.reach import refinement_of
from mage.indices.estimators.protocol import Estimator
from mage.indices.problem import Problem
from mage.indices.stopping import Monitor

_log = logging.getLogger("mage")

DEFAULT_BUDGET = 200_000


class ExactLocal(Estimator):
    """The exact index from few queries, where players act together only within some hops; checked, else refused.

    Indices that see the graph and those that ignore it are the same for such games.
    """

    name = "exact-local"
    needs = "players that act together only within some hops: a game of a message-passing model, or radius="
    fields = frozenset({"radius"})

    def refusal(self, problem: Problem) -> Exception | None:
        """A reason where the game does not tell within how many hops players act together."""
        if problem.request.radius is None and problem.game.num_hops < 1:
            return ValueError(
                "radius: say how many hops away players act together; only a model's game knows it itself"
            )
        return None

    def estimate(self, problem: Problem, monitor: Monitor, progress: bool | None) -> Estimate:  # noqa: ARG002 (no sampling to stop)
        """The values of all sets; raises :class:`NotLocalError` where the game is not of this kind."""
        budget, radius = problem.request.budget or DEFAULT_BUDGET, problem.request.radius
        if radius is not None:
            return Estimate.certain(values_from_coalitions(problem, radius, budget, progress))
        game, hops = problem.game, problem.game.num_hops
        if game.node_contributions is not None:
            # The model shows what each node adds: exact from far fewer queries.
            before = game.num_queries
            refinement = refinement_of(problem, game.node_contributions)
            left = max(budget - (game.num_queries - before) - QUERIES_OF_A_CHECK, 1)
            try:
                values = values_from_nodes(problem, game.node_contributions, refinement, left, progress)
                return Estimate.certain(values)
            except NotLocalError as error:
                _log.info("%s", error)
        try:
            return Estimate.certain(values_from_coalitions(problem, hops, budget, progress))
        except NotLocalError as error:
            # Where layers divide by degrees, nodes one hop further away matter. Worths known so far are remembered.
            _log.info("%s; trying radius %d", error, hops + 1)
            return Estimate.certain(values_from_coalitions(problem, hops + 1, budget, progress))
