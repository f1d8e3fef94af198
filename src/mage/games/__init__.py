"""Games: what is a coalition worth?

``EdgeGame``, ``FeatureGame``, ``ImageGame``, ``ModelGame``, ``TextGame`` and what belongs to them need torch and
PyTorch Geometric (extra ``pyg``) and are imported on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

from mage.games.game import Game, ValueFunction, ValueFunctionError
from mage.games.request import GraphRequest, ImageRequest, ModelRequest, TextRequest

if TYPE_CHECKING:
    from mage.games.image_game import ImageGame
    from mage.games.model_game import ModelGame
    from mage.games.part_games import EdgeGame, FeatureGame
    from mage.games.text_game import TextGame

__all__ = [
    "EdgeGame",
    "FeatureGame",
    "Game",
    "GraphRequest",
    "ImageGame",
    "ImageRequest",
    "ModelGame",
    "ModelRequest",
    "TextGame",
    "TextRequest",
    "ValueFunction",
    "ValueFunctionError",
]

# Where each game lies that needs PyTorch, which `import mage` does without.
_ON_FIRST_USE = {
    "EdgeGame": "part_games",
    "FeatureGame": "part_games",
    "ImageGame": "image_game",
    "ModelGame": "model_game",
    "TextGame": "text_game",
}


def __getattr__(name: str) -> Any:
    if name in _ON_FIRST_USE:
        from mage._core.optional import require

        require("torch_geometric", "pyg")
        return getattr(importlib.import_module(f"mage.games.{_ON_FIRST_USE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
