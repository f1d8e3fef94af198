"""MAGE as an ``ExplainerAlgorithm`` of PyG."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Unpack

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.explain.algorithm import ExplainerAlgorithm
from torch_geometric.explain.config import MaskType, ModelMode, ModelReturnType

from mage._core.typing import Floats
from mage._torch.evaluation import agree, evaluating, resolution_of
from mage._torch.output_selection import explained_tensor
from mage.explainers import ExplainRequest
from mage.explainers.fields import GraphFields
from mage.explainers.graphs import explain_graph
from mage.explanation import Explanation
from mage.games import GraphRequest
from mage.pyg.call import PyGCall, takes_batch
from mage.pyg.explanation import MAGEExplanation, MAGEHeteroExplanation
from mage.pyg.features import FeatureGames
from mage.pyg.hetero import TypedInput
from mage.pyg.merging import ExplainedPart, shown_motifs
from mage.pyg.parts import InputPart, PyGInput
from mage.pyg.rows import TASKS, ExplainedRow, explained_rows

_ROUNDINGS = 8000  # how often an output may be rounded where it is computed from a part of the graph


class MAGEExplainer(ExplainerAlgorithm):  # type: ignore[misc]  # PyG ships no types
    """Explain a model through ``torch_geometric.explain.Explainer``.

    Every output that ``index`` names is explained, all by default: rows of nodes, of links (``edge_label_index``) or
    of the graphs of a batch; and of several labels, or numbers of a regression, each column. Their masks are merged.
    Dictionaries of features and edges by type (``HeteroData``) give a :class:`MAGEHeteroExplanation`.

    Args:
        request: One or several requests, as for :func:`mage.explain`.
        fields: Fields of the requests by name (``num_motifs``, ``max_nodes``, ``tau``, ``masking``, ``output``, …), and
            ``like``, an explanation whose request is repeated. Wrong ones are refused here. Task, return type, target
            and node come from the ``Explainer`` where no field says otherwise.

    Attributes:
        node_mask: Always None, as for PyG's own algorithms after they have run.
        edge_mask: Always None.

    Example::

        explainer = Explainer(
            model, algorithm=MAGEExplainer(num_motifs=2), explanation_type="model",
            node_mask_type="object", edge_mask_type="object",
            model_config=dict(mode="multiclass_classification", task_level="graph", return_type="raw"),
        )
        explanation = explainer(data.x, data.edge_index, batch=batch)
    """

    node_mask: None = None
    edge_mask: None = None

    def __init__(self, request: Any = None, **fields: Unpack[GraphFields]) -> None:
        super().__init__()
        self.request = ExplainRequest.of(GraphRequest, request, **{**self._call(PyGCall({})), **fields})
        self._given = {name for name, value in fields.items() if value is not None}
        if self.request.graph.players == "features":
            raise ValueError(
                "players='features' is what node_mask_type='common_attributes' of PyG's Explainer means; leave it out"
            )

    def supports(self) -> bool:
        """Whether the explainer's settings fit: all that PyG knows do."""
        return True

    def forward(
        self,
        model: torch.nn.Module,
        x: Any,
        edge_index: Any,
        *,
        target: Tensor | None = None,
        index: int | Tensor | None = None,
        **kwargs: Any,
    ) -> MAGEExplanation | MAGEHeteroExplanation:
        """Explain the outputs that ``index`` names; see the class."""
        if target is not None and not isinstance(target, Tensor):
            raise TypeError(f"target must be a tensor, got {type(target).__name__}")
        call_input = self._input(model, x, edge_index, kwargs)
        prediction = self._prediction(model, x, edge_index, kwargs)
        level = call_input.level(model, self.model_config.task_level.value, prediction, self.request.graph.select)
        parts = [
            self._explained_part(model, call_input.part(level, output.row, len(prediction)), output, prediction)
            for output in explained_rows(prediction, self.model_config.mode, index, target)
            if output.column is None or "column" not in self._given or output.column == self.request.graph.column
        ]
        config = self.explainer_config
        nodes = None if config.node_mask_type is None else config.node_mask_type.value
        explanation = call_input.converted(parts, nodes, config.edge_mask_type is not None)
        explanation.explanations = [part.explanation for part in parts]
        explanation.request = parts[0].explanation.request if len(parts) == 1 else self.request
        return explanation

    def _input(self, model: torch.nn.Module, x: Any, edge_index: Any, extras: dict[str, Any]) -> PyGInput | TypedInput:
        if isinstance(x, Mapping) and isinstance(edge_index, Mapping):
            return TypedInput(x, edge_index, extras, takes_batch(model, x, edge_index, extras))
        if not isinstance(x, Tensor) or not isinstance(edge_index, Tensor):
            kinds = f"{type(x).__name__} and {type(edge_index).__name__}"
            raise TypeError(
                f"x and edge_index must be two tensors, or two dictionaries of tensors by type; got {kinds}"
            )
        call_input = PyGInput(x, edge_index, extras)
        call_input.batched = takes_batch(model, x, edge_index, extras)
        return call_input

    def _prediction(self, model: torch.nn.Module, x: Any, edge_index: Any, extras: dict[str, Any]) -> Tensor:
        """The model's output [r, c] on the whole input."""
        with evaluating(model):
            out = explained_tensor(model(x, edge_index, **extras), self.request.graph.select)
        if out.dim() < 2:
            one_row = out.dim() == 0 or self.model_config.mode == ModelMode.multiclass_classification
            out = out.reshape(1, -1) if one_row else out.unsqueeze(1)
        if out.dim() != 2:
            raise ValueError(f"model must return a row of numbers for each output, got shape {list(out.shape)}")
        return out

    def _explained_part(
        self, model: torch.nn.Module, part: InputPart, output: ExplainedRow, prediction: Tensor
    ) -> ExplainedPart:
        fields = {**self._call(part.call), **part.place, **self._configured(output)}
        # The user's settings take precedence over the configuration.
        request = self.request.changed(**{name: fields[name] for name in fields.keys() - self._given})
        explanation = self._explained(model, part, request)
        self._check(explanation, prediction[output.row], output)
        return ExplainedPart(
            explanation, part.nodes, output.row, self._feature_scores(model, part, request, explanation)
        )

    def _call(self, call: Callable[[Any, Any], Any]) -> dict[str, Any]:
        """How the model is called, as a field of the request."""
        return {"forward": call}

    def _explained(self, model: torch.nn.Module, part: InputPart, request: ExplainRequest) -> Explanation:
        names = [str(node) for node in part.nodes.tolist()] if isinstance(part.data, Data) else None
        return explain_graph(model, part.data, request, names=names)

    def _configured(self, output: ExplainedRow) -> dict[str, Any]:
        """Fields that follow from the configuration of PyG's explainer."""
        config = self.model_config
        fields: dict[str, Any] = {
            "task": TASKS[config.mode],
            "return_type": config.return_type.value,
            "target": output.target,
            "column": output.column,
        }
        if config.return_type != ModelReturnType.raw:
            fields["output"] = "probability"
        return fields

    def _check(self, explanation: Explanation, expected: Tensor, output: ExplainedRow) -> None:
        """Refuse an explanation of another number than the one that PyG's explainer sees."""
        if not self._given.isdisjoint({"forward", "node", "edge", "column", "inputs"}):
            return
        if output.column is not None:
            expected = expected[output.column : output.column + 1]
        prediction = torch.as_tensor(explanation.prediction, dtype=torch.float64)
        if not agree(prediction, expected.double().cpu(), _ROUNDINGS * resolution_of(expected)):
            raise ValueError(
                f"model: output {output.row} is {expected.tolist()} in the whole input and {prediction.tolist()} by "
                "itself, so it depends on more than its own graph (a normalisation without batch=?); explain it alone"
            )

    def _feature_scores(
        self, model: torch.nn.Module, part: InputPart, request: ExplainRequest, explanation: Explanation
    ) -> dict[str | None, Floats]:
        """What features add, where the mask has a column for each."""
        kind = self.explainer_config.node_mask_type
        if kind not in (MaskType.attributes, MaskType.common_attributes):
            return {}
        games = FeatureGames(model, part.data, request.graph, request.seed)
        if kind == MaskType.common_attributes:
            return games.column_scores()
        return games.entry_scores(games.by_type(v for motif in shown_motifs(explanation) for v in motif.nodes))
