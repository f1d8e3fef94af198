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
from numpy.typing import NDArray

from mage._core.progress import progress_bar
from mage._core.typing import Bits, Floats, Integers, Masks
from mage.games import Game
from mage.games.memo import CoalitionTable
from mage.games.root_colours import RootColours
from mage.graph import Neighbourhoods, packing
from mage.indices.closed_form import ClosedForm
from mage.indices.estimators.exact import TooManyCoalitionsError
from mage.indices.estimators.exact_local.coalitions import CHECKS, NotLocalError, allowance, check_coalitions
from mage.indices.estimators.exact_local.reach import MOST_NEIGHBOURHOODS, Reach, Refinement, exact_local_size
from mage.indices.problem import Problem

if TYPE_CHECKING:
    from mage.games.colouring import Colouring
    from mage.games.node_contributions import NodeContributions

_CHUNK = 1 << 12
_FIRST_STEP = 1 << 6  # candidates coloured together at first, while almost each of them has a new colour
_TREES_AT_ONCE = 1 << 14
QUERIES_OF_A_CHECK = 2 * CHECKS + 1


class _Examples(NamedTuple):
    """For each colour, in their order, one neighbourhood whose root has this colour, and the root."""

    members: Bits
    roots: Integers


def values_from_nodes(
    problem: Problem, contributions: NodeContributions, refinement: Refinement, budget: int, progress: bool | None
) -> Floats:
    """The values of all sets, by size and then in lexicographic order.

    Args:
        problem: The game and the index.
        contributions: What each node adds to worths.
        refinement: The colours of nodes.
        budget: The largest number of coalitions to query.
        progress: Show a progress bar; by default on a terminal only.
    """
    game, last = problem.game, problem.game.num_queries + budget
    reach, colouring, takes_trees = refinement
    limit = MOST_NEIGHBOURHOODS
    if (exact_local_size(problem, limit) or 0) > limit:
        raise TooManyCoalitionsError(
            f"method='exact-local': nodes can see more than {limit:,} different neighbourhoods of "
            f"{reach.radius} hops; use method='surrogate' or 'permutation'"
        )
    by_root = [Neighbourhoods(game.graph, root, reach.radius) for root in range(game.num_players)]
    colours = CoalitionTable(1)
    colour_rows, examples = _coloured(by_root, colouring, colours)
    if takes_trees:
        values = _from_trees(game, contributions, examples, colouring, last, progress)
    else:
        coalitions = _covering_coalitions(examples, colours, colouring, max(last - game.num_queries, 0))
        values = _from_coalitions(contributions, coalitions, colours, colouring, reach, progress)
    _check(game, colours, values, refinement, problem.request.seed)
    total = ClosedForm(game.num_players, problem.measures)
    for sets, rows in zip(by_root, colour_rows, strict=True):
        total.add_neighbourhoods(sets, values[rows])
    return total.values()


def _coloured(
    by_root: list[Neighbourhoods], colouring: Colouring, colours: CoalitionTable
) -> tuple[list[NDArray[np.int32]], _Examples]:
    """The colour of each neighbourhood of each root, and an example of each; new colours are added to ``colours``."""
    colour_rows, members, roots = [], [], []
    for root, sets in enumerate(by_root):
        colour_of, parts = RootColours(colouring, sets), []
        for block, _ in sets.blocks():
            num_before = colours.size
            rows = colours.intern(colour_of(block)[:, None])
            parts.append(rows.astype(np.int32))
            # New colours come in the order of their numbers.
            new = np.searchsorted(np.maximum.accumulate(rows), np.arange(num_before, colours.size))
            members.append(sets.among_all(block[new]))
            roots.append(np.full(len(new), root))
        colour_rows.append(np.concatenate(parts))
    return colour_rows, _Examples(np.concatenate(members), np.concatenate(roots))


def _too_many(needed: str) -> TooManyCoalitionsError:
    return TooManyCoalitionsError(
        f"method='exact-local' needs {needed}; raise budget, or use method='surrogate' or 'permutation'"
    )


