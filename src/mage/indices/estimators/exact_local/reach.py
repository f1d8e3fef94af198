"""How far the contributions of nodes depend on others, and what tells nodes apart; measured on random coalitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mage._core.typing import Bits, Floats, Integers
from mage.games import Game
from mage.graph import count_neighbourhoods, packing
from mage.indices.estimators.exact_local.coalitions import CHECKS, allowance, tolerance_of
from mage.indices.problem import Problem

if TYPE_CHECKING:
    from mage.games.colouring import Colouring
    from mage.games.node_contributions import NodeContributions

# Each takes a quarter of a microsecond at orders 2 and 3, and as much again where most of them differ to the model.
MOST_NEIGHBOURHOODS = 20_000_000
AUTO_NEIGHBOURHOODS = 20_000_000  # with method="auto": less time than a surrogate takes
_ROUNDINGS = 200  # how often a contribution may be rounded


class Reach(NamedTuple):
    """How far a node's contribution depends on others, and the random nodes in coalitions on which that was measured.

    Attributes:
        hops: L, how far messages go.
        extra_hop: Whether more matters than what lies within L hops, such as the degrees of nodes at the edge of it.
        coalitions: The coalitions.
        nodes: A node of each.
        values: What it adds.
        tolerance: Differences of so much of the largest worth are rounding.
        allowed: Differences between contributions that are rounding.
    """

    hops: int
    extra_hop: bool
    coalitions: Bits
    nodes: Integers
    values: Floats
    tolerance: float
    allowed: float

    @property
    def radius(self) -> int:
        """Hops that matter."""
        return self.hops + self.extra_hop

    def agrees(self, values: Floats) -> bool:
        """Whether these are the contributions, up to rounding."""
        return bool((np.abs(values - self.values) <= self.allowed).all())


def measure_reach(game: Game, contributions: NodeContributions, seed: int) -> Reach:
    """Whether contributions depend on more than what lies as far away as messages of the model go."""
    generator = np.random.default_rng([seed, 1])
    n, adjacency = game.num_players, game.graph.adjacency
    coalitions = generator.random((CHECKS, n)) < generator.uniform(0.5, 1.0, size=(CHECKS, 1))
    nodes = generator.integers(n, size=CHECKS)
    coalitions[np.arange(CHECKS), nodes] = True
    ball = np.zeros_like(coalitions)
    ball[np.arange(CHECKS), nodes] = True
    for _ in range(game.num_hops):
        ball |= (ball @ adjacency) & coalitions
    picked = np.arange(CHECKS), nodes
    added = contributions(packing.pack(coalitions))[picked]
    tolerance = tolerance_of(game, _ROUNDINGS)
    allowed = allowance(game, added, tolerance)
    reach = Reach(game.num_hops, False, packing.pack(coalitions), nodes, added, tolerance, allowed)
    return reach._replace(extra_hop=not reach.agrees(contributions(packing.pack(ball))[picked]))


class Refinement(NamedTuple):
    """What tells the nodes of a game apart.

    Attributes:
        reach: How far their contributions depend on others.
        colouring: Colours, equal where contributions are.
        takes_trees: Whether computation trees can be asked for in the place of coalitions.
    """

    reach: Reach
    colouring: Colouring
    takes_trees: bool


def refinement_of(problem: Problem, contributions: NodeContributions) -> Refinement:
    """What tells the nodes of a problem's game apart, measured once for each problem."""
    stored = problem.facts.get("refinement")
    if isinstance(stored, Refinement):
        return stored
    game = problem.game
    refinement = _refinement(game, contributions, measure_reach(game, contributions, problem.request.seed))
    problem.facts["refinement"] = refinement
    return refinement


def _refinement(game: Game, contributions: NodeContributions, reach: Reach) -> Refinement:
    colouring = _colouring(game, contributions, reach)
    takes_trees = _takes_trees(contributions, reach, colouring)
    if not takes_trees and not reach.extra_hop:
        # In small graphs no node is further away than messages go, but degrees still matter.
        further = _refinement(game, contributions, reach._replace(extra_hop=True))
        if further.takes_trees:
            return further
    return Refinement(reach, colouring, takes_trees)


def exact_local_size(problem: Problem, cap: int = AUTO_NEIGHBOURHOODS) -> int | None:
    """How many neighbourhoods ``"exact-local"`` sums over, or ``cap + 1`` where these are more than ``cap``.

    None where a model does not show what its nodes add. How far nodes see is measured by some hundred queries, once
    for each problem; the count itself asks for nothing.
    """
    contributions = problem.game.node_contributions
    if contributions is None:
        return None
    count = problem.facts.get("neighbourhoods")
    if not isinstance(count, int):
        count = count_neighbourhoods(problem.game.graph, refinement_of(problem, contributions).reach.radius, cap)
        if count <= cap:
            problem.facts["neighbourhoods"] = count
    return min(count, cap + 1)


def neighbourhood_limit(problem: Problem) -> int:
    """How many neighbourhoods may be summed over: fewer where other methods are tried next."""
    return AUTO_NEIGHBOURHOODS if problem.request.method == "auto" else MOST_NEIGHBOURHOODS


def _colouring(game: Game, contributions: NodeContributions, reach: Reach) -> Colouring:
    """What tells nodes apart. Of those one hop further only the number counts, unless edges weigh differently."""
    by_degrees = reach.extra_hop and contributions.edges_alike
    rounds = reach.hops if by_degrees else reach.radius
    return contributions.colouring(game.graph, rounds, by_degrees)


def _takes_trees(contributions: NodeContributions, reach: Reach, colouring: Colouring) -> bool:
    """Whether the model gives the root of a computation tree what it gives the node in its coalition.

    Models that count edges at their sources, or for which an edge must run both ways, do not.
    """
    try:
        tree = contributions.tree(reach.coalitions, reach.nodes, colouring)
        return reach.agrees(contributions.of_tree(tree, len(reach.nodes)))
    except (RuntimeError, ValueError, TypeError, IndexError):
        return False  # the model does not take such graphs
