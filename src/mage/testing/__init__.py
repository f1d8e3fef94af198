"""Conformance checks that any index and any game must pass; third parties may run them on their own.

from mage.testing import check_index
check_index(lambda game: my_index(game, order=2), order=2)
"""

from mage.testing.games import check_game
from mage.testing.indices import INDEX_CHECKS, check_index
from mage.testing.motifs import exhaustive_objective, random_interactions
from mage.testing.reference import (
    algorithm_1,
    by_definition,
    random_game,
    random_graph,
    restricted,
    unanimity_game,
)

__all__ = [
    "INDEX_CHECKS",
    "algorithm_1",
    "by_definition",
    "check_game",
    "check_index",
    "exhaustive_objective",
    "random_game",
    "random_graph",
    "random_interactions",
    "restricted",
    "unanimity_game",
]
