"""All other explainers as ``ExplainerAlgorithm`` of PyG."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Unpack

import torch
from torch_geometric.explain.config import MaskType, ModelReturnType, ModelTaskLevel

from mage.explainers import Explainer as MageExplainer
from mage.explainers import ExplainRequest, get
from mage.explainers.fields import GraphFields
from mage.explanation import Explanation
from mage.pyg.algorithm import MAGEExplainer
from mage.pyg.call import PyGCall
from mage.pyg.parts import InputPart

_log = logging.getLogger("mage")


class BaselineExplainer(MAGEExplainer):
    """Any explainer of :mod:`mage.explainers` through ``torch_geometric.explain.Explainer``, for graphs and classes.

    Methods that score edges give a soft edge mask in [0, 1], the others a binary one.

    Args:
        explainer: Name of an explainer, or one that is made already, with parameters of its own (and fitted, where it
            learns): ``mage.explainers.get("subgraphx", rollouts=10)``.
        request: One or several requests, as for :func:`mage.explain`.
        fields: Fields of the requests by name, as for :class:`MAGEExplainer`.

    Example::

        explainer = Explainer(
            model, algorithm=BaselineExplainer("subgraphx", max_nodes=5), explanation_type="model",
            node_mask_type="object", edge_mask_type="object",
            model_config=dict(mode="multiclass_classification", task_level="graph", return_type="raw"),
        )
    """

    def __init__(self, explainer: str | MageExplainer, request: Any = None, **fields: Unpack[GraphFields]) -> None:
        super().__init__(request, **fields)
        self.explainer = get(explainer) if isinstance(explainer, str) else explainer

    def supports(self) -> bool:
        """Whether the explainer's settings fit; logs why not."""
        config = self.model_config
        if config.task_level != ModelTaskLevel.graph or config.return_type != ModelReturnType.raw:
            _log.error("BaselineExplainer: explains raw outputs at the level of graphs; use MAGEExplainer for others")
            return False
        if self.explainer_config.node_mask_type not in (None, MaskType.object):
            _log.error("BaselineExplainer: masks nodes, not their features; use MAGEExplainer for 'attributes'")
            return False
        return True

    def _call(self, call: Callable[[Any, Any], Any]) -> dict[str, Any]:
        if isinstance(call, PyGCall) and call.whole is not None:
            raise ValueError("batch: edges join two of its graphs; BaselineExplainer explains graphs by themselves")
        return {}  # methods that look inside a model call it themselves, by the names of its arguments

    def _explained(self, model: torch.nn.Module, part: InputPart, request: ExplainRequest) -> Explanation:
        return self.explainer.explain(model, part.data, request)
