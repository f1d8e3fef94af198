"""Colour refinement of the masked graphs of many coalitions: what a message-passing model can tell of them.

Colours are 64-bit hashes: sums over neighbours of well-mixed words, so that the order of neighbours does not matter and
their number does. A coalition with one member more differs only around that member, so that colours are taken over from
the largest of the last coalitions that it contains, and computed anew where they change.
"""

from collections.abc import Callable
from typing import cast

import numpy as np

from mage._core.typing import Bits, Integers
from mage._kernels.jit import inner, kernel, lowest_bit

OF_GRAPH = np.uint64(0x9E3779B97F4A7C15)  # keeps the key of a graph apart from the colours that it is made of
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_SIX, _LOW = np.uint64(6), np.uint64(63)
_THREE = np.uint64(3)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)


def mixed(words: Bits) -> Bits:
    """Words that look random, and change in half of their bits where one bit of the given words changes."""
    words = (words ^ (words >> _S30)) * _FIRST
    words = (words ^ (words >> _S27)) * _SECOND
    return words ^ (words >> _S31)


mixed_word = cast("Callable[[np.uint64], np.uint64]", inner(mixed))  # for other kernels


@inner
def _recolour(
    colours: Bits,
    kinds: Bits,
    present: Bits,
    linked: Bits,
    changed: Bits,
    wider: Bits,
    influence: Bits,
    source: Bits,
    salt: Bits,
    with_degrees: int | np.int64,
    keeps_edges: int | np.int64,
) -> np.uint64:
    """Colour nodes anew, round by round, where they change; by how much the key of the graph grows.

    The rows of ``colours`` are what nodes carry, their colours after each round, and their parts of the key.
    """
    rows, _ = colours.shape
    words = len(changed)
    last = rows - 2
    growth = _ZERO
    for stage in range(last + 1):
        by_links = stage == 1 and with_degrees != 0
        by_neighbours = stage > 0 and not by_links
        new = colours[stage]
        old = colours[max(stage - 1, 0)]
        # Neighbours of what changes now change next.
        spreads = stage < last and not (stage == 0 and with_degrees != 0 and keeps_edges != 0)
        for w in range(words):
            wider[w] = changed[w]
        for w in range(words):
            rest = changed[w] & linked[w]
            while rest != _ZERO:
                bit = rest & (~rest + _ONE)
                node = np.uint64(w << 6) + np.uint64(lowest_bit(rest))
                rest ^= bit
                word = kinds[1 if present[w] & bit != _ZERO else 0, node]
                if stage > 0:
                    word = old[node] * _THREE
                for edge in range(influence[node], influence[node + _ONE]):
                    near = source[edge]
                    if by_neighbours:
                        word += salt[edge] * old[near]
                    elif by_links:
                        word += salt[edge] * ((linked[near >> _SIX] >> (near & _LOW)) & _ONE)
                    if spreads:
                        wider[near >> _SIX] |= _ONE << (near & _LOW)
                if stage > 0:
                    word = mixed_word(word)
                new[node] = word
                if stage == last:
                    part = mixed_word(word ^ OF_GRAPH) - kinds[2, node]
                    growth += part - colours[rows - 1, node]
                    colours[rows - 1, node] = part
        for w in range(words):
            changed[w] = wider[w] & linked[w]
    return growth


@kernel
def colour(
    coalitions: Bits,
    kinds: Bits,
    first_node: Integers,
    nodes: Integers,
    influence: Bits,
    source: Bits,
    salt: Bits,
    with_degrees: int,
    keeps_edges: int,
    targets: Integers,
    sets: Bits,
    members: Bits,
    work: Bits,
    keys: Bits,
    result: Bits,
) -> None:
    """The key of each coalition, and the colours of its nodes after the last rounds; 0 for nodes that are not linked.

    Args:
        coalitions: The coalitions, best in the order in which they are enumerated.
        kinds: Words for what absent and present nodes carry, and what the key of a graph has of absent nodes [3, n].
        first_node: Where the nodes of each player begin in ``nodes``.
        nodes: The nodes that follow each player.
        influence: Where the neighbours of each node begin in ``source``; each is a neighbour of its neighbours.
        source: Neighbours.
        salt: Words for what the edges to them carry.
        with_degrees: Whether nodes know their edges before the first round.
        keeps_edges: Whether absent nodes are linked.
        targets: Nodes that keys are made of; all if there are none.
        sets: Room for sets of nodes, which are present and which linked in the coalitions that others are derived from;
            the first of them has no members, and says what nodes are present without any. The last two are for changes.
        members: Room for these coalitions.
        work: Room for the colours in each of them [levels, rounds, n], zero.
        keys: Output [q].
        result: Output [rounds, q, n].
    """
    rows, words = coalitions.shape
    levels, layers, n = work.shape
    shown, _, _ = result.shape
    _, _, node_words = sets.shape
    changed, wider = sets[levels, 0], sets[levels, 1]
    for w in range(node_words):
        changed[w] = sets[0, 1, w]
    level = 0
    members[0, words] = _recolour(
        *(work[0], kinds, sets[0, 0], sets[0, 1], changed, wider, influence, source, salt),
        *(with_degrees, keeps_edges),
    )
    for row in range(rows):
        inside = False
        while not inside:
            inside = True
            for w in range(words):
                if members[level, w] & ~coalitions[row, w] != _ZERO:
                    inside = False
            if not inside:
                level -= 1
        new = False
        for w in range(words):
            new |= members[level, w] != coalitions[row, w]
        if new:
            level = min(level, levels - 2)
            for w in range(node_words):
                changed[w] = _ZERO
            for w in range(words):
                joined = coalitions[row, w] & ~members[level, w]
                members[level + 1, w] = coalitions[row, w]
                while joined != _ZERO:
                    player = (w << 6) + lowest_bit(joined)
                    joined &= joined - _ONE
                    for place in range(first_node[player], first_node[player + 1]):
                        changed[nodes[place] >> 6] |= _ONE << np.uint64(nodes[place] & 63)
            for w in range(node_words):
                sets[level + 1, 0, w] = sets[level, 0, w] | changed[w]
                sets[level + 1, 1, w] = sets[level, 1, w] | changed[w]
            for layer in range(layers):
                for v in range(n):
                    work[level + 1, layer, v] = work[level, layer, v]
            level += 1
            growth = _recolour(
                *(work[level], kinds, sets[level, 0], sets[level, 1], changed, wider, influence, source, salt),
                *(with_degrees, keeps_edges),
            )
            members[level, words] = members[level - 1, words] + growth
        keys[row] = members[level, words]
        if len(targets):
            word = _ZERO
            for node in targets:
                there = (sets[level, 0, node >> 6] >> np.uint64(node & 63)) & _ONE
                word = mixed_word(word * _THREE + work[level, layers - 2, node] * there)
            keys[row] = word
        for layer in range(shown):
            for v in range(n):
                result[layer, row, v] = work[level, layers - 1 - shown + layer, v]
