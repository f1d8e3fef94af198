"""Four indices of one small game side by side: ``python examples/four_indices.py [FILE.svg]``.

The game is an invented alarm for para-nitroaniline. A nitro group, an amine and a ring raise its score, and the score
saturates. Because it saturates, the nitro group reduces the effect of the amine, even if no atoms connect the two.
Indices that ignore the graph report this as an interaction across the molecule. In the structure-aware indices two
groups interact only through atoms that connect them, and fewer coalitions are evaluated.
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
    save_figure(plot_indices(results, title="Which atoms act together?"), path)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
