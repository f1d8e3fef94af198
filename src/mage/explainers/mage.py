"""MAGE behind the protocol of all explainers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from mage.explainers.fields import GraphFields
from mage.explainers.graphs import explain_graph
from mage.explainers.protocol import Explainer
from mage.explainers.request import ExplainRequest
from mage.games.request import PLAYERS, GraphRequest

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mage.explanation import Explanation


class MAGE(Explainer):
    """Interactions of nodes, then the best motifs in them: what :func:`mage.explain` does.

    Reference: Bui et al., Explaining graph neural networks via structure-aware interaction index, ICML 2024.

    Args:
        request: One or several requests that this explainer keeps to, which override those of a call.
        fields: Fields of the requests by name that it keeps to, such as
            ``order=2, method="permutation", permutations=200, tau=1`` for the paper's setting.
    """

    title = "MAGE"
    levels = ("graph", "node", "edge")
    hetero = True
    players = PLAYERS

    def __init__(self, request: Any = None, **fields: Unpack[GraphFields]) -> None:
        ExplainRequest.of(GraphRequest, request, **fields)  # refuses wrong ones now
        self.request = request
        self.fields = fields

    def compute(self, model: Any, data: Data, request: ExplainRequest) -> Explanation:
        """Explain one graph, or one node or link of it."""
        complete = ExplainRequest.of(GraphRequest, self.request, **{"like": request, **self.fields})
        return explain_graph(model, data, complete, progress=False)
