"""The exact index of games whose worth is a sum over players of what each sees nearby.

A message-passing model of L layers that adds up or averages its nodes gives f(T) = Σ_{v ∈ T} h_v(T), and h_v(T) depends
only on R = [T]_v, what lies within L hops of v inside T (L + 1 where layers divide by degrees). [T]_v is R exactly when
R ⊆ T and T misses N_v(R), the nodes that R's inner layers touch and R has not. So the closed form holds for each h_v
with N_v(R) in the place of N(R),

    index of S = Σ_v Σ over R ∋ v with S ⊆ R ∪ N_v(R) of (−1)^q · ∫ x^(|R|+q−s) (1−x)^(|N_v(R)|−q) dμ · h_v(R),

and no coalition larger than a neighbourhood matters. Nodes of one kind with neighbourhoods that colour refinement
cannot tell apart are the same to such a model, and what is left is asked for together: as computation trees, in one
graph in which equal parts occur once (:mod:`mage._torch.computation_tree`). Where a model does not treat a tree like
the neighbourhood that it stands for, coalitions are asked for that show what all their nodes see at once. Everything
that is assumed is checked on what the model answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mage._core.progress import progress_bar
from mage._core.typing import Bits, Floats, Integers, Masks
from mage._kernels import neighbourhoods as kernels
from mage.games import Game
from mage.graph import CoalitionBlock, PlayerGraph, packing
from mage.indices.closed_form import ClosedForm
from mage.indices.estimators.exact import TooManyCoalitionsError
from mage.indices.estimators.exact_local.coalitions import (
    CHECKS,
    NotLocalError,
    allowance,
    check_coalitions,
    tolerance_of,
)
from mage.indices.problem import Problem

if TYPE_CHECKING:
    from mage.games.colouring import Colouring
    from mage.games.node_contributions import NodeContributions

_MOST_NEIGHBOURHOODS = 20_000_000
_CHUNK = 1 << 12
_FIRST_STEP = 1 << 6  # candidates looked at together at first, while almost each shows something new
_TREES_AT_ONCE = 1 << 14
_ROUNDINGS = 200  # how often a contribution may be rounded
QUERIES_OF_A_CHECK = 2 * CHECKS + 1


class _Neighbourhoods(NamedTuple):
    """What nodes can see in coalitions: R = [T]_v, N_v(R) and v, one a row."""

    members: Bits
    rejected: Bits
    roots: Integers


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
    seen = np.zeros_like(coalitions)
    seen[np.arange(CHECKS), nodes] = True
    for _ in range(game.num_hops):
        seen |= (seen @ adjacency) & coalitions
    picked = np.arange(CHECKS), nodes
    added = contributions(packing.pack(coalitions))[picked]
    tolerance = tolerance_of(game, _ROUNDINGS)
    allowed = allowance(game, added, tolerance)
    reach = Reach(game.num_hops, False, packing.pack(coalitions), nodes, added, tolerance, allowed)
    return reach._replace(extra_hop=not reach.agrees(contributions(packing.pack(seen))[picked]))


def values_from_nodes(
    problem: Problem, contributions: NodeContributions, reach: Reach, budget: int, progress: bool | None
) -> Floats:
    """The values of all sets, by size and then in lexicographic order.

    Args:
        problem: The game and the index.
        contributions: What each node adds to worths.
        reach: How far contributions depend on others.
        budget: Most coalitions to ask for.
        progress: Show a progress bar; by default on a terminal only.
    """
    game, last = problem.game, problem.game.num_queries + budget
    colouring = _colouring(game, contributions, reach)
    takes_trees = _takes_trees(contributions, reach, colouring)
    if not takes_trees and not reach.extra_hop:
        # In small graphs no node is further away than messages go, but degrees still matter.
        further = reach._replace(extra_hop=True)
        if _takes_trees(contributions, further, _colouring(game, contributions, further)):
            reach, colouring, takes_trees = further, _colouring(game, contributions, further), True
    neighbourhoods = _all_neighbourhoods(game.graph, reach.radius)
    colours = colouring.of_roots(neighbourhoods.members, neighbourhoods.roots)
    keys, first, places = np.unique(colours, return_index=True, return_inverse=True)
    if takes_trees:
        values = _from_trees(game, contributions, neighbourhoods, first, colouring, last, progress)
    else:
        coalitions = _cover(neighbourhoods, keys, places, colouring, max(last - game.num_queries, 0))
        values = _from_coalitions(contributions, coalitions, keys, colouring, reach, progress)
    _check(game, keys, values, colouring, reach, problem.request.seed)
    total = ClosedForm(game.num_players, problem.measures)
    for start in range(0, len(places), 1 << 18):
        part = slice(start, start + (1 << 18))
        members = neighbourhoods.members[part]
        block = CoalitionBlock(members, neighbourhoods.rejected[part], packing.sizes(members))
        total.add(block, values[places[part]])
    return total.values()


def _colouring(game: Game, contributions: NodeContributions, reach: Reach) -> Colouring:
    """What tells nodes apart. Of those one hop further only the number counts, unless edges weigh differently."""
    by_degrees = reach.extra_hop and contributions.edges_alike
    rounds = reach.hops if by_degrees else reach.radius
    return contributions.colouring(game.graph, rounds, by_degrees)


def _too_many(needed: str) -> TooManyCoalitionsError:
    return TooManyCoalitionsError(
        f"method='exact-local' needs {needed}; raise budget, or use method='surrogate' or 'permutation'"
    )


def _all_neighbourhoods(graph: PlayerGraph, radius: int) -> _Neighbourhoods:
    words = graph.adjacency_bits.shape[1]
    nothing: Bits = np.empty((0, words), dtype=np.uint64)
    parts, left = [], _MOST_NEIGHBOURHOODS
    for root in range(graph.num_players):
        count = kernels.neighbourhoods(graph.adjacency_bits, root, radius, nothing, nothing, left)
        if count < 0:
            raise TooManyCoalitionsError(
                f"method='exact-local': nodes can see more than {_MOST_NEIGHBOURHOODS:,} different neighbourhoods of "
                f"{radius} hops; use method='surrogate' or 'permutation'"
            )
        members = np.empty((count, words), dtype=np.uint64)
        rejected = np.empty_like(members)
        kernels.neighbourhoods(graph.adjacency_bits, root, radius, members, rejected, left)
        parts.append(_Neighbourhoods(members, rejected, np.full(count, root)))
        left -= count
    return _Neighbourhoods(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _takes_trees(contributions: NodeContributions, reach: Reach, colouring: Colouring) -> bool:
    """Whether the model gives the root of a computation tree what it gives the node in its coalition.

    Models that count edges at their sources, or for which an edge must run both ways, do not.
    """
    try:
        tree = contributions.tree(reach.coalitions, reach.nodes, colouring)
        return reach.agrees(contributions.of_tree(tree, len(reach.nodes)))
    except (RuntimeError, ValueError, TypeError, IndexError):
        return False  # the model does not take such graphs


def _from_trees(
    game: Game,
    contributions: NodeContributions,
    neighbourhoods: _Neighbourhoods,
    first: Integers,
    colouring: Colouring,
    last: int,
    progress: bool | None,
) -> Floats:
    """The contribution of each colour; ``first`` names a neighbourhood of it, ``last`` is the query to stop at."""
    least, budget = -(-len(first) // game.num_players), last - game.num_queries
    if least > budget:
        raise _too_many(f"at least {least:,} queries here, and budget leaves {budget:,}")
    # Neighbourhoods as they were listed: those that come together have most of their parts in common.
    order = np.argsort(first)
    values = np.empty(len(first))
    with progress_bar("neighbourhoods", len(first), progress) as tick:
        for start in range(0, len(order), _TREES_AT_ONCE):
            places = order[start : start + _TREES_AT_ONCE]
            rows = first[places]
            tree = contributions.tree(neighbourhoods.members[rows], neighbourhoods.roots[rows], colouring)
            if game.num_queries + tree.queries(game.num_players) > last:
                done = start / len(order)
                raise _too_many(f"more than the {budget:,} queries that budget leaves, which sufficed for {done:.0%}")
            values[places] = contributions.of_tree(tree, len(places))
            tick(len(places))
    return values


def _cover(neighbourhoods: _Neighbourhoods, keys: Bits, places: Integers, colouring: Colouring, budget: int) -> Bits:
    """Coalitions that show every colour: each that still shows a new one, large ones first, which show more at once."""
    order = np.argsort(-packing.sizes(neighbourhoods.members), kind="stable")
    candidates, targets = neighbourhoods.members[order], places[order]
    known = np.zeros(len(keys), dtype=np.bool_)
    chosen: list[int] = []
    start, step = 0, _FIRST_STEP
    while start < len(candidates):
        rows = start + np.flatnonzero(~known[targets[start : start + step]])
        place, shown = _places(keys, colouring.of_nodes(candidates[rows]))
        for number, row in enumerate(rows):
            if not known[targets[row]]:
                chosen.append(int(row))
                known[place[number, shown[number]]] = True
        if len(chosen) > budget:
            raise _too_many(f"more than the {budget:,} queries that budget leaves")
        start, step = start + step, min(2 * step, _CHUNK)
    return candidates[chosen]


def _places(keys: Bits, colours: Bits) -> tuple[Integers, Masks]:
    """Where colours are among the sorted keys, and whether they are there at all."""
    place = np.minimum(np.searchsorted(keys, colours), len(keys) - 1)
    return place, keys[place] == colours


def _from_coalitions(
    contributions: NodeContributions,
    coalitions: Bits,
    keys: Bits,
    colouring: Colouring,
    reach: Reach,
    progress: bool | None,
) -> Floats:
    """The contribution h of each colour; nodes of one colour must agree."""
    low, high = np.full(len(keys), np.inf), np.full(len(keys), -np.inf)
    with progress_bar("neighbourhoods", len(coalitions), progress) as tick:
        for start in range(0, len(coalitions), _CHUNK):
            block = coalitions[start : start + _CHUNK]
            added, shown = contributions(block), colouring.of_nodes(block)
            place, known = _places(keys, shown)
            np.minimum.at(low, place[known], added[known])
            np.maximum.at(high, place[known], added[known])
            tick(len(block))
    scale = max(float(np.abs(high).max()), float(np.abs(low).max()), 1e-300)
    apart = float((high - low).max()) / scale
    if not apart * scale <= max(reach.allowed, reach.tolerance * scale):
        raise NotLocalError(
            f"method='exact-local': nodes that look alike within {reach.radius} hops differ by {apart:.2g} of the "
            "largest contribution; the model sees more than that"
        )
    return np.asarray((low + high) / 2)


def _check(game: Game, keys: Bits, values: Floats, colouring: Colouring, reach: Reach, seed: int) -> None:
    """Compare the worths of random coalitions with the sums of what their members add."""
    coalitions = check_coalitions(game.graph, seed)
    shown = colouring.of_nodes(packing.pack(coalitions))
    place, known = _places(keys, shown)
    known |= ~coalitions
    predicted = np.where(coalitions, values[place], 0.0).sum(axis=1)
    worths = game.worth(coalitions)
    scale = max(float(np.abs(worths).max()), 1e-300)
    violation = np.where(known.all(axis=1), np.abs(predicted - worths), np.inf)
    worst = int(violation.argmax())
    if violation[worst] > allowance(game, worths, reach.tolerance):
        raise NotLocalError(
            f"method='exact-local': the worth of {game.describe(coalitions[worst])} is {worths[worst]:.6g}, but what "
            f"its members see within {reach.radius} hops makes {predicted[worst]:.6g} (a violation of "
            f"{violation[worst] / scale:.2g} of the largest worth)"
        )
