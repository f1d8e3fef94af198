"""Good motifs fast: greedy growth from every vertex, then local search. No promise of the best."""

import numpy as np

from mage._core.typing import AnyArray, Floats, Integers
from mage._kernels.jit import kernel


@kernel
def grow_from_everywhere(
    neighbours: Integers,
    starts: Integers,
    node: Floats,
    pair: Floats,
    triple: Floats,
    sign: int,
    free: AnyArray,
    max_nodes: int,
) -> tuple[Floats, AnyArray]:
    """For every size the best connected set found by growing from each free vertex, always by the largest gain.

    Returns:
        Worth by size (index 0 unused, −∞ where there is none) and members by size.
    """
    n = len(node)
    worths = np.full(max_nodes + 1, -np.inf)
    members = np.zeros((max_nodes + 1, n), dtype=np.int8)
    labels = np.zeros(n, dtype=np.int64)
    gain = np.empty(n)
    frontier = np.zeros(n, dtype=np.int8)
    for root in range(n):
        if not free[root]:
            continue
        labels[:] = 0
        frontier[:] = 0
        for i in range(n):
            gain[i] = sign * node[i]
        frontier[root] = 1
        worth = 0.0
        for size in range(1, max_nodes + 1):
            chosen = -1
            for i in range(n):
                if frontier[i] and (chosen < 0 or gain[i] > gain[chosen]):
                    chosen = i
            if chosen < 0:
                break
            worth += gain[chosen]
            labels[chosen] = sign
            frontier[chosen] = 0
            for place in range(starts[chosen], starts[chosen + 1]):
                j = neighbours[place]
                if free[j] and labels[j] == 0:
                    frontier[j] = 1
            for i in range(n):
                gain[i] += sign * pair[chosen, i]
                if triple.shape[0] == n:
                    for j in range(n):
                        if labels[j] != 0 and j != chosen:
                            gain[i] += sign * triple[chosen, i, j]
            if worth > worths[size]:
                worths[size] = worth
                for i in range(n):
                    members[size, i] = labels[i] != 0
    return worths, members


@kernel
def _holds_without(
    vertex: int, label: int, labels: Integers, neighbours: Integers, starts: Integers, queue: Integers, seen: AnyArray
) -> bool:
    """Whether a motif stays connected when a member leaves."""
    n = len(labels)
    size = 0
    head, tail = 0, 0
    for i in range(n):
        seen[i] = 0
        if labels[i] == label and i != vertex:
            size += 1
            if tail == 0:
                queue[0] = i
                seen[i] = 1
                tail = 1
    while head < tail:
        i = queue[head]
        head += 1
        for place in range(starts[i], starts[i + 1]):
            j = neighbours[place]
            if not seen[j] and labels[j] == label and j != vertex:
                seen[j] = 1
                queue[tail] = j
                tail += 1
    return tail == size


@kernel
def _held(labels: Integers, label: int, node: Floats, pair: Floats, triple: Floats, out: Floats) -> None:
    """What each vertex adds to the motif of that label, or holds of it as a member; sign not applied."""
    n = len(node)
    out[:] = node
    for j in range(n):
        if labels[j] == label:
            for i in range(n):
                out[i] += pair[i, j]
            if triple.shape[0] == n:
                for k in range(j):
                    if labels[k] == label:
                        for i in range(n):
                            out[i] += triple[i, j, k]


@kernel
def improve(
    neighbours: Integers,
    starts: Integers,
    node: Floats,
    pair: Floats,
    triple: Floats,
    required: AnyArray,
    forbidden: AnyArray,
    num_motifs: int,
    max_nodes: int,
    tolerance: float,
    max_moves: int,
    labels: Integers,
) -> None:
    """Add, drop and swap single vertices while this helps; ``labels`` holds ±(1 … m) or 0 and is changed in place."""
    n = len(node)
    queue = np.empty(n, dtype=np.int64)
    seen = np.zeros(n, dtype=np.int8)
    # One row of contributions for each label −m … m.
    held = np.zeros((2 * num_motifs + 1, n))
    for _ in range(max_moves):
        size = 0
        for i in range(n):
            size += labels[i] != 0
        for label in range(-num_motifs, num_motifs + 1):
            if label != 0:
                _held(labels, label, node, pair, triple, held[label + num_motifs])
        best = tolerance
        out, into, into_label = -1, -1, 0
        # leaving = −1 stands for "nobody leaves".
        for leaving in range(-1, n):
            loss = 0.0
            old = 0
            if leaving >= 0:
                old = labels[leaving]
                if old == 0 or required[leaving]:
                    continue
                if not _holds_without(leaving, old, labels, neighbours, starts, queue, seen):
                    continue
                loss = held[old + num_motifs, leaving] * (1.0 if old > 0 else -1.0)
                if -loss > best:
                    best, out, into, into_label = -loss, leaving, -1, 0
            elif size == max_nodes:
                continue
            for joining in range(n):
                if labels[joining] != 0 or forbidden[joining]:
                    continue
                last = 0
                for place in range(starts[joining], starts[joining + 1]):
                    near = neighbours[place]
                    label = labels[near]
                    if label == 0 or near == leaving or label == last:
                        continue
                    last = label
                    value = held[label + num_motifs, joining]
                    if label == old:
                        value -= pair[joining, leaving]
                        if triple.shape[0] == n:
                            for k in range(n):
                                if labels[k] == label and k != leaving:
                                    value -= triple[joining, leaving, k]
                    change = (value if label > 0 else -value) - loss
                    if change > best:
                        best, out, into, into_label = change, leaving, joining, label
        if out < 0 and into < 0:
            return
        if out >= 0:
            labels[out] = 0
        if into >= 0:
            labels[into] = into_label
