"""mage: which groups of nodes made a graph model say this, for and against, and how sure are we?"""

from mage._version import __version__
from mage.games import Game, ValueFunctionError
from mage.graph import PlayerGraph
from mage.indices import Interactions, TooManyCoalitionsError, interactions

__all__ = [
    "Game",
    "Interactions",
    "PlayerGraph",
    "TooManyCoalitionsError",
    "ValueFunctionError",
    "__version__",
    "interactions",
]
