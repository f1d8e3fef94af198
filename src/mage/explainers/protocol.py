"""What an explainer is: one protocol for MAGE and for every baseline."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mage.datasets import GraphDataset
    from mage.explanation import Explanation


class UnsupportedError(ValueError):
    """An explainer cannot explain this model or this graph; the message says why and what would work."""


class Explainer(ABC):
    """A method that explains a model's output on one graph by groups of nodes.

    Subclasses are plain objects that can be pickled, so that engines can ship them to other processes.
    """

    title: ClassVar[str]
    """Name for people."""
    white_box: ClassVar[bool] = False
    """Whether it looks inside the model: gradients, hidden features, hooks."""
    needs_training: ClassVar[bool] = False
    """Whether :meth:`fit` must be called before :meth:`explain`."""

    def fit(self, model: Any, dataset: GraphDataset, seed: int = 0) -> None:  # noqa: B027 (most have nothing to learn)
        """Learn from a dataset's training part what explaining a model needs."""

    @abstractmethod
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
    ) -> Explanation:
        """Explain one graph.

        Args:
            model: The model; left as it was.
            data: One graph.
            target: The class to explain; the predicted one by default.
            max_nodes: M, the most nodes in all motifs together: a count, or a share of the nodes.
            num_motifs: m, the most motifs; methods that know no motifs take connected parts and ignore it.
            masking: What absence of a node means.
            output: What of the target is explained: logit, probability or log-probability.
            connected: Whether motifs must be connected, where the method can choose.
            seed: Seed of everything random.
        """
