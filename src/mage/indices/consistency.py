"""Whether the parts of a result are what they should be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mage._core.checks import checked_flag, checked_instance, checked_text, checked_texts, checked_whole
from mage.graph import PlayerGraph

if TYPE_CHECKING:
    from mage.indices.result import Interactions


def check_fields(interactions: Interactions) -> None:
    """Raise an error that names the field where one has a wrong type."""
    checked_instance("graph", interactions.graph, PlayerGraph, "a mage.PlayerGraph, such as game.graph")
    checked_whole("order", interactions.order)
    for name in ("index", "method", "stopped", "reason"):
        checked_text(name, getattr(interactions, name))
    for name in ("num_queries", "num_permutations", "num_samples"):
        checked_whole(name, getattr(interactions, name), least=0)
    checked_flag("exact", interactions.exact)
    if not isinstance(interactions.names, tuple | list):
        raise TypeError(f"names must be a tuple of texts, got {type(interactions.names).__name__}")
    object.__setattr__(interactions, "names", checked_texts("names", interactions.names))


def count_sets(num_players: int, order: int, most: int) -> int:
    """Sets of at most ``order`` players, counted up to ``most`` only: the numbers may come from a damaged file."""
    total = 0
    for size in range(1, min(order, num_players) + 1):
        total += math.comb(num_players, size)
        if total > most:
            break
    return total
