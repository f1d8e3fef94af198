"""The exact index of games whose players act together only nearby.

A message-passing model of L layers whose readout adds up its nodes, with a linear head, gives a logit that is additive
over components (f = f|_E under "split" masking) and in which a group matters as a group only if it is connected and
lies within L hops of one of its members: all other Harsanyi dividends are zero. (Where layers divide by degrees, one
hop more matters: the degree of a node counts its neighbours.) So the worths of these few coalitions say all:

    m(T) = f(T) − Σ m(T') over such T' ⊊ T,      index of S = Σ m(T) · a_s(|T|) over such T ⊇ S,

with a_s(t) what the index gives S on unanimity games of t players, 1 / C(t, k) for the top order of a Taylor index.
Indices that see the graph and those that ignore it coincide. Whether a game is of this kind is checked on random
coalitions; one that is not is refused.
"""

from __future__ import annotations

import numpy as np

from mage._core.progress import progress_bar
from mage._core.typing import Bits, Floats, Integers, Masks
from mage._kernels import dividends as kernels
from mage.games import Game
from mage.graph import PlayerGraph, packing
from mage.indices.closed_form import Accumulator
from mage.indices.estimators.exact import TooManyCoalitionsError
from mage.indices.measures import Measure
from mage.indices.problem import Problem

CHECKS = 64
_ALL_CHECKED = 7  # players whose coalitions are all checked
_OUTPUT_ROUNDINGS = 50
_ROUNDINGS = 800  # how often a worth may be rounded on the way to a sum of dividends
_FINEST = 1e-10


class NotLocalError(ValueError):
    """The game is not additive over components, or players act together further away than said."""


def tolerance_of(game: Game, roundings: int) -> float:
    """What share of the largest worth may be lost to rounding; more is a violation."""
    return max(roundings * game.resolution, _FINEST)


def values_from_coalitions(problem: Problem, radius: int, budget: int, progress: bool | None) -> Floats:
    """The values of all sets, by size and then in lexicographic order.

    Args:
        problem: The game and the index.
        radius: L, how many hops away players can act together.
        budget: The largest number of coalitions to query.
        progress: Show a progress bar; by default on a terminal only.
    """
    game = problem.game
    checks = check_coalitions(game.graph, problem.request.seed)
    family = local_coalitions(game.graph, radius, budget, len(checks))
    worths = np.empty(len(family))
    with progress_bar("local coalitions", len(family), progress) as tick:
        for start in range(0, len(family), 1 << 14):
            block = family[start : start + (1 << 14)]
            worths[start : start + len(block)] = game.worth_of_bits(block, all_distinct=True)
            tick(len(block))
    sizes = packing.sizes(family)
    dividends = worths.copy()
    kernels.subtract_smaller(family, np.searchsorted(sizes, np.arange(game.num_players + 2), side="right"), dividends)
    _check(game, checks, family, dividends, radius)
    by_size = [_summed(family, sizes, dividends, game.num_players, *measure) for measure in problem.measures.items()]
    return np.concatenate(by_size)


def local_coalitions(graph: PlayerGraph, radius: int, budget: int, reserved: int = 0) -> Bits:
    """Connected coalitions in which some member reaches all others within ``radius`` hops inside, smallest first.

    There must be no more than ``budget``, of which some queries are ``reserved``.
    """
    balls = [_around(graph, centre, radius, budget) for centre in range(graph.num_players)]
    family = np.unique(np.concatenate(balls), axis=0)
    if len(family) + reserved > budget:
        raise _too_many(budget, radius)
    return np.ascontiguousarray(family[np.argsort(packing.sizes(family), kind="stable")])


