"""Coalitions as bits: packing, unpacking, sizes."""

from typing import Any

import numpy as np

from mage._core.typing import Bits, Integers, Masks


def num_words(num_players: int) -> int:
    """64-bit words that a coalition of ``num_players`` players takes."""
    return max(1, -(-num_players // 64))


def pack(masks: Masks) -> Bits:
    """Rows of booleans to rows of words."""
    rows, num_players = masks.shape
    packed = np.zeros((rows, 8 * num_words(num_players)), dtype=np.uint8)
    width = -(-num_players // 8)
    packed[:, :width] = np.packbits(masks, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)


def unpack(bits: Bits, num_players: int) -> Masks:
    """Rows of words to rows of booleans."""
    octets = np.ascontiguousarray(bits).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=num_players, bitorder="little").view(np.bool_)


def checked(name: str, bits: Any, num_players: int) -> Bits:
    """Rows of words, or an error that names the argument."""
    words = num_words(num_players)
    if not isinstance(bits, np.ndarray) or bits.dtype != np.uint64 or bits.ndim != 2 or bits.shape[1] != words:
        raise TypeError(
            f"{name} must be bits as an array of uint64 [q, {words}], such as mage.graph.packing.pack(masks); "
            f"use worth(coalitions) for sets of players and masks"
        )
    spare = num_players % 64
    if spare and (bits[:, -1] >> np.uint64(spare)).any():
        raise ValueError(f"{name}: bits of players that do not exist are set; players are 0 … {num_players - 1}")
    return bits


def sizes(bits: Bits) -> Integers:
    """Number of members of each coalition."""
    return np.asarray(np.bitwise_count(bits).sum(axis=1, dtype=np.int64))
