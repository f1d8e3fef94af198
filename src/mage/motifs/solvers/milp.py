"""Exact motifs by mixed-integer programming (HiGHS), connectivity added as it is violated."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import highspy
import numpy as np

from mage._core.typing import Floats, Integers, Masks
from mage.motifs.problem import MotifProblem
from mage.motifs.solvers.protocol import Outcome

_INFINITY = highspy.kHighsInf
_MAYBE = 1e-6  # a variable above this counts as used


@dataclass
class _Rows:
    """Linear constraints waiting to be handed to the solver in one call."""

    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, lower: float, columns: list[int], values: list[float], upper: float) -> None:
        self.lower.append(lower)
        self.upper.append(upper)
        self.starts.append(len(self.columns))
        self.columns.extend(columns)
        self.values.extend(values)

    def at_most(self, small: list[int], large: list[int], slack: float = 0.0) -> None:
        """Σ small ≤ Σ large + slack."""
        self.add(-_INFINITY, small + large, [1.0] * len(small) + [-1.0] * len(large), slack)


class MotifProgram:
    """The linear integer programme of a motif problem, in one solver instance that grows by cuts.

    Where one side counts and no weight is negative, motifs are the components of *one* chosen set: variables x_v and
    z_ij only, no motif index, no symmetry. Otherwise each side that may help has m slots, of which at most m are used;
    a slot's side turns the larger of two worths into a linear term. Both are tightened by Σ_j z_ij ≤ (M − 1) x_i, the
    product of the cardinality row with x_i.
    """

    def __init__(self, problem: MotifProblem) -> None:
        self.problem = problem
        self.merged = problem.merging
        sides = problem.useful_sides or problem.sides[:1]
        self.sides = sides if self.merged else tuple(side for side in sides for _ in range(problem.num_motifs))
        n = problem.num_nodes
        self.x: Integers = np.arange(len(self.sides) * n).reshape(len(self.sides), n)
        self._cost: list[float] = [weight for side in self.sides for weight in problem.node[side] / problem.scale]
        self._rows = _Rows()
        self._within_reach = _distances(problem) < problem.max_nodes
        self.together: list[dict[tuple[int, int], int]] = [self._pairs(slot) for slot in range(len(self.sides))]
        for slot in range(len(self.sides)):
            self._triples(slot)
        self._budgets()
        self._solver = self._built()

    # -- the model ------------------------------------------------------------------------------------------------

    def _column(self, cost: float) -> int:
        self._cost.append(cost)
        return len(self._cost) - 1

    def _pairs(self, slot: int) -> dict[tuple[int, int], int]:
        """z_ij = x_i x_j for weighted pairs of one slot."""
        problem, x, side = self.problem, self.x[slot], self.sides[slot]
        weights = problem.pair[side] / problem.scale
        needed = np.triu(weights != 0, 1)
        for i, j in ((0, 1), (0, 2), (1, 2)):
            pairs = problem.triples[problem.triple[side] > 0][:, [i, j]]
            needed[pairs[:, 0], pairs[:, 1]] = True
        columns: dict[tuple[int, int], int] = {}
        partners: list[list[int]] = [[] for _ in range(problem.num_nodes)]
        for i, j in np.argwhere(needed).tolist():
            if weights[i, j] < 0:
                column = self._column(weights[i, j])
                self._rows.at_most([int(x[i]), int(x[j])], [column], 1.0)
            elif self._within_reach[i, j]:
                columns[i, j] = column = self._column(weights[i, j])
                self._rows.at_most([column], [int(x[i])])
                self._rows.at_most([column], [int(x[j])])
                partners[i].append(column)
                partners[j].append(column)
        for i, near in enumerate(partners):
            if near:
                self._rows.add(-_INFINITY, [*near, int(x[i])], [1.0] * len(near) + [1.0 - problem.max_nodes], 0.0)
        return columns

    def _triples(self, slot: int) -> None:
        """y_ijk = x_i x_j x_k for weighted triples of one slot."""
        problem, x = self.problem, self.x[slot]
        weights = problem.triple[self.sides[slot]] / problem.scale
        for (i, j, k), weight in zip(problem.triples.tolist(), weights.tolist(), strict=True):
            if weight == 0:
                continue
            if weight < 0:
                self._rows.at_most([int(x[v]) for v in (i, j, k)], [self._column(weight)], 2.0)
                continue
            ends = ((i, j), (i, k), (j, k))
            if all(self._within_reach[pair] for pair in ends):
                column = self._column(weight)
                for pair in ends:
                    # Pairs that weigh against the slot have no z from above; their ends do as well.
                    above = self.together[slot].get(pair)
                    for limit in [int(x[v]) for v in pair] if above is None else [above]:
                        self._rows.at_most([column], [limit])

    def _budgets(self) -> None:
        problem, x = self.problem, self.x
        self._rows.add(-_INFINITY, x.ravel().tolist(), [1.0] * x.size, float(problem.max_nodes))
        for v in range(problem.num_nodes):
            if problem.required[v] or len(self.sides) > 1:
                self._rows.add(float(problem.required[v]), x[:, v].tolist(), [1.0] * len(x), 1.0)
        if self.merged:
            return
        used = [self._column(0.0) for _ in self.sides]
        for slot, column in enumerate(used):
            for v in x[slot].tolist():
                self._rows.at_most([v], [column])
        self._rows.add(-_INFINITY, used, [1.0] * len(used), float(problem.num_motifs))
        for slot in range(1, len(self.sides)):
            if self.sides[slot] == self.sides[slot - 1]:
                # Slots of one side are alike: fill them by falling size.
                self._rows.at_most(x[slot].tolist(), x[slot - 1].tolist())

    def _built(self) -> highspy.Highs:
        solver = highspy.Highs()  # type: ignore[no-untyped-call]
        options: dict[str, bool | int | float | str] = {
            "output_flag": False,
            "threads": 1,
            "parallel": "off",
            "random_seed": 0,
            "mip_rel_gap": 0.0,
            "mip_abs_gap": 1e-9,
            "mip_feasibility_tolerance": 1e-9,
            "primal_feasibility_tolerance": 1e-9,
            "dual_feasibility_tolerance": 1e-9,
        }
        for name, value in options.items():
            solver.setOptionValue(name, value)
        count = len(self._cost)
        upper = np.ones(count)
        upper[self.x[:, self.problem.forbidden].ravel()] = 0.0
        solver.addVars(count, np.zeros(count), upper)
        # HiGHS minimises.
        solver.changeColsCost(count, np.arange(count, dtype=np.int32), -np.array(self._cost))
        whole = self.x.size
        kinds = np.full(whole, highspy.HighsVarType.kInteger)
        solver.changeColsIntegrality(whole, np.arange(whole, dtype=np.int32), kinds)
        self._hand_over(solver)
        return solver

    def _hand_over(self, solver: highspy.Highs) -> None:
        rows = self._rows
        if rows.lower:
            solver.addRows(
                len(rows.lower),
                np.array(rows.lower),
                np.array(rows.upper),
                len(rows.columns),
                np.array(rows.starts, dtype=np.int32),
                np.array(rows.columns, dtype=np.int32),
                np.array(rows.values),
            )
        self._rows = _Rows()

    # -- solving --------------------------------------------------------------------------------------------------

    def solve(self, start: Integers | None, node_limit: int) -> Outcome:
        """Solve, cut off disconnected answers, solve again, until the answer is connected or the limit is reached."""
        problem, solver = self.problem, self._solver
        best = start
        worth = -np.inf if start is None else problem.objective(start)
        bound, work = np.inf, 0
        if start is not None:
            columns = np.flatnonzero(self._cost)
            # Nothing worse than what is known is of interest; a little slack keeps that itself feasible.
            floor = worth / problem.scale - 1e-7
            self._rows.add(floor, columns.tolist(), np.array(self._cost)[columns].tolist(), _INFINITY)
            self._hand_over(solver)
        while work < node_limit:
            if best is not None and problem.feasible(best):
                self._suggest(best)
            solver.setOptionValue("mip_max_nodes", int(node_limit - work))
            solver.run()
            info = solver.getInfo()
            work += max(1, int(info.mip_node_count))
            status = solver.getModelStatus()
            if status == highspy.HighsModelStatus.kInfeasible:
                bound = worth
                break
            if np.isfinite(info.mip_dual_bound):
                bound = min(bound, -float(info.mip_dual_bound) * problem.scale)
            values = np.array(solver.getSolution().col_value)
            if len(values) == 0:
                break
            labels = self._repaired(values)
            if problem.feasible(labels) and problem.objective(labels) > worth:
                best, worth = labels, problem.objective(labels)
            if bound <= worth + 1e-9 * problem.scale or status != highspy.HighsModelStatus.kOptimal:
                break
            self._cut(values)
            if not self._rows.lower:
                break
            self._hand_over(solver)
        return Outcome(best, max(bound, worth), work)

    def _suggest(self, labels: Integers) -> None:
        """Hand a feasible family to the solver as a start."""
        values = np.zeros(self.x.size)
        free = list(range(len(self.sides)))
        members = [labels == label for label in np.unique(labels[labels != 0])]
        for part in sorted(members, key=lambda part: -int(part.sum())):
            slot = 0 if self.merged else next(s for s in free if self.sides[s] == self.problem.side_of(part))
            values[self.x[slot, part]] = 1.0
            if not self.merged:
                free.remove(slot)
        self._solver.setSolution(self.x.size, np.arange(self.x.size, dtype=np.int32), values)

    def _chosen(self, values: Floats) -> Masks:
        return np.asarray(values[self.x] > 0.5)

    def _repaired(self, values: Floats) -> Integers:
        """A connected family out of the solver's answer: the best components of it."""
        problem, labels = self.problem, np.zeros(self.problem.num_nodes, dtype=np.int64)
        pieces: list[Masks] = []
        for members in self._chosen(values):
            parts = [np.isin(np.arange(problem.num_nodes), part) for part in problem.graph.components(members)]
            parts.sort(key=self._rank)
            pieces += parts if self.merged else parts[:1]
        for rank, part in enumerate(sorted(pieces, key=self._rank)[: problem.num_motifs], start=1):
            if self._counts(part):
                labels[part] = rank
        return labels

    def _rank(self, part: Masks) -> tuple[int, float]:
        """Parts that hold required nodes first, then by falling worth."""
        return -int((part & self.problem.required).sum()), -self.problem.strength(part)

    def _counts(self, part: Masks) -> bool:
        """Whether a part is worth a motif."""
        problem = self.problem
        return problem.strength(part) > problem.tolerance or bool((part & problem.required).any())

    # -- cuts -----------------------------------------------------------------------------------------------------

    def _cut(self, values: Floats) -> None:
        for slot, members in enumerate(self._chosen(values)):
            parts = self.problem.graph.components(members)
            if len(parts) > 1:
                around = [self._around(part) for part in parts]
                (self._cut_merged if self.merged else self._cut_slot)(slot, parts, around, values)

    def _around(self, part: list[int]) -> list[int]:
        mask = np.isin(np.arange(self.problem.num_nodes), part)
        return np.flatnonzero(self.problem.graph.neighbours(mask[None])[0]).tolist()

    def _cut_slot(self, _slot: int, parts: list[list[int]], around: list[list[int]], _values: Floats) -> None:
        """x_a + x_b − 1 ≤ Σ x over N(C), for a in C and b in another component: a slot holds one motif."""
        for one, other in itertools.permutations(range(len(parts)), 2):
            anchor = parts[other][0]
            for a in parts[one]:
                for x in self.x.tolist():
                    self._rows.at_most([x[a], x[anchor]], [x[w] for w in around[one]], 1.0)

    def _cut_merged(self, slot: int, parts: list[list[int]], around: list[list[int]], values: Floats) -> None:
        """z_ij ≤ Σ x over N(C) for i in C, j not in C; and m + 1 components need a vertex that joins two of them."""
        problem, x = self.problem, self.x[slot].tolist()
        home = {v: rank for rank, part in enumerate(parts) for v in part}
        for (i, j), column in self.together[slot].items():
            if values[column] > _MAYBE and i in home and j in home and home[i] != home[j]:
                for end in (i, j):
                    self._rows.at_most([column], [x[w] for w in around[home[end]]])
        masks = [np.isin(np.arange(problem.num_nodes), part) for part in parts]
        counted = [rank for rank, mask in enumerate(masks) if self._counts(mask)]
        if len(counted) > problem.num_motifs:
            counted.sort(key=lambda rank: -problem.strength(masks[rank]))
            strongest = counted[: problem.num_motifs + 1]
            border = sorted({w for rank in strongest for w in around[rank]})
            weights = np.abs(problem.node[self.sides[slot]])
            heads = [max(parts[rank], key=lambda v: weights[v]) for rank in strongest]
            for place, rank in enumerate(strongest):
                for v in parts[rank]:
                    representatives = [*heads[:place], v, *heads[place + 1 :]]
                    self._rows.at_most(
                        [x[c] for c in representatives], [x[w] for w in border], float(problem.num_motifs)
                    )


def _distances(problem: MotifProblem) -> Floats:
    """Shortest-path lengths [n, n]; infinite between components."""
    from scipy.sparse.csgraph import shortest_path

    return np.asarray(shortest_path(problem.graph.adjacency, unweighted=True))


def solve_program(problem: MotifProblem, start: Integers | None, node_limit: int) -> Outcome:
    """Solve by HiGHS; arguments and answer as in :class:`mage.motifs.solvers.protocol.Solver`."""
    return MotifProgram(problem).solve(start, node_limit)
