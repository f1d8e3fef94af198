"""Conformance checks that any index, game and explainer must pass; third parties may run them on their own.

from mage.testing import check_index
check_index(lambda game: my_index(game, order=2), order=2)
"""

from typing import Any

from mage.testing.definitions import by_definition
from mage.testing.games import check_game
from mage.testing.indices import INDEX_CHECKS, check_index, index_checks
from mage.testing.motifs import exhaustive_objective, random_interactions
from mage.testing.reference import (
    algorithm_1,
    random_game,
    random_graph,
    restricted,
    unanimity_game,
)

__all__ = [
    "INDEX_CHECKS",
    "algorithm_1",
    "assert_same_explanation",
    "by_definition",
    "check_explainer",
    "check_game",
    "check_index",
    "exhaustive_objective",
    "index_checks",
    "leaving_no_trace",
    "random_game",
    "random_graph",
    "random_interactions",
    "restricted",
    "unanimity_game",
]


def __getattr__(name: str) -> Any:
    # These look into models, and so need PyTorch.
    if name in {"assert_same_explanation", "check_explainer", "leaving_no_trace"}:
        from mage.testing import explainers

        return getattr(explainers, name)
    raise AttributeError(f"module 'mage.testing' has no attribute {name!r}")
