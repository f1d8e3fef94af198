"""mage: which groups of nodes made a graph model say this, for and against, and how sure are we?"""

from mage._version import __version__
from mage.explainers import explain, explain_many
from mage.explanation import Explanation, load
from mage.games import Game, ValueFunctionError
from mage.graph import PlayerGraph
from mage.indices import Interactions, TooManyCoalitionsError, interactions
from mage.motifs import Motif, MotifSet, find_motifs

__all__ = [
    "Explanation",
    "Game",
    "Interactions",
    "Motif",
    "MotifSet",
    "PlayerGraph",
    "TooManyCoalitionsError",
    "ValueFunctionError",
    "__version__",
    "explain",
    "explain_many",
    "find_motifs",
    "interactions",
    "load",
]
