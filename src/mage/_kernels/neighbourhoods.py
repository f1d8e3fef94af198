"""Neighbourhoods of one node in coalitions: all of them, and what a message-passing model can tell of them."""

import numpy as np

from mage._core.typing import Bits, Integers
from mage._kernels.jit import kernel, lowest_bit

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_FIRST = np.uint64(0xFF51AFD7ED558CCD)
_SECOND = np.uint64(0xC4CEB9FE1A85EC53)
_SHIFT = np.uint64(33)
_THREE = np.uint64(3)
_LAST = np.uint64(0x9E3779B97F4A7C15)
_WIDEST = 40  # nodes that a layer may offer; more make more subsets than anybody waits for


@kernel
def neighbourhoods(adjacency: Bits, root: int, radius: int, members: Bits, rejected: Bits, most: int) -> int:
    """All sets R that can be what lies within ``radius`` hops of the root in a coalition, and what then must be absent.

    R is built layer by layer: each takes some of the nodes that the layer before touches, and rejects the others for
    good. Writes up to ``len(members)`` sets and returns how many there are, or −1 where there are more than ``most``.
    """
    words = adjacency.shape[1]
    taken = np.zeros((radius + 2, words), dtype=np.uint64)
    refused = np.zeros((radius + 2, words), dtype=np.uint64)
    offered = np.zeros((radius + 2, _WIDEST), dtype=np.int64)
    width = np.zeros(radius + 2, dtype=np.int64)
    choice = np.zeros(radius + 2, dtype=np.int64)
    taken[0, root >> 6] = _ONE << np.uint64(root & 63)
    count = 0
    depth = 0
    # The layer before is what was taken last; at the start the root.
    fresh = np.zeros((radius + 2, words), dtype=np.uint64)
    fresh[0] = taken[0]
    entering = True
    while depth >= 0:
        if entering:
            width[depth] = 0
            if depth < radius:
                for w in range(words):
                    near = _ZERO
                    for v in range(adjacency.shape[0]):
                        if (fresh[depth, v >> 6] >> np.uint64(v & 63)) & _ONE:
                            near |= adjacency[v, w]
                    near &= ~(taken[depth, w] | refused[depth, w])
                    while near != _ZERO:
                        if width[depth] == _WIDEST:
                            return -1
                        offered[depth, width[depth]] = (w << 6) + lowest_bit(near)
                        near &= near - _ONE
                        width[depth] += 1
            choice[depth] = 0
            entering = False
        if choice[depth] >> width[depth]:
            depth -= 1
            continue
        subset = choice[depth]
        choice[depth] += 1
        below = depth + 1
        taken[below] = taken[depth]
        refused[below] = refused[depth]
        fresh[below, :] = _ZERO
        for j in range(width[depth]):
            v = offered[depth, j]
            bit = _ONE << np.uint64(v & 63)
            if (subset >> j) & 1:
                taken[below, v >> 6] |= bit
                fresh[below, v >> 6] |= bit
            else:
                refused[below, v >> 6] |= bit
        if subset == 0:
            if count < members.shape[0]:
                members[count] = taken[below]
                rejected[count] = refused[below]
            count += 1
            if count > most:
                return -1
        else:
            depth = below
            entering = True
    return count


@kernel
def _mixed(word: np.uint64) -> np.uint64:
    word ^= word >> _SHIFT
    word *= _FIRST
    word ^= word >> _SHIFT
    word *= _SECOND
    word ^= word >> _SHIFT
    return word


@kernel
def _start(coalition: Bits, adjacency: Bits, kinds: Bits, with_degrees: bool, colours: Bits) -> None:
    """Colours by what nodes carry, and by their degrees inside the coalition if asked."""
    words = adjacency.shape[1]
    for w in range(words):
        rest = coalition[w]
        while rest != _ZERO:
            v = (w << 6) + lowest_bit(rest)
            rest &= rest - _ONE
            degree = 0
            if with_degrees:
                for u in range(words):
                    near = adjacency[v, u] & coalition[u]
                    while near != _ZERO:
                        near &= near - _ONE
                        degree += 1
            colours[v] = _mixed(_mixed(kinds[v] + _ONE) + np.uint64(degree))


