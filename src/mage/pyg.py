"""The torch_geometric.explain front door: MAGE as an ``ExplainerAlgorithm``."""

from __future__ import annotations

import itertools
import logging
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.explain import Explanation as PyGExplanation
from torch_geometric.explain.algorithm import ExplainerAlgorithm
from torch_geometric.explain.config import MaskType, ModelMode, ModelReturnType, ModelTaskLevel

from mage.explainers import Explainer as MageExplainer
from mage.explainers import explain, get
from mage.explanation import Explanation

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


class MAGEExplainer(ExplainerAlgorithm):  # type: ignore[misc]  # PyG ships no types
    """Explain a model through ``torch_geometric.explain.Explainer``.

    Args:
        options: As for :func:`mage.explain` (``num_motifs``, ``max_nodes``, ``tau``, ``masking``, ``output``,
            ``permutations``, ``seed``, …). Task, return type, target and node come from the ``Explainer``.

    Example::

        explainer = Explainer(
            model, algorithm=MAGEExplainer(num_motifs=2), explanation_type="model",
            node_mask_type="object", edge_mask_type="object",
            model_config=dict(mode="multiclass_classification", task_level="graph", return_type="raw"),
        )
        explanation = explainer(data.x, data.edge_index, batch=batch)
    """

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = options

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
            raise ValueError("MAGEExplainer explains homogeneous graphs; convert with to_homogeneous()")

        def call(network: Any, data: Data) -> Tensor:
            # The way PyG's Explainer calls it.
            out: Tensor = network(
                data.x, data.edge_index, **{key: data[key] if key in data else kwargs[key] for key in kwargs}
            )
            return out

        arguments = {"forward": call, **self._arguments(target, index, kwargs)}
        explanation = explain(model, self._data(x, edge_index, kwargs), **arguments)
        return self._converted(explanation, x)

    def _data(self, x: Tensor, edge_index: Tensor, kwargs: dict[str, Any]) -> Data:
        batch = kwargs.get("batch")
        if isinstance(batch, Tensor) and batch.numel() and int(batch.max()) > 0:
            raise ValueError("MAGEExplainer explains one graph at a time; batch names more than one")
        extras = {key: value for key, value in kwargs.items() if key not in ("batch", "edge_label_index")}
        return Data(x=x, edge_index=edge_index, num_nodes=x.size(0), **extras)

    def _arguments(self, target: Tensor, index: int | Tensor | None, kwargs: dict[str, Any]) -> dict[str, Any]:
        config = self.model_config
        task = _TASKS[config.mode]
        returned = config.return_type
        arguments: dict[str, Any] = {"task": task, "return_type": "raw" if returned is None else returned.value}
        if returned not in (None, ModelReturnType.raw):
            arguments["output"] = "probability"
        position = 0
        if config.task_level == ModelTaskLevel.node:
            if index is None or (isinstance(index, Tensor) and index.numel() != 1):
                raise ValueError("MAGEExplainer explains one node at a time; pass index=node")
            position = int(index)
            arguments["node"] = position
        elif config.task_level == ModelTaskLevel.edge:
            pair = kwargs.get("edge_label_index")
            if not isinstance(pair, Tensor) or pair.shape != (2, 1):
                raise ValueError("MAGEExplainer explains one link at a time; pass edge_label_index of shape [2, 1]")
            arguments["edge"] = pair.flatten().tolist()
        if task != "regression":
            flat = target.flatten()
            arguments["target"] = int(flat[position if len(flat) > 1 else 0])
        return {**arguments, **self.options}

    def _converted(self, explanation: Explanation, x: Tensor) -> MAGEExplanation:
        positive = [motif for motif in explanation.motifs if motif.sign > 0]
        shown = positive or list(explanation.motifs)
        labels = torch.zeros(explanation.num_nodes, dtype=torch.long, device=x.device)
        for rank, motif in enumerate(shown, start=1):
            labels[list(motif.nodes)] = rank
        source, sink = torch.from_numpy(explanation.edge_index).to(x.device)
        nodes = [v for motif in explanation.motifs for v in motif.nodes]
        starts = [0]
        for motif in explanation.motifs:
            starts.append(starts[-1] + len(motif))
        pairs, values = _sparse_pairs(explanation)
        config = self.explainer_config
        edge_mask = ((labels[source] == labels[sink]) & (labels[source] > 0)).float()
        return MAGEExplanation(
            node_mask=None if config.node_mask_type is None else (labels > 0).float().unsqueeze(1),
            edge_mask=None if config.edge_mask_type is None else edge_mask,
            interaction_index=pairs.to(x.device),
            interaction_value=values.to(x.device),
            motif_node_index=torch.tensor(nodes, dtype=torch.long, device=x.device),
            motif_ptr=torch.tensor(starts, dtype=torch.long, device=x.device),
            motif_score=torch.tensor([motif.score for motif in explanation.motifs], device=x.device),
            node_id=torch.arange(explanation.num_nodes, device=x.device),
            original_num_nodes=explanation.num_nodes,
        )


