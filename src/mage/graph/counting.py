"""How many connected coalitions a sparse graph has, without listing them."""

import heapq
from collections.abc import Sequence

State = tuple[int, ...]


def count_by_frontier(neighbours: Sequence[Sequence[int]], max_steps: int) -> int | None:
    """Count connected, non-empty vertex sets by dynamic programming over a moving frontier.

    Vertices are decided one by one. What a partial choice still matters for is only how the chosen vertices *on the
    frontier* (decided, with an undecided neighbour) hang together, so choices that agree on this are counted as one. On
    trees and molecules the frontier stays a handful of vertices wide and the count takes milliseconds where the number
    itself has fifteen digits.

    Args:
        neighbours: Adjacency lists.
        max_steps: Give up after about this many state transitions; dense graphs have too wide a frontier.

    Returns:
        The count, or None where ``max_steps`` did not suffice.
    """
    order = _narrow_order(neighbours)
    position = {vertex: rank for rank, vertex in enumerate(order)}
    last_use = {v: max((position[u] for u in neighbours[v]), default=-1) for v in order}
    frontier: list[int] = []
    # A state lists, along the frontier, 0 for a vertex left out and the component's label for one taken.
    states: dict[State, int] = {(): 1}
    total = 0
    steps = 0
    for rank, vertex in enumerate(order):
        near = set(neighbours[vertex])
        adjacent = [slot for slot, other in enumerate(frontier) if other in near]
        extended = [*frontier, vertex]
        slots = [slot for slot, other in enumerate(extended) if last_use[other] > rank]
        following: dict[State, int] = {}
        for state, ways in states.items():
            # A step costs time with the width of the frontier.
            steps += 2 + len(frontier) // 8
            for successor in _with_and_without(state, adjacent):
                shrunk = tuple(successor[slot] for slot in slots)
                closed = {label for label in successor if label} - {label for label in shrunk if label}
                if closed:
                    # A component has left the frontier for good: it is the whole coalition, or the choice is void.
                    if len(closed) == 1 and not any(shrunk):
                        total += ways
                    continue
                canonical = _relabel(shrunk)
                following[canonical] = following.get(canonical, 0) + ways
        if steps > max_steps:
            return None
        states, frontier = following, [extended[slot] for slot in slots]
    return total


def _with_and_without(state: State, adjacent: list[int]) -> tuple[State, State]:
    merged = {state[slot] for slot in adjacent} - {0}
    label = max(state, default=0) + 1
    joined = tuple(label if old in merged else old for old in state)
    return (*state, 0), (*joined, label)


def _relabel(state: State) -> State:
    names: dict[int, int] = {0: 0}
    return tuple(names.setdefault(label, len(names)) for label in state)


def _narrow_order(neighbours: Sequence[Sequence[int]]) -> list[int]:
    """An order of the vertices that keeps the frontier narrow: greedily the vertex that widens it least."""
    undecided = [len(near) for near in neighbours]
    in_order = [False] * len(neighbours)
    starts = sorted(range(len(neighbours)), key=lambda v: (undecided[v], v), reverse=True)
    order: list[int] = []
    # Entries (open neighbours, vertex); outdated ones stay behind and are skipped.
    reachable: list[tuple[int, int]] = []
    while len(order) < len(neighbours):
        if reachable:
            still_open, vertex = heapq.heappop(reachable)
            if in_order[vertex] or still_open != undecided[vertex]:
                continue
        else:
            vertex = starts.pop()
            if in_order[vertex]:
                continue
        order.append(vertex)
        in_order[vertex] = True
        for other in neighbours[vertex]:
            if not in_order[other]:
                undecided[other] -= 1
                heapq.heappush(reachable, (undecided[other], other))
    return order