def _from_trees(
    game: Game,
    contributions: NodeContributions,
    examples: _Examples,
    colouring: Colouring,
    last: int,
    progress: bool | None,
) -> Floats:
    """The contribution of each colour; ``last`` is the query to stop at."""
    count = len(examples.roots)
    least, budget = -(-count // game.num_players), last - game.num_queries
    if least > budget:
        raise _too_many(f"at least {least:,} queries here, and budget leaves {budget:,}")
    values = np.empty(count)
    with progress_bar("neighbourhoods", count, progress) as tick:
        for start in range(0, count, _TREES_AT_ONCE):
            # In the order of the list: neighbourhoods next to each other share most parts of their trees.
            rows = slice(start, start + _TREES_AT_ONCE)
            roots = examples.roots[rows]
            tree = contributions.tree(examples.members[rows], roots, colouring)
            if game.num_queries + tree.queries(game.num_players) > last:
                share = start / count
                raise _too_many(f"more than the {budget:,} queries that budget leaves, which sufficed for {share:.0%}")
            values[rows] = contributions.of_tree(tree, len(roots))
            tick(len(roots))
    return values


def _covering_coalitions(examples: _Examples, colours: CoalitionTable, colouring: Colouring, budget: int) -> Bits:
    """Coalitions in which every colour occurs. Large ones come first, since they hold more colours at once."""
    order = np.argsort(-packing.sizes(examples.members), kind="stable")
    candidates = examples.members[order]
    has_example = np.zeros(len(candidates), dtype=np.bool_)
    rows_in_cover: list[int] = []
    start, step = 0, _FIRST_STEP
    while start < len(candidates):
        rows = start + np.flatnonzero(~has_example[order[start : start + step]])
        place, has_place = _places(colours, colouring.of_nodes(candidates[rows]))
        for number, row in enumerate(rows):
            if not has_example[order[row]]:
                rows_in_cover.append(int(row))
                has_example[place[number, has_place[number]]] = True
        if len(rows_in_cover) > budget:
            raise _too_many(f"more than the {budget:,} queries that budget leaves")
        start, step = start + step, min(2 * step, _CHUNK)
    return candidates[rows_in_cover]


def _places(table: CoalitionTable, colours: Bits) -> tuple[Integers, Masks]:
    """The row of each colour in the table (0 where there is none), and whether there is one."""
    place = table.find(np.ascontiguousarray(colours.reshape(-1, 1))).reshape(colours.shape)
    return np.maximum(place, 0), place >= 0


def _from_coalitions(
    contributions: NodeContributions,
    coalitions: Bits,
    colours: CoalitionTable,
    colouring: Colouring,
    reach: Reach,
    progress: bool | None,
) -> Floats:
    """The contribution h of each colour; nodes of one colour must agree."""
    low, high = np.full(colours.size, np.inf), np.full(colours.size, -np.inf)
    with progress_bar("neighbourhoods", len(coalitions), progress) as tick:
        for start in range(0, len(coalitions), _CHUNK):
            block = coalitions[start : start + _CHUNK]
            contribution_rows, node_colours = contributions(block), colouring.of_nodes(block)
            place, has_place = _places(colours, node_colours)
            np.minimum.at(low, place[has_place], contribution_rows[has_place])
            np.maximum.at(high, place[has_place], contribution_rows[has_place])
            tick(len(block))
    scale = max(float(np.abs(high).max()), float(np.abs(low).max()), 1e-300)
    difference = float((high - low).max()) / scale
    if not difference * scale <= max(reach.allowed, reach.tolerance * scale):
        raise NotLocalError(
            f"method='exact-local': nodes that look alike within {reach.radius} hops differ by {difference:.2g} of the "
            "largest contribution; the model sees more than that"
        )
    return np.asarray((low + high) / 2)


def _check(game: Game, colours: CoalitionTable, values: Floats, refinement: Refinement, seed: int) -> None:
    """Compare the worths of random coalitions with the sums of their members' contributions."""
    reach, colouring, _ = refinement
    coalitions = check_coalitions(game.graph, seed)
    node_colours = colouring.of_nodes(packing.pack(coalitions))
    place, has_place = _places(colours, node_colours)
    has_place |= ~coalitions
    predicted = np.where(coalitions, values[place], 0.0).sum(axis=1)
    worths = game.worth(coalitions)
    scale = max(float(np.abs(worths).max()), 1e-300)
    violation = np.where(has_place.all(axis=1), np.abs(predicted - worths), np.inf)
    worst = int(violation.argmax())
    if violation[worst] > allowance(game, worths, reach.tolerance):
        raise NotLocalError(
            f"method='exact-local': the worth of {game.describe(coalitions[worst])} is {worths[worst]:.6g}, but what "
            f"its members see within {reach.radius} hops makes {predicted[worst]:.6g} (a violation of "
            f"{violation[worst] / scale:.2g} of the largest worth)"
        )
