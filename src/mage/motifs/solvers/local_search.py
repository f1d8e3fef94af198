"""Local search: better motifs by moves of single nodes, where the exact search stopped before its proof."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mage._core.typing import Floats, Integers, Masks
from mage.motifs.problem import MotifProblem

_MOST_MOVES = 200
_NO_NODE = -1


def improved(problem: MotifProblem, labels: Integers) -> Integers:
    """A family improved by adding, dropping and swapping single nodes, the largest gain first, until none is left."""
    for _ in range(_MOST_MOVES):
        for gain, leaving, joining, label in _moves(problem, labels):
            if gain <= problem.tolerance:
                return labels
            candidate = labels.copy()
            if leaving != _NO_NODE:
                candidate[leaving] = 0
            if joining != _NO_NODE:
                candidate[joining] = label
            if problem.feasible(candidate):
                labels = candidate
                break
        else:
            return labels
    return labels


def _moves(problem: MotifProblem, labels: Integers) -> Iterator[tuple[float, int, int, int]]:
    """Moves by falling gain: the gain, the node that leaves its motif, the node that joins, and the motif it joins."""
    n = problem.num_nodes
    members = labels != 0
    motif_labels = np.unique(labels[members]).tolist()
    couplings = {motif_label: _couplings(problem, labels == motif_label) for motif_label in motif_labels}
    # What the motif of each member loses when the member leaves; the last entry is for moves where none leaves.
    losses = np.full(n + 1, np.inf)
    losses[_NO_NODE] = 0.0 if members.sum() < problem.max_nodes else np.inf
    for motif_label, (worths, _) in couplings.items():
        free = (labels == motif_label) & ~problem.required
        losses[:-1][free] = worths[free]
    gains, node_moves = [-losses[:-1]], [(np.arange(n), np.full(n, _NO_NODE), np.zeros(n, dtype=np.int64))]
    for motif_label, (worths, coupling) in couplings.items():
        near = problem.graph.neighbours((labels == motif_label)[None])[0] & ~members & ~problem.forbidden
        joining = np.flatnonzero(near)
        change = worths[joining][None, :] - losses[:, None]
        change[:-1] -= np.where((labels == motif_label)[:, None], coupling[:, joining], 0.0)
        gains.append(change.ravel())
        leaving = np.repeat(np.arange(n + 1), len(joining))
        node_moves.append(
            (np.where(leaving == n, _NO_NODE, leaving), np.tile(joining, n + 1), np.full(change.size, motif_label))
        )
    all_gains = np.concatenate(gains)
    leavers, joiners, targets = (np.concatenate(part) for part in zip(*node_moves, strict=True))
    for move in np.argsort(-all_gains, kind="stable"):
        yield float(all_gains[move]), int(leavers[move]), int(joiners[move]), int(targets[move])


def _couplings(problem: MotifProblem, members: Masks) -> tuple[Floats, Floats]:
    """The worth of each node to a motif (added or already in it), and the joint worth of each two nodes in it."""
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
