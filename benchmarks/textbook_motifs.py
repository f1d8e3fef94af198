"""The textbook formulation of the motif problem: every motif has its own copy of all node and pair variables.

This is what the library is measured against, solved by the same HiGHS; it is not used by the library.
"""

from __future__ import annotations

import itertools
import time
from typing import NamedTuple

import highspy
import numpy as np

from mage import Interactions


class Answer(NamedTuple):
    """Seconds spent, objective found, and whether it was proven optimal and connected."""

    seconds: float
    objective: float
    proven: bool


def solve(index: Interactions, num_motifs: int, max_nodes: int, tau: float, seconds: float) -> Answer:
    """Motif-indexed x and z, McCormick rows, big-M for the absolute value, connectivity cuts round by round."""
    start = time.perf_counter()
    n = index.num_players
    weights = {
        players: (tau if value > 0 else 1 - tau) * value for players, value, _ in index if value and (tau or value < 0)
    }
    weights = {players: weight for players, weight in weights.items() if weight}
    scale = max(map(abs, weights.values()), default=1.0)
    mixed = any(w > 0 for w in weights.values()) and any(w < 0 for w in weights.values())
    cost: list[float] = []
    rows: list[tuple[float, float, list[int], list[float]]] = []

    def column(value: float = 0.0) -> int:
        cost.append(value)
        return len(cost) - 1

    x = [[column() for _ in range(n)] for _ in range(num_motifs)]
    infinity = highspy.kHighsInf
    lower_bounds: dict[int, float] = {}
    upper_bounds: dict[int, float] = {}
    binaries = [v for motif in x for v in motif]
    big = sum(abs(w) for w in weights.values()) / scale
    for motif in x:
        value_columns, value_weights = [], []
        for players, weight in weights.items():
            if len(players) == 1:
                product = motif[players[0]]
            else:
                product = column()
                members = [motif[p] for p in players]
                rows.extend((-infinity, 0.0, [product, member], [1.0, -1.0]) for member in members)
                rows.append((1.0 - len(members), infinity, [product, *members], [1.0] + [-1.0] * len(members)))
            value_columns.append(product)
            value_weights.append(weight / scale)
        total = column(1.0)
        if mixed:
            sign = column()
            binaries.append(sign)
            lower_bounds[total] = 0.0
            upper_bounds[total] = infinity
            rows.append(
                (-infinity, 2 * big, [total, *value_columns, sign], [1.0, *(-w for w in value_weights), 2 * big])
            )
            rows.append((-infinity, 0.0, [total, *value_columns, sign], [1.0, *value_weights, -2 * big]))
        else:
            upper_bounds[total] = infinity
            rows.append((-infinity, 0.0, [total, *value_columns], [1.0, *(-abs(w) for w in value_weights)]))
    rows.append((-infinity, float(max_nodes), [v for motif in x for v in motif], [1.0] * (n * num_motifs)))
    rows.extend((-infinity, 1.0, [motif[v] for motif in x], [1.0] * num_motifs) for v in range(n))

    solver = highspy.Highs()
    for name, option in (("output_flag", False), ("threads", 1), ("mip_rel_gap", 0.0), ("mip_abs_gap", 1e-9)):
        solver.setOptionValue(name, option)
    count = len(cost)
    upper = np.array([upper_bounds.get(c, 1.0) for c in range(count)])
    solver.addVars(count, np.array([lower_bounds.get(c, 0.0) for c in range(count)]), upper)
    solver.changeColsCost(count, np.arange(count, dtype=np.int32), -np.array(cost))
    kinds = np.full(len(binaries), highspy.HighsVarType.kInteger)
    solver.changeColsIntegrality(len(binaries), np.array(binaries, dtype=np.int32), kinds)
    while True:
        lengths = [len(row[2]) for row in rows]
        solver.addRows(
            len(rows),
            np.array([row[0] for row in rows]),
            np.array([row[1] for row in rows]),
            sum(lengths),
            np.cumsum([0, *lengths[:-1]]).astype(np.int32),
            np.array([c for row in rows for c in row[2]], dtype=np.int32),
            np.array([v for row in rows for v in row[3]]),
        )
        left = seconds - (time.perf_counter() - start)
        if left <= 0:
            return Answer(seconds, float("nan"), False)
        solver.setOptionValue("time_limit", solver.getRunTime() + left)
        solver.run()
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return Answer(time.perf_counter() - start, float("nan"), False)
        values = np.array(solver.getSolution().col_value)
        rows = []
        for motif in x:
            parts = index.graph.components(values[motif] > 0.5)
            for part, other in itertools.permutations(parts, 2):
                around = np.flatnonzero(index.graph.neighbours(set(part))[0]).tolist()
                for node in part:
                    for copy in x:
                        columns = [copy[node], copy[other[0]], *(copy[w] for w in around)]
                        rows.append((-infinity, 1.0, columns, [1.0, 1.0] + [-1.0] * len(around)))
        if not rows:
            objective = -solver.getInfo().objective_function_value * scale
            return Answer(time.perf_counter() - start, objective, True)
