"""The torch_geometric.explain front door: MAGE as an ``ExplainerAlgorithm``."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping
from typing import Any, Unpack

from mage._core.optional import missing_library

try:
    import torch
    from torch import Tensor
    from torch_geometric.data import Data
    from torch_geometric.explain import Explanation as PyGExplanation
    from torch_geometric.explain.algorithm import ExplainerAlgorithm
    from torch_geometric.explain.config import MaskType, ModelMode, ModelReturnType, ModelTaskLevel
except ImportError as error:
    raise missing_library(error, "pyg") from error

from mage.explainers import Explainer as MageExplainer
from mage.explainers import ExplainRequest, get
from mage.explainers.fields import GraphFields
from mage.explainers.graphs import explain_graph
from mage.explanation import Explanation
from mage.games import GraphRequest

_log = logging.getLogger("mage")

_TASKS = {
    ModelMode.multiclass_classification: "multiclass",
    ModelMode.binary_classification: "binary",
    ModelMode.regression: "regression",
}


class MAGEExplanation(PyGExplanation):  # type: ignore[misc]  # PyG ships no types
    """A PyG ``Explanation`` that also carries signed motifs and interactions, in a form that PyG does not cut apart.

    PyG takes any tensor with as many rows as there are nodes for a node attribute; an n × n matrix would be cut by
    ``get_explanation_subgraph`` and mangled by ``Batch``. So pairs are sparse and motifs are flat:

    Attributes:
        node_mask: [n, 1], 1 for nodes in a motif that speaks for the output (any motif, if all speak against it).
        edge_mask: [e], 1 for edges within such a motif.
        interaction_index: [2, p], the pairs (i, i) and (i, j) with a value that is not zero.
        interaction_value: [p], their signed interactions.
        motif_node_index: [k], nodes of all motifs, one motif after the other.
        motif_ptr: [m + 1], where each motif starts in ``motif_node_index``.
        motif_score: [m], signed scores.
        node_id: [n], the number each node had in the graph that was explained; all indices above are such numbers, so
            that they stay true when ``get_explanation_subgraph`` renumbers the nodes.
        request: How it was asked for; ``like=explanation`` repeats it.
    """

    def __cat_dim__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Pairs are concatenated along their columns, like edges."""
        return 1 if key == "interaction_index" else super().__cat_dim__(key, value, *args, **kwargs)

    def __inc__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Node numbers and motif starts are shifted in a batch."""
        if key in ("interaction_index", "motif_node_index", "node_id"):
            return self.original_num_nodes
        if key == "motif_ptr":
            return len(self.motif_node_index)
        return super().__inc__(key, value, *args, **kwargs)

    def is_node_attr(self, key: str) -> bool:
        """Signed data never belong to nodes row by row, whatever their length."""
        return not _signed(key) and bool(super().is_node_attr(key))

    def is_edge_attr(self, key: str) -> bool:
        """Nor to edges."""
        return not _signed(key) and bool(super().is_edge_attr(key))

    @property
    def motifs(self) -> list[tuple[list[int], float]]:
        """Nodes and signed score of each motif."""
        starts = self.motif_ptr.tolist()
        nodes = self.motif_node_index.tolist()
        # In a batch the starts of the next graph repeat the end of the last; motifs themselves are never empty.
        pieces = [nodes[a:b] for a, b in itertools.pairwise(starts) if b > a]
        return list(zip(pieces, self.motif_score.tolist(), strict=True))


def _signed(key: str) -> bool:
    return key.startswith(("interaction_", "motif_"))


class PyGCall:
    """Calls a model the way PyG's ``Explainer`` does: features and edges, then everything else by name.

    Args:
        extras: Other arguments by name; those that a graph has itself are taken from the graph.
    """

    def __init__(self, extras: Mapping[str, Any]) -> None:
        self.extras = extras

    def __call__(self, model: Any, data: Data) -> Tensor:
        """The output for one graph, or for a batch of graphs."""
        named = {key: data.get(key, value) for key, value in self.extras.items()}
        out: Tensor = model(data.x, data.edge_index, **named)
        return out


class MAGEExplainer(ExplainerAlgorithm):  # type: ignore[misc]  # PyG ships no types
    """Explain a model through ``torch_geometric.explain.Explainer``.

    Args:
        request: One or several requests, as for :func:`mage.explain`.
        fields: Fields of the requests by name (``num_motifs``, ``max_nodes``, ``tau``, ``masking``, ``output``, …), and
            ``like``, an explanation whose request is repeated. Wrong ones are refused here. Task, return type, target
            and node come from the ``Explainer`` where no field says otherwise.

    Example::

        explainer = Explainer(
            model, algorithm=MAGEExplainer(num_motifs=2), explanation_type="model",
            node_mask_type="object", edge_mask_type="object",
            model_config=dict(mode="multiclass_classification", task_level="graph", return_type="raw"),
        )
        explanation = explainer(data.x, data.edge_index, batch=batch)
    """

    def __init__(self, request: Any = None, **fields: Unpack[GraphFields]) -> None:
        super().__init__()
        self.request = ExplainRequest.of(GraphRequest, request, **{**self._call({}), **fields})
        self._given = {name for name, value in fields.items() if value is not None}

    def supports(self) -> bool:
        """Whether the explainer's settings fit; logs why not."""
        config = self.explainer_config
        for name, kind in (("node_mask_type", config.node_mask_type), ("edge_mask_type", config.edge_mask_type)):
            if kind not in (None, MaskType.object):
                _log.error("MAGEExplainer: %s must be 'object' or None, got %r", name, kind.value)
                return False
        if config.node_mask_type is None and config.edge_mask_type is None:
            _log.error("MAGEExplainer: one of node_mask_type and edge_mask_type must be 'object'")
            return False
        return True

    def forward(
        self,
        model: torch.nn.Module,
        x: Any,
        edge_index: Any,
        *,
        target: Tensor,
        index: int | Tensor | None = None,
        **kwargs: Any,
    ) -> MAGEExplanation:
        """Explain one graph, one node (``index``) or one link (``edge_label_index``)."""
        if not isinstance(x, Tensor) or not isinstance(edge_index, Tensor):
            raise ValueError(f"{type(self).__name__} explains homogeneous graphs; convert with to_homogeneous()")
        data = _checked_data(x, edge_index, kwargs)
        settled = {**self._call(kwargs), **self._configured(target, index, kwargs)}
        # What the user says of the model goes before what is read from the configuration.
        request = self.request.changed(**{name: settled[name] for name in settled.keys() - self._given})
        return self._converted(self._explained(model, data, request), x)

    def _call(self, extras: dict[str, Any]) -> dict[str, Any]:
        return {"forward": PyGCall(extras)}

    def _explained(self, model: torch.nn.Module, data: Data, request: ExplainRequest) -> Explanation:
        return explain_graph(model, data, request)

    def _configured(self, target: Tensor, index: int | Tensor | None, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Fields that follow from the configuration of PyG's explainer."""
        config = self.model_config
        task = _TASKS[config.mode]
        returned = config.return_type
        fields: dict[str, Any] = {"task": task, "return_type": "raw" if returned is None else returned.value}
        if returned not in (None, ModelReturnType.raw):
            fields["output"] = "probability"
        position = 0
        if config.task_level == ModelTaskLevel.node:
            if index is None or (isinstance(index, Tensor) and index.numel() != 1):
                raise ValueError("MAGEExplainer explains one node at a time; pass index=node")
            position = int(index)
            fields["node"] = position
        elif config.task_level == ModelTaskLevel.edge:
            pair = kwargs.get("edge_label_index")
            if not isinstance(pair, Tensor) or pair.shape != (2, 1):
                raise ValueError("MAGEExplainer explains one link at a time; pass edge_label_index of shape [2, 1]")
            fields["edge"] = pair.flatten().tolist()
        if task != "regression":
            flat = target.flatten()
            fields["target"] = int(flat[position if len(flat) > 1 else 0])
        return fields

    def _converted(self, explanation: Explanation, x: Tensor) -> MAGEExplanation:
        positive = [motif for motif in explanation.motifs if motif.sign > 0]
        shown = positive or list(explanation.motifs)
        labels = torch.zeros(explanation.num_nodes, dtype=torch.long, device=x.device)
        for rank, motif in enumerate(shown, start=1):
            labels[list(motif.nodes)] = rank
        nodes = [v for motif in explanation.motifs for v in motif.nodes]
        starts = [0, *itertools.accumulate(len(motif) for motif in explanation.motifs)]
        pairs, values = _sparse_pairs(explanation)
        config = self.explainer_config
        return MAGEExplanation(
            node_mask=None if config.node_mask_type is None else (labels > 0).float().unsqueeze(1),
            edge_mask=None if config.edge_mask_type is None else _edge_mask(explanation, labels),
            interaction_index=pairs.to(x.device),
            interaction_value=values.to(x.device),
            motif_node_index=torch.tensor(nodes, dtype=torch.long, device=x.device),
            motif_ptr=torch.tensor(starts, dtype=torch.long, device=x.device),
            motif_score=torch.tensor([motif.score for motif in explanation.motifs], device=x.device),
            node_id=torch.arange(explanation.num_nodes, device=x.device),
            original_num_nodes=explanation.num_nodes,
            request=explanation.request,
        )


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
        if config.task_level != ModelTaskLevel.graph or config.return_type not in (None, ModelReturnType.raw):
            _log.error("BaselineExplainer: explains raw outputs at the level of graphs; use MAGEExplainer for others")
            return False
        return super().supports()

    def _call(self, extras: dict[str, Any]) -> dict[str, Any]:
        del extras  # methods that look inside a model call it themselves, by the names of its arguments
        return {}

    def _explained(self, model: torch.nn.Module, data: Data, request: ExplainRequest) -> Explanation:
        return self.explainer.explain(model, data, request)


def _checked_data(x: Tensor, edge_index: Tensor, kwargs: dict[str, Any]) -> Data:
    """The graph with everything that the model is given."""
    batch = kwargs.get("batch")
    if isinstance(batch, Tensor) and batch.numel() and int(batch.max()) > 0:
        raise ValueError("MAGEExplainer explains one graph at a time; batch names more than one")
    extras = {key: value for key, value in kwargs.items() if key not in ("batch", "edge_label_index")}
    return Data(x=x, edge_index=edge_index, num_nodes=x.size(0), **extras)


def _edge_mask(explanation: Explanation, labels: Tensor) -> Tensor:
    """The method's own scores of the edges, the largest as 1; else 1 for edges within a motif."""
    if explanation.method_edge_scores is not None:
        scores = torch.from_numpy(explanation.method_edge_scores).to(labels.device).float().clamp(min=0)
        return scores / scores.max().clamp(min=1e-12)
    source, sink = torch.from_numpy(explanation.edge_index).to(labels.device)
    return ((labels[source] == labels[sink]) & (labels[source] > 0)).float()


def _sparse_pairs(explanation: Explanation) -> tuple[Tensor, Tensor]:
    """Non-zero interactions of single nodes and pairs; a group stands for its first node."""
    first = torch.tensor([nodes[0] for nodes in explanation.players])
    matrix = torch.from_numpy(explanation.interactions.matrix).triu()
    pairs = matrix.nonzero().T
    return first[pairs], matrix[pairs[0], pairs[1]].float()
