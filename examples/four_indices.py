"""Four indices of one small game side by side: ``python examples/four_indices.py [FILE.svg]``.

A made-up alarm for para-nitroaniline rings for a nitro group, an amine and a ring, and it saturates. Because it
saturates, the nitro group and the amine take from each other even when nothing joins them. Indices that do not see the
graph report this as an interaction across the molecule; the structure-aware ones let two groups interact only through
atoms that connect them, and ask for fewer coalitions.
"""

from __future__ import annotations

import sys

import numpy as np

import mage
from mage.plots import plot_indices, save_figure

INDICES = ("shapley", "shapley-taylor", "myerson", "myerson-taylor")
RING, NITRO, AMINE = range(6), (6, 7, 8), 9
NAMES = ("C1", "C2", "C3", "C4", "C5", "C6", "N7", "O8", "O9", "N10")
BONDS = (*((i, (i + 1) % 6) for i in RING), (0, 6), (6, 7), (6, 8), (3, 9))


def alarm(masks: np.ndarray) -> np.ndarray:
    """Worth of each coalition of atoms."""
    nitro = masks[:, list(NITRO)].all(axis=1)
    ring = masks[:, list(RING)].all(axis=1)
    score = 2.0 * nitro + 1.0 * masks[:, AMINE] + 1.0 * ring - 0.5 * (nitro & masks[:, AMINE] & ring)
    return np.tanh(score / 2)


def main() -> None:
    results = []
    for name in INDICES:
        game = mage.Game(alarm, len(NAMES), BONDS, NAMES)
        results.append(mage.interactions(game, name, method="exact"))
        print(results[-1])
    print(mage.find_motifs(results[-1], num_motifs=2, max_nodes=5))
    path = sys.argv[1] if len(sys.argv) > 1 else "four_indices.svg"
    save_figure(plot_indices(results, title="Who acts with whom?"), path)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
