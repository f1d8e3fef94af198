"""What a regressor sees of a coalition."""

import numpy as np

from mage._core.typing import AnyArray, Bits
from mage._kernels.jit import kernel, lowest_bit, popcount

EXTRA_COLUMNS = 8
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_LARGEST_COUNTED_DEGREE = 4


@kernel
def describe(members: Bits, neighbours: Bits, adjacency: Bits, features: AnyArray) -> None:
    """One row a coalition: for each player 1 + its neighbours inside (0 if absent), then shape.

    Shape is: size, edges inside, edges − size (cycles, up to a constant), size of the boundary, and how many members
    have one, two, three, and four or more neighbours inside. Graph models cannot tell apart nodes that look alike, so
    that counts say much of what names say with far fewer examples.
    """
    words = members.shape[1]
    num_players = adjacency.shape[0]
    for row in range(members.shape[0]):
        size = 0
        ends = 0
        for column in range(num_players, num_players + 8):
            features[row, column] = 0.0
        for player in range(num_players):
            features[row, player] = 0.0
        for w in range(words):
            rest = members[row, w]
            while rest != _ZERO:
                player = (w << 6) + lowest_bit(rest)
                rest &= rest - _ONE
                degree = 0
                for other in range(words):
                    degree += popcount(adjacency[player, other] & members[row, other])
                features[row, player] = 1.0 + degree
                size += 1
                ends += degree
                if degree > 0:
                    features[row, num_players + 3 + min(degree, _LARGEST_COUNTED_DEGREE)] += 1.0
        boundary = 0
        for w in range(words):
            boundary += popcount(neighbours[row, w])
        features[row, num_players] = size
        features[row, num_players + 1] = ends // 2
        features[row, num_players + 2] = ends // 2 - size
        features[row, num_players + 3] = boundary
