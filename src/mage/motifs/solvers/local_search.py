"""Better motifs by moves of single nodes, where the search stopped before its proof. No promise of the best."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mage._core.typing import Floats, Integers, Masks
from mage.motifs.problem import MotifProblem

_MOST_MOVES = 200
_NOBODY = -1


def improved(problem: MotifProblem, labels: Integers) -> Integers:
    """A feasible family after adding, dropping and swapping single nodes by the largest gain, while one is left."""
    for _ in range(_MOST_MOVES):
        for gain, leaving, joining, label in _moves(problem, labels):
            if gain <= problem.tolerance:
                return labels
            moved = labels.copy()
            if leaving != _NOBODY:
                moved[leaving] = 0
            if joining != _NOBODY:
                moved[joining] = label
            if problem.feasible(moved):
                labels = moved
                break
        else:
            return labels
    return labels


def _moves(problem: MotifProblem, labels: Integers) -> Iterator[tuple[float, int, int, int]]:
    """Moves by falling gain: what they gain, who leaves its motif, who joins which motif."""
    n = problem.num_nodes
    members = labels != 0
    names = np.unique(labels[members]).tolist()
    couplings = {name: _couplings(problem, labels == name) for name in names}
    # What each member loses to its motif by leaving; the last entry stands for nobody.
    lost = np.full(n + 1, np.inf)
    lost[_NOBODY] = 0.0 if members.sum() < problem.max_nodes else np.inf
    for name, (worths, _) in couplings.items():
        free = (labels == name) & ~problem.required
        lost[:-1][free] = worths[free]
    gains, places = [-lost[:-1]], [(np.arange(n), np.full(n, _NOBODY), np.zeros(n, dtype=np.int64))]
    for name, (worths, coupling) in couplings.items():
        near = problem.graph.neighbours((labels == name)[None])[0] & ~members & ~problem.forbidden
        joining = np.flatnonzero(near)
        change = worths[joining][None, :] - lost[:, None]
        change[:-1] -= np.where((labels == name)[:, None], coupling[:, joining], 0.0)
        gains.append(change.ravel())
        leaving = np.repeat(np.arange(n + 1), len(joining))
        places.append((np.where(leaving == n, _NOBODY, leaving), np.tile(joining, n + 1), np.full(change.size, name)))
    every = np.concatenate(gains)
    leavers, joiners, targets = (np.concatenate(part) for part in zip(*places, strict=True))
    for move in np.argsort(-every, kind="stable"):
        yield float(every[move]), int(leavers[move]), int(joiners[move]), int(targets[move])


def _couplings(problem: MotifProblem, members: Masks) -> tuple[Floats, Floats]:
    """What each node adds to a motif or holds of it, and what two nodes have in common beside its members."""
    side = problem.side_of(members)
    coupling = problem.pair[side].copy()
    for a, b, c in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        inside = members[problem.triples[:, c]]
        i, j = problem.triples[inside, a], problem.triples[inside, b]
        for ends in ((i, j), (j, i)):
            np.add.at(coupling, ends, problem.triple[side, inside])
    # A triple with two members in the motif was counted for each of them.
    twice = coupling - problem.pair[side]
    worths = problem.node[side] + (problem.pair[side] + twice / 2) @ members
    return worths, coupling
