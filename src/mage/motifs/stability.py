"""Has the best motif stopped changing?"""

from __future__ import annotations

from typing import Any

import numpy as np

from mage.indices import Interactions
from mage.motifs.api import find_motifs

_REDRAWS = 8
_SEED = 0


class MotifsStable:
    """Whether the optimal motifs are the same as at the last look, and stay so when values move within their errors.

    The values are redrawn eight times within their errors, and the motifs searched for again; all must agree. Made
    afresh for each run, as it remembers the last look.

    Args:
        options: Arguments of :func:`mage.find_motifs`.
    """

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._last: tuple[tuple[int, ...], ...] | None = None

    def __call__(self, interactions: Interactions) -> bool:
        """Look at the interactions so far."""
        if np.isnan(interactions.std_error).any():
            return False
        motifs = self._motifs(interactions)
        same, self._last = motifs == self._last, motifs
        if not same:
            return False
        generator = np.random.default_rng(_SEED)
        return all(self._motifs(interactions.redrawn(generator)) == motifs for _ in range(_REDRAWS))

    def _motifs(self, interactions: Interactions) -> tuple[tuple[int, ...], ...]:
        return tuple(sorted(motif.nodes for motif in find_motifs(interactions, **self._options)))
