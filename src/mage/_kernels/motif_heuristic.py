"""Good motifs fast: greedy growth from every vertex, then local search. No promise of the best."""

import numpy as np

from mage._kernels.jit import kernel
from mage._typing import AnyArray, Floats, Integers


@kernel
def contribution(i: int, label: int, labels: Integers, node: Floats, pair: Floats, triple: Floats) -> float:
    """What vertex i adds to (or, as a member, holds of) the motif of that label, times the motif's sign."""
    n = len(node)
    total = float(node[i])
    for j in range(n):
        if j != i and labels[j] == label:
            total += float(pair[i, j])
            if triple.shape[0] == n:
                for k in range(j):
                    if k != i and labels[k] == label:
                        total += float(triple[i, j, k])
    return total if label > 0 else -total


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
def improve(
    neighbours: Integers,
    starts: Integers,
    node: Floats,
    pair: Floats,
    triple: Floats,
    required: AnyArray,
    forbidden: AnyArray,
    max_nodes: int,
    tolerance: float,
    max_moves: int,
    labels: Integers,
) -> None:
    """Add, drop and swap single vertices while this helps; ``labels`` holds ±(1 … m) or 0 and is changed in place."""
    n = len(node)
    queue = np.empty(n, dtype=np.int64)
    seen = np.zeros(n, dtype=np.int8)
    for _ in range(max_moves):
        size = 0
        for i in range(n):
            size += labels[i] != 0
        best = tolerance
        out, into, into_label = -1, -1, 0
        # out = −1 stands for "nobody leaves", into = −1 for "nobody joins".
        for leaving in range(-1, n):
            loss = 0.0
            old = 0
            if leaving >= 0:
                old = labels[leaving]
                if (
                    old == 0
                    or required[leaving]
                    or not _holds_without(leaving, old, labels, neighbours, starts, queue, seen)
                ):
                    continue
                loss = contribution(leaving, old, labels, node, pair, triple)
                labels[leaving] = 0
                if -loss > best:
                    best, out, into, into_label = -loss, leaving, -1, 0
            elif size == max_nodes:
                continue
            for joining in range(n):
                if labels[joining] != 0 or forbidden[joining] or joining == leaving:
                    continue
                for place in range(starts[joining], starts[joining + 1]):
                    label = labels[neighbours[place]]
                    if label != 0:
                        change = contribution(joining, label, labels, node, pair, triple) - loss
                        if change > best:
                            best, out, into, into_label = change, leaving, joining, label
            if leaving >= 0:
                labels[leaving] = old
        if out < 0 and into < 0:
            return
        if out >= 0:
            labels[out] = 0
        if into >= 0:
            labels[into] = into_label