def _around(graph: PlayerGraph, centre: int, radius: int, budget: int) -> Bits:
    """Connected coalitions whose members are within ``radius`` hops of a centre among them."""
    adjacency = graph.adjacency
    near = np.zeros(graph.num_players, dtype=bool)
    near[centre] = True
    # No two players are further apart than this, whatever radius is given.
    radius = min(radius, graph.num_players)
    for _ in range(radius):
        near |= near @ adjacency
    others = np.flatnonzero(near & (np.arange(graph.num_players) != centre))
    ball = np.concatenate([[centre], others])
    # The enumeration lists coalitions by their smallest member: with the centre first, those with it come first.
    inner = PlayerGraph(len(ball), np.argwhere(np.triu(adjacency[np.ix_(ball, ball)])))
    blocks, listed = [], 0
    for masks in inner.connected_coalitions():
        with_centre = masks[masks[:, 0]]
        listed += len(with_centre)
        close = with_centre[_within(with_centre, inner.adjacency, radius)]
        whole = np.zeros((len(close), graph.num_players), dtype=bool)
        whole[:, ball] = close
        blocks.append(packing.pack(whole))
        if len(with_centre) < len(masks):
            break
        if listed > 10 * budget:
            raise _too_many(budget, radius)
    return np.concatenate(blocks)


def _within(masks: Masks, adjacency: Masks, radius: int) -> Masks:
    """Whether player 0 reaches all members within ``radius`` hops inside the coalition."""
    reached = np.zeros_like(masks)
    reached[:, 0] = True
    # Float products are the fast ones.
    weights = adjacency.astype(np.float32)
    for _ in range(radius):
        reached |= (reached.astype(np.float32) @ weights > 0) & masks
    return np.asarray((reached == masks).all(axis=1))


def _too_many(budget: int, radius: int) -> ValueError:
    """The error of a game that would take too many queries."""
    return TooManyCoalitionsError(
        f"method='exact-local' needs one query for each connected coalition of radius {radius}, and a few to check; "
        f"these are more than budget = {budget:,}; raise budget, or use method='surrogate' or 'permutation'"
    )


def check_coalitions(graph: PlayerGraph, seed: int) -> Masks:
    """Coalitions on which the property is checked: of few players all, else random ones, connected ones, and V."""
    players = graph.num_players
    if players <= _ALL_CHECKED:
        return np.asarray((np.arange(1, 1 << players)[:, None] >> np.arange(players)) & 1 == 1)
    generator = np.random.default_rng(seed)
    random_coalitions = generator.random((CHECKS, players)) < generator.random((CHECKS, 1))
    return np.concatenate(
        [random_coalitions, graph.sample_connected(CHECKS, generator), np.ones((1, players), dtype=np.bool_)]
    )


def allowance(game: Game, worths: Floats, tolerance: float) -> float:
    """How far worths may be off by rounding: their own, and that of the outputs they are differences of."""
    return tolerance * float(np.abs(worths).max(initial=0.0)) + _OUTPUT_ROUNDINGS * game.resolution * abs(game.baseline)


def _check(game: Game, coalitions: Masks, family: Bits, dividends: Floats, radius: int) -> None:
    """Compare the worths of random coalitions with what the dividends say."""
    packed = packing.pack(coalitions)
    predicted = np.empty(len(packed))
    kernels.sum_inside(family, dividends, packed, predicted)
    worths = game.worth(coalitions)
    scale = max(float(np.abs(worths).max()), float(np.abs(dividends).max(initial=0.0)), 1e-300)
    allowed = allowance(game, np.array([scale]), tolerance_of(game, _ROUNDINGS))
    violation = np.abs(predicted - worths)
    worst = int(violation.argmax())
    if violation[worst] > allowed:
        raise NotLocalError(
            f"method='exact-local': the worth of {game.describe(coalitions[worst])} is {worths[worst]:.6g}, but its "
            f"parts of radius {radius} make {predicted[worst]:.6g} (a violation of {violation[worst] / scale:.2g} of "
            "the largest worth). The property holds for logits of models that add up or average their nodes, under "
            "masking='split'; use method='exact' or 'permutation' for others"
        )


def _summed(family: Bits, sizes: Integers, dividends: Floats, num_players: int, size: int, measure: Measure) -> Floats:
    """Σ m(T) · a_s(|T|) over T ⊇ S."""
    if size > num_players:
        return np.zeros(0)
    coefficients = np.zeros((num_players + 1, num_players + 1, size + 1))
    coefficients[size:, 0, 0] = measure.moments(num_players - size)
    accumulator = Accumulator(num_players, size, coefficients)
    counted = coefficients[sizes, 0, 0] != 0
    # No neighbours: a dividend counts for the subsets of its own coalition only.
    members = np.ascontiguousarray(family[counted])
    accumulator.add(members, np.zeros_like(members), dividends[counted])
    return accumulator.values()