class BaselineExplainer(MAGEExplainer):
    """Any explainer of :mod:`mage.explainers` through ``torch_geometric.explain.Explainer``, for graphs and classes.

    Methods that score edges give a soft edge mask in [0, 1], the others a binary one.

    Args:
        explainer: Name of an explainer, or one that is made already (and fitted, where it learns).
        max_nodes: M: a count, or a share of the nodes.
        num_motifs: m, for methods that know motifs.
        masking: What absence of a node means.
        seed: Seed of everything random.
        parameters: The explainer's own, with a name.

    Example::

        explainer = Explainer(
            model, algorithm=BaselineExplainer("subgraphx", max_nodes=5, rollouts=10), explanation_type="model",
            node_mask_type="object", edge_mask_type="object",
            model_config=dict(mode="multiclass_classification", task_level="graph", return_type="raw"),
        )
    """

    def __init__(
        self,
        explainer: str | MageExplainer,
        max_nodes: int | float = 0.3,
        num_motifs: int = 1,
        masking: str = "remove",
        seed: int = 0,
        **parameters: Any,
    ) -> None:
        super().__init__(max_nodes=max_nodes, num_motifs=num_motifs, masking=masking, seed=seed)
        if not isinstance(explainer, str) and parameters:
            raise ValueError(f"parameters {sorted(parameters)}: the explainer is made already; give its name instead")
        self.explainer = get(explainer, **parameters) if isinstance(explainer, str) else explainer

    def supports(self) -> bool:
        """Whether the explainer's settings fit; logs why not."""
        config = self.model_config
        if config.task_level != ModelTaskLevel.graph or config.return_type not in (None, ModelReturnType.raw):
            _log.error("BaselineExplainer: explains raw outputs at the level of graphs; use MAGEExplainer for others")
            return False
        return super().supports()

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
        """Explain one graph."""
        if not isinstance(x, Tensor) or not isinstance(edge_index, Tensor):
            raise ValueError("BaselineExplainer explains homogeneous graphs; convert with to_homogeneous()")
        wanted = self._arguments(target, index, kwargs)
        settings = {name: wanted[name] for name in ("target", *self.options) if name in wanted}
        explanation = self.explainer.explain(model, self._data(x, edge_index, kwargs), **settings)
        made = self._converted(explanation, x)
        if made.edge_mask is not None and explanation.method_edge_scores is not None:
            scores = torch.from_numpy(explanation.edge_scores).to(x.device).float().clamp(min=0)
            made.edge_mask = scores / scores.max().clamp(min=1e-12)
        return made


def _sparse_pairs(explanation: Explanation) -> tuple[Tensor, Tensor]:
    """Non-zero interactions of single nodes and pairs; a group stands for its first node."""
    first = torch.tensor([nodes[0] for nodes in explanation.players])
    matrix = torch.from_numpy(explanation.interactions.matrix).triu()
    pairs = matrix.nonzero().T
    return first[pairs], matrix[pairs[0], pairs[1]].float()