@kernel
def _refine_once(coalition: Bits, adjacency: Bits, colours: Bits, new: Bits) -> None:
    """One round of colour refinement (Weisfeiler-Leman) inside a coalition."""
    words = adjacency.shape[1]
    for w in range(words):
        rest = coalition[w]
        while rest != _ZERO:
            v = (w << 6) + lowest_bit(rest)
            rest &= rest - _ONE
            total = _ZERO
            for u in range(words):
                near = adjacency[v, u] & coalition[u]
                while near != _ZERO:
                    total += _mixed(colours[(u << 6) + lowest_bit(near)] ^ _LAST)
                    near &= near - _ONE
            new[v] = _mixed(colours[v] * _THREE + total)
    for w in range(words):
        rest = coalition[w]
        while rest != _ZERO:
            v = (w << 6) + lowest_bit(rest)
            rest &= rest - _ONE
            colours[v] = new[v]


@kernel
def _refine(
    coalition: Bits, adjacency: Bits, kinds: Bits, rounds: int, with_degrees: bool, colours: Bits, new: Bits
) -> None:
    _start(coalition, adjacency, kinds, with_degrees, colours)
    for _ in range(rounds):
        _refine_once(coalition, adjacency, colours, new)


@kernel
def root_colours(
    members: Bits, roots: Integers, adjacency: Bits, kinds: Bits, rounds: int, with_degrees: bool, result: Bits
) -> None:
    """The colour of one node in each coalition."""
    colours, new = np.zeros(len(kinds), dtype=np.uint64), np.zeros(len(kinds), dtype=np.uint64)
    for row in range(members.shape[0]):
        _refine(members[row], adjacency, kinds, rounds, with_degrees, colours, new)
        result[row] = colours[roots[row]]


@kernel
def all_colours(coalitions: Bits, adjacency: Bits, kinds: Bits, rounds: int, with_degrees: bool, result: Bits) -> None:
    """The colours of all nodes in each coalition [q, n]; 0 for absent nodes."""
    colours, new = np.zeros(len(kinds), dtype=np.uint64), np.zeros(len(kinds), dtype=np.uint64)
    for row in range(coalitions.shape[0]):
        _refine(coalitions[row], adjacency, kinds, rounds, with_degrees, colours, new)
        for v in range(len(kinds)):
            present = (coalitions[row, v >> 6] >> np.uint64(v & 63)) & _ONE
            result[row, v] = colours[v] if present else _ZERO


@kernel
def colours_by_round(
    coalitions: Bits, adjacency: Bits, kinds: Bits, rounds: int, with_degrees: bool, result: Bits
) -> None:
    """The colours of all nodes after 0, 1, …, ``rounds`` rounds [rounds + 1, q, n]; 0 for absent nodes."""
    colours, new = np.zeros(len(kinds), dtype=np.uint64), np.zeros(len(kinds), dtype=np.uint64)
    for row in range(coalitions.shape[0]):
        _start(coalitions[row], adjacency, kinds, with_degrees, colours)
        for done in range(rounds + 1):
            for v in range(len(kinds)):
                present = (coalitions[row, v >> 6] >> np.uint64(v & 63)) & _ONE
                result[done, row, v] = colours[v] if present else _ZERO
            if done < rounds:
                _refine_once(coalitions[row], adjacency, colours, new)


@kernel
def cover(
    candidates: Bits,
    wanted: Integers,
    keys: Bits,
    adjacency: Bits,
    kinds: Bits,
    rounds: int,
    with_degrees: bool,
    known: Integers,
    chosen: Integers,
) -> int:
    """Choose coalitions that show all wanted colours: each that still shows a new one, in the order given.

    ``wanted[row]`` is the place of the row's own colour among the sorted ``keys``; ``known`` marks what is shown.
    """
    colours, new = np.zeros(len(kinds), dtype=np.uint64), np.zeros(len(kinds), dtype=np.uint64)
    count = 0
    for row in range(candidates.shape[0]):
        if known[wanted[row]]:
            continue
        if count == len(chosen):
            return -1
        chosen[count] = row
        count += 1
        _refine(candidates[row], adjacency, kinds, rounds, with_degrees, colours, new)
        for v in range(len(kinds)):
            if (candidates[row, v >> 6] >> np.uint64(v & 63)) & _ONE:
                place = np.searchsorted(keys, colours[v])
                if place < len(keys) and keys[place] == colours[v]:
                    known[place] = 1
    return count
