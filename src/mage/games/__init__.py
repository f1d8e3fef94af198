"""Games: what is a coalition worth?

``ModelGame`` and what belongs to it need torch and PyTorch Geometric (extra ``pyg``) and are imported on first use.
"""

from typing import TYPE_CHECKING, Any

from mage.games.game import Game, ValueFunction, ValueFunctionError

if TYPE_CHECKING:
    from mage.games.model_game import ModelGame

__all__ = ["Game", "ModelGame", "ValueFunction", "ValueFunctionError"]


def __getattr__(name: str) -> Any:
    if name == "ModelGame":
        from mage._optional import require

        require("torch_geometric", "pyg")
        from mage.games.model_game import ModelGame

        return ModelGame
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
