"""How far away other nodes matter to the contribution of a node, and which nodes share one; measured by sampling."""

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

# A neighbourhood takes a quarter of a microsecond at orders 2 and 3, twice as much where most have different colours.
MOST_NEIGHBOURHOODS = 20_000_000  # less time than a surrogate takes
_ROUNDINGS = 200  # how often a contribution may be rounded


class Reach(NamedTuple):
    """How far away other nodes matter to a node's contribution, and the sample of nodes in coalitions that shows it.

    Attributes:
        hops: L, how far messages go.
        extra_hop: Whether more matters than what lies within L hops, such as the degrees of nodes at the edge of it.
        coalitions: The coalitions.
        nodes: One node of each coalition.
        values: The contributions of these nodes.
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
    """Measure whether contributions depend on nodes further away than messages of the model travel."""
    generator = np.random.default_rng([seed, 1])
    n, adjacency = game.num_players, game.graph.adjacency
    coalitions = generator.random((CHECKS, n)) < generator.uniform(0.5, 1.0, size=(CHECKS, 1))
    nodes = generator.integers(n, size=CHECKS)
    coalitions[np.arange(CHECKS), nodes] = True
    ball = np.zeros_like(coalitions)
    ball[np.arange(CHECKS), nodes] = True
    for _ in range(game.num_hops):
        ball |= (ball @ adjacency) & coalitions
    one_each = np.arange(CHECKS), nodes
    values = contributions(packing.pack(coalitions))[one_each]
    tolerance = tolerance_of(game, _ROUNDINGS)
    allowed = allowance(game, values, tolerance)
    reach = Reach(game.num_hops, False, packing.pack(coalitions), nodes, values, tolerance, allowed)
    return reach._replace(extra_hop=not reach.agrees(contributions(packing.pack(ball))[one_each]))


class Refinement(NamedTuple):
    """Colours of the nodes of a game: nodes of one colour have the same contribution.

    Attributes:
        reach: How far away other nodes matter.
        colouring: The colours.
        takes_trees: Whether the model may be run on computation trees instead of coalitions.
    """

    reach: Reach
    colouring: Colouring
    takes_trees: bool


def refinement_of(problem: Problem, contributions: NodeContributions) -> Refinement:
    """The colours of the nodes of a problem's game, measured once for each problem."""
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
        # In small graphs no node is further away than messages travel, but degrees may still matter.
        further = _refinement(game, contributions, reach._replace(extra_hop=True))
        if further.takes_trees:
            return further
    return Refinement(reach, colouring, takes_trees)


def exact_local_size(problem: Problem, cap: int = MOST_NEIGHBOURHOODS) -> int | None:
    """How many neighbourhoods ``"exact-local"`` sums over, or ``cap + 1`` where these are more than ``cap``.

    None where a model does not show the contributions of its nodes. The radius is measured by some hundred queries,
    once for each problem; the count itself needs no queries.
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


def _colouring(game: Game, contributions: NodeContributions, reach: Reach) -> Colouring:
    """The colouring by ``reach``. Of nodes one hop further only the number counts, unless edges have weights."""
    by_degrees = reach.extra_hop and contributions.edges_alike
    rounds = reach.hops if by_degrees else reach.radius
    return contributions.colouring(game.graph, rounds, by_degrees)


def _takes_trees(contributions: NodeContributions, reach: Reach, colouring: Colouring) -> bool:
    """Whether the root of a computation tree has the same contribution as the node in its coalition.

    This is false for models that count edges at their sources, or that need edges in both directions.
    """
    try:
        tree = contributions.tree(reach.coalitions, reach.nodes, colouring)
        return reach.agrees(contributions.of_tree(tree, len(reach.nodes)))
    except (RuntimeError, ValueError, TypeError, IndexError):
        return False  # the model does not take such graphs
