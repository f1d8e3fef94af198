"""Motifs for a grid of settings (τ, m, M), so that a page can answer at once what a solver would."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.typing import Integers
from mage.explanation.arguments import checked_explanation
from mage.motifs import BOTH, Motif, MotifSet, family_objective, find_motifs

if TYPE_CHECKING:
    from mage.explanation import Explanation

IMPOSSIBLE = -1
_SMALL, _LARGE, _HUGE = 40, 100, 300  # players up to which the grid is fine, then coarser and coarser
_TAU_STEPS = ((_SMALL, 10), (_HUGE, 4), (float("inf"), 2))
_ROUND_SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30)
_CELL_WORK = 4_000_000  # search nodes × n² for one cell: some hundredths of a second, whatever the graph
_ALL_WORK = 600_000_000  # for all cells together; after that each gets the least
_LEAST_NODES = 100


@dataclass(frozen=True)
class SolutionGrid:
    """Motifs for each (τ, m, M) of a grid.

    Attributes:
        taus: Values of τ, ascending; ``"both"`` first where both sides were searched apart.
        counts: Values of m, ascending.
        sizes: Values of M, ascending.
        cells: For each (τ, m, M) the position in :attr:`solutions`, −1 where no family meets the conditions.
        solutions: Different solutions; their motifs hold players.
        noise_floor: Share of the largest interaction up to which interactions counted as zero.
        start: Position (τ, m, M) of the explanation's own setting, whose solution is its own motifs.
        complete: False where only the explanation's own setting is there, because its conditions are not known.
    """

    taus: tuple[float | str, ...]
    counts: tuple[int, ...]
    sizes: tuple[int, ...]
    cells: Integers
    solutions: tuple[MotifSet, ...]
    start: tuple[int, int, int]
    complete: bool
    noise_floor: float = 0.0

    def at(self, tau: float | str, num_motifs: int, max_nodes: int) -> MotifSet | None:
        """The motifs for a setting of the grid; None where there are none."""
        place = self.taus.index(tau), self.counts.index(num_motifs), self.sizes.index(max_nodes)
        number = int(self.cells[place])
        return None if number == IMPOSSIBLE else self.solutions[number]


def solution_grid(explanation: Explanation) -> SolutionGrid:
    """Solve the motif search of an explanation for many settings.

    All conditions but τ, m and M are those of the explanation. A cell is not searched where a proven solution of a
    less restricted setting fits into it, which makes most cells free. Each search is limited by work, not by time; what
    it could not prove says so.
    """
    checked_explanation(explanation)
    motif_set = motifs_of_players(explanation)
    taus, counts, sizes = _axes(motif_set, explanation.interactions.num_players)
    conditions = _conditions(explanation, motif_set)
    if conditions is None:
        cells = np.zeros((1, 1, 1), dtype=np.int64)
        return SolutionGrid(
            (motif_set.side_weight,),
            (motif_set.num_motifs,),
            (motif_set.max_nodes,),
            cells,
            (motif_set,),
            (0, 0, 0),
            complete=False,
        )
    start = taus.index(motif_set.side_weight), counts.index(motif_set.num_motifs), sizes.index(motif_set.max_nodes)
    cells = np.full((len(taus), len(counts), len(sizes)), IMPOSSIBLE, dtype=np.int64)
    solutions: list[MotifSet] = []
    numbers: dict[Any, int] = {}
    work = 0
    for row, tau in enumerate(taus):
        proven: list[MotifSet] = []
        for column, place in product(reversed(range(len(counts))), reversed(range(len(sizes)))):
            count, size = counts[column], sizes[place]
            if (row, column, place) == start:
                solution: MotifSet | None = motif_set
            else:
                solution = _fitting(proven, count, size)
                if solution is None:
                    solution = _solved(explanation, conditions, tau, count, size, work=work)
                    work += 0 if solution is None else solution.work * explanation.interactions.num_players**2
            if solution is None:
                continue
            if solution.optimal and not any(solution is other for other in proven):
                proven.append(solution)
            key = (solution.both_sides, solution.optimal, solution.bound, tau)
            cells[row, column, place] = numbers.setdefault(key, len(solutions))
            if numbers[key] == len(solutions):
                solutions.append(solution)
    floor = float(conditions.get("noise_floor", 0.0))
    return SolutionGrid(taus, counts, sizes, cells, tuple(solutions), start, complete=True, noise_floor=floor)


def motifs_of_players(explanation: Explanation) -> MotifSet:
    """The explanation's motifs with players instead of nodes, as the search found them."""
    owner = {node: player for player, nodes in enumerate(explanation.players) for node in nodes}

    def of_players(family: MotifSet) -> MotifSet:
        motifs = []
        for motif in family:
            # A node belongs to several edges, so motifs of edges say themselves which they are.
            of_nodes = sorted({owner[node] for node in motif.nodes if node in owner})
            players = explanation.motif_players(motif) if motif.edges else of_nodes
            names = tuple(explanation.interactions.names[player] for player in players)
            motifs.append(Motif(tuple(players), motif.score, names))
        against = None if family.against is None else of_players(family.against)
        return replace(family, motifs=tuple(motifs), num_nodes=explanation.interactions.num_players, against=against)

    return of_players(explanation.motifs)


