"""MAGE behind the protocol of all explainers: an interaction index, then the best motifs in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mage.explainers.pipeline import explain
from mage.explainers.protocol import Explainer

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mage.explanation import Explanation


class MAGE(Explainer):
    """The paper's method: the Myerson-Taylor index by 200 orderings, then proven-optimal motifs.

    Args:
        index: ``"myerson-taylor"``, or ``"shapley-taylor"`` for the structure-blind ablation.
        order: Order of the index.
        method: ``"permutation"`` as in the paper, ``"exact"``, or ``"auto"``.
        permutations: Number of orderings where these are sampled.
        budget: Most coalitions to ask for.
        connected: True or False to force; None does what the caller asks.
        noise_floor: Interactions below this share of the largest count as 0 in the search.
        tau: τ.
    """

    title = "MAGE"

    def __init__(
        self,
        index: str = "myerson-taylor",
        order: int = 2,
        method: str = "permutation",
        permutations: int | None = 200,
        budget: int | None = None,
        connected: bool | None = None,
        noise_floor: float = 0.1,
        tau: float = 1.0,
    ) -> None:
        self.index = index
        self.order = order
        self.method = method
        self.permutations = permutations if method == "permutation" else None
        self.budget = budget
        self.connected = connected
        self.noise_floor = noise_floor
        self.tau = tau

    def explain(
        self,
        model: Any,
        data: Data,
        *,
        target: int | None = None,
        max_nodes: int | float = 0.3,
        num_motifs: int = 1,
        masking: str = "remove",
        output: str = "logit",
        connected: bool = True,
        seed: int = 0,
        node: int | None = None,
    ) -> Explanation:
        """Explain one graph, or one node of it; see :class:`Explainer`."""
        return explain(
            model,
            data,
            num_motifs,
            max_nodes,
            self.tau,
            target,
            output,
            masking,
            node=node,
            index=self.index,
            order=self.order,
            method=self.method,
            permutations=self.permutations,
            budget=self.budget,
            seed=seed,
            connected=connected if self.connected is None else self.connected,
            noise_floor=self.noise_floor,
            progress=False,
        )
