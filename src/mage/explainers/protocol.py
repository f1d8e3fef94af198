"""What an explainer is: one protocol for MAGE and for every baseline."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from mage.explainers.fields import GraphFields
from mage.explainers.request import ExplainRequest
from mage.games.request import GraphRequest

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mage.datasets import GraphDataset
    from mage.explanation import Explanation


class UnsupportedError(ValueError):
    """An explainer cannot explain this model or this graph; the message says why and what would work."""


class Explainer(ABC):
    """A method that explains a model's output on one graph by groups of nodes.

    A method of your own has a :attr:`title` and a :meth:`compute`. It is a plain object that can be pickled, so that
    engines can send it to other processes.
    """

    title: ClassVar[str]
    """Name to display."""
    white_box: ClassVar[bool] = False
    """Whether it looks inside the model: gradients, hidden features, hooks."""
    needs_training: ClassVar[bool] = False
    """Whether :meth:`fit` must be called before :meth:`explain`."""
    levels: ClassVar[tuple[str, ...]] = ("graph",)
    """What it explains: ``"graph"``, ``"node"``, ``"edge"``."""
    hetero: ClassVar[bool] = False
    """Whether it explains graphs with several types of nodes."""
    players: ClassVar[tuple[str, ...]] = ("nodes",)
    """What may play: ``"nodes"``, ``"edges"``, ``"features"``."""

    def fit(self, model: Any, dataset: GraphDataset, seed: int = 0) -> None:  # noqa: B027 (most have nothing to learn)
        """Learn from a dataset's training part what explaining a model needs."""

    def explain(self, model: Any, data: Data, request: Any = None, **fields: Unpack[GraphFields]) -> Explanation:
        """Explain one graph, or one node or link of it where the method can.

        Args:
            model: The model; left as it was.
            data: One graph.
            request: How: a :class:`mage.GraphRequest`, :class:`mage.MotifRequest` or the like, one or several.
            fields: Fields of the requests by name, such as ``target=1``, ``max_nodes=5`` or ``masking="split"``; and
                ``like``, an explanation whose request is repeated.
        """
        whole = ExplainRequest.of(GraphRequest, request, **fields)
        level = whole.graph.level
        if level not in self.levels:
            able = " and ".join(f"{level}s" for level in self.levels)
            raise UnsupportedError(f"{self.title} explains {able}, not a single {level}; mage explains all levels")
        if not self.hetero and hasattr(data, "node_types"):
            raise UnsupportedError(
                f"data: {self.title} explains graphs without types of nodes; mage explains HeteroData, or convert it "
                "with to_homogeneous()"
            )
        if not hasattr(data, "node_types"):
            from mage._torch.graph_input import check_graph

            check_graph(data)
        if whole.graph.players not in self.players:
            raise UnsupportedError(
                f"players: {self.title} lets {' and '.join(self.players)} play, not {whole.graph.players}; mage does"
            )
        started = time.perf_counter()
        explanation = self.compute(model, data, whole)
        # A method with fields of its own says itself what it did.
        full_request = whole if explanation.request is None else explanation.request
        explanation = replace(explanation, seconds=time.perf_counter() - started, request=full_request)
        explanation.keep_source(model, data)
        return explanation

    @abstractmethod
    def compute(self, model: Any, data: Data, request: ExplainRequest) -> Explanation:
        """Explain one graph as the request says; what a method knows nothing of, it leaves aside."""