def _axes(motif_set: MotifSet, num_players: int) -> tuple[tuple[float | str, ...], tuple[int, ...], tuple[int, ...]]:
    """Values of τ, m and M, those of the explanation among them."""
    steps = next(steps for most, steps in _TAU_STEPS if num_players <= most)
    weights = sorted({motif_set.tau, *(step / steps for step in range(steps + 1))})
    taus: list[float | str] = [*([] if motif_set.against is None else [BOTH]), *weights]
    # Motifs of more than half of the graph explain nothing, and are the hardest to find.
    largest = min(max(motif_set.max_nodes, (num_players + 1) // 2), num_players)  # a file may say any number
    counts: Iterable[int] = range(1, min(3 if num_players > _LARGE else 4, num_players) + 1)
    sizes: Iterable[int] = range(1, largest + 1)
    if num_players > _HUGE:
        counts, sizes = (1,), (-(-motif_set.max_nodes // 2),)
    elif num_players > _SMALL:
        sizes = [size for size in _ROUND_SIZES[:: 2 if num_players > _LARGE else 1] if size <= largest]
    return tuple(taus), tuple(sorted({motif_set.num_motifs, *counts})), tuple(sorted({motif_set.max_nodes, *sizes}))


def _conditions(explanation: Explanation, motif_set: MotifSet) -> dict[str, Any] | None:
    """What else the search was to respect; None where the motifs were found in another way.

    It is checked that these conditions give the motifs the objective that they have, and that nothing better is found.
    """
    interactions = explanation.interactions
    if not np.isfinite(motif_set.bound) or interactions.order > 3 or not np.isfinite(interactions.values).all():
        return None
    conditions = {name: getattr(motif_set, name) for name in ("include", "exclude", "connected", "noise_floor")}
    conditions["objective"] = motif_set.objective_name
    solution = _solved(explanation, conditions, motif_set.side_weight, motif_set.num_motifs, motif_set.max_nodes)
    # What may be rounding of the model's numbers did not count in the search; models compute in single precision.
    slack = 1e-5 * max(abs(motif_set.objective), abs(motif_set.bound), 1e-12)
    agrees = (
        solution is not None
        and solution.objective <= motif_set.bound + slack
        and motif_set.objective <= solution.bound + slack
        and abs(family_objective(interactions, motif_set) - motif_set.objective) <= slack
    )
    return conditions if agrees else None


def _solved(
    explanation: Explanation,
    conditions: dict[str, Any],
    tau: float | str,
    num_motifs: int,
    max_nodes: int,
    work: int = 0,
) -> MotifSet | None:
    """What the search finds for one setting, within what is left of the work for all; None where nothing can be."""
    limit = _CELL_WORK // explanation.interactions.num_players**2 if work < _ALL_WORK else 0
    try:
        return find_motifs(
            explanation.interactions,
            num_motifs=num_motifs,
            max_nodes=max_nodes,
            tau=tau,
            solver="search",
            node_limit=max(_LEAST_NODES, limit),
            **conditions,
        )
    except ValueError:
        return None  # nothing holds all nodes that must be in a motif


def _fitting(proven: list[MotifSet], num_motifs: int, max_nodes: int) -> MotifSet | None:
    """A proven solution of a setting that allows all this one allows, if it happens to lie within this one."""
    for solution in proven:
        relaxed = solution.num_motifs >= num_motifs and solution.max_nodes >= max_nodes
        if relaxed and len(solution) <= num_motifs and len(solution.nodes) <= max_nodes:
            return solution
    return None
