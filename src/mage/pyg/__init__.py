"""MAGE inside ``torch_geometric.explain``: an ``ExplainerAlgorithm`` and the explanation that it gives."""

from mage._core.optional import require

# Before the modules below import them without a word about what to install.
require("torch", "pyg")
require("torch_geometric", "pyg")

from mage.pyg.algorithm import MAGEExplainer  # noqa: E402 - after the check above
from mage.pyg.baselines import BaselineExplainer  # noqa: E402
from mage.pyg.explanation import MAGEExplanation, MAGEHeteroExplanation  # noqa: E402

__all__ = ["BaselineExplainer", "MAGEExplainer", "MAGEExplanation", "MAGEHeteroExplanation"]
