"""Colour refinement of the masked graphs of many coalitions: what a message-passing model can tell of them.

A node's colour starts as what it carries (with its edges, where a model divides by degrees), and takes in the colours
of its neighbours once per round. Colours are 64-bit hashes: sums over neighbours of well-mixed words, so that the order
of neighbours does not matter and their number does.

All kernels take a colouring in parts, see :class:`mage.games.colouring.Colouring`: ``players``, where the nodes of
each player start in a list of nodes, which begins with those that are always present; ``kinds``, the first colours of
absent and of present nodes; ``links``, where for each node the nodes begin whose messages reach it, these nodes, and
a word for what the edge carries; ``settings``, how many nodes are always present, whether absent nodes keep their
edges and only carry something else, whether nodes know their edges before the first round, and the rounds. ``work``
(zeros [4, n]: present, linked, colours, what is shown to neighbours) and ``listed`` [n] are room to work in: numba
takes long to compile what makes arrays.
"""

import numpy as np

from mage._core.typing import Bits, Integers
from mage._kernels.jit import kernel, lowest_bit

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_THREE = np.uint64(3)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)
_OF_GRAPH = np.uint64(0x9E3779B97F4A7C15)  # keeps the key of a graph apart from the colours that it is made of


@kernel
def mixed(word: np.uint64) -> np.uint64:
    """A word that looks random and changes in half of its bits where one bit of the given word changes."""
    word = (word ^ (word >> _S30)) * _FIRST
    word = (word ^ (word >> _S27)) * _SECOND
    return word ^ (word >> _S31)


@kernel
def _list_nodes(
    coalition: Bits, players: tuple[Integers, Integers], fixed: int, keeps_edges: bool, work: Bits, listed: Integers
) -> int:
    """List the nodes that get a colour; mark those that are present, and those that have edges."""
    starts, nodes = players
    present, linked = work[0], work[1]
    count = 0
    for place in range(fixed):
        listed[count] = nodes[place]
        count += 1
    for w in range(len(coalition)):
        rest = coalition[w]
        while rest != _ZERO:
            player = (w << 6) + lowest_bit(rest)
            rest &= rest - _ONE
            for place in range(starts[player], starts[player + 1]):
                listed[count] = nodes[place]
                count += 1
    for place in range(count):
        present[listed[place]] = _ONE
        linked[listed[place]] = _ONE
    if keeps_edges:
        count = len(present)
        for v in range(count):
            listed[v] = v
            linked[v] = _ONE
    return count


@kernel
def _first_colours(
    coalition: Bits,
    players: tuple[Integers, Integers],
    kinds: Bits,
    links: tuple[Integers, Integers, Bits],
    settings: tuple[int, bool, bool, int],
    work: Bits,
    listed: Integers,
) -> int:
    """Colours before the first round: what nodes carry, and their edges if asked. Returns how many nodes are listed."""
    influence, source, salt = links
    fixed, keeps_edges, with_degrees, _ = settings
    count = _list_nodes(coalition, players, fixed, keeps_edges, work, listed)
    present, linked, colours = work[0], work[1], work[2]
    for place in range(count):
        v = listed[place]
        colour = kinds[np.int64(present[v]), v]
        if with_degrees:
            total = _ZERO
            for edge in range(influence[v], influence[v + 1]):
                total += salt[edge] * linked[source[edge]]
            colour = mixed(colour + total * _THREE)
        colours[v] = colour
    return count


@kernel
def _refine_once(
    listed: Integers, count: int, links: tuple[Integers, Integers, Bits], colours: Bits, shown: Bits
) -> None:
    """One round: each listed node takes in the colours of its neighbours. Others must show zero, and add nothing."""
    influence, source, salt = links
    for place in range(count):
        shown[listed[place]] = mixed(colours[listed[place]])
    for place in range(count):
        v = listed[place]
        total = colours[v] * _THREE
        for edge in range(influence[v], influence[v + 1]):
            total += salt[edge] * shown[source[edge]]
        colours[v] = mixed(total)


@kernel
def _clear(listed: Integers, count: int, work: Bits) -> None:
    """Leave no mark of a coalition."""
    for place in range(count):
        for row in range(4):
            work[row, listed[place]] = _ZERO


@kernel
def coalition_keys(
    coalitions: Bits,
    players: tuple[Integers, Integers],
    kinds: Bits,
    links: tuple[Integers, Integers, Bits],
    settings: tuple[int, bool, bool, int],
    targets: Integers,
    work: Bits,
    listed: Integers,
    keys: Bits,
) -> None:
    """A word for each coalition, equal where colour refinement cannot tell their masked graphs apart.

    With targets only what these can know counts, else what all nodes of the graph can know together.
    """
    present, colours, rounds = work[0], work[2], settings[3]
    for row in range(coalitions.shape[0]):
        count = _first_colours(coalitions[row], players, kinds, links, settings, work, listed)
        for _ in range(rounds):
            _refine_once(listed, count, links, colours, work[3])
        key = _ZERO
        if len(targets):
            for place in range(len(targets)):
                key = mixed(key * _THREE + colours[targets[place]] * present[targets[place]])
        else:
            for place in range(count):
                v = listed[place]
                # What absent nodes carry is the same for all coalitions but for those present: their part is taken out.
                key += mixed(colours[v] ^ _OF_GRAPH) - mixed(kinds[0, v])
        keys[row] = key
        _clear(listed, count, work)


@kernel
def node_colours(
    coalitions: Bits,
    players: tuple[Integers, Integers],
    kinds: Bits,
    links: tuple[Integers, Integers, Bits],
    settings: tuple[int, bool, bool, int],
    work: Bits,
    listed: Integers,
    result: Bits,
) -> None:
    """Colours of all nodes in each coalition: after the last rounds [r, q, n], as many as ``result`` has room for.

    Nodes that are not there have the colour 0.
    """
    n, kept = kinds.shape[1], result.shape[0]
    colours, rounds = work[2], settings[3]
    for row in range(coalitions.shape[0]):
        count = _first_colours(coalitions[row], players, kinds, links, settings, work, listed)
        for done in range(rounds + 1):
            slot = kept - 1 - (rounds - done)
            if slot >= 0:
                for v in range(n):
                    result[slot, row, v] = _ZERO
                for place in range(count):
                    result[slot, row, listed[place]] = colours[listed[place]]
            if done < rounds:
                _refine_once(listed, count, links, colours, work[3])
        _clear(listed, count, work)
