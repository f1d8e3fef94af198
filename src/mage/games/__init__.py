"""Games: what is a coalition worth?"""

from mage.games.game import Game, ValueFunction, ValueFunctionError

__all__ = ["Game", "ValueFunction", "ValueFunctionError"]
