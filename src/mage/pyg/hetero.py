"""Graphs with types of nodes, as PyG's ``Explainer`` hands them on: dictionaries of features and of edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from mage._core.typing import Floats
from mage._torch.evaluation import agree, evaluating, resolution_of
from mage._torch.output_selection import explained_tensor
from mage._torch.signatures import unwrapped
from mage._torch.typed_graph import TypedGraph
from mage.pyg.call import COUNTS
from mage.pyg.explanation import MAGEHeteroExplanation
from mage.pyg.merging import ExplainedPart, edge_masks, feature_masks, node_masks, signed_data
from mage.pyg.parts import InputPart

_ROUNDINGS = 1000  # how often an output may be rounded where nodes change places


class HeteroCall:
    """Calls a model with dictionaries of features and edges, then everything else by name.

    Args:
        extras: Other arguments by name, as the user gave them; dictionaries are taken from the graph.
        batched: Whether the model gets the graph number of each node.
    """

    def __init__(self, extras: Mapping[str, Any], batched: bool = False) -> None:
        self.extras, self.batched = extras, batched

    def __call__(self, model: Any, data: HeteroData) -> Any:
        """The output for one graph, or for a batch of graphs."""
        keywords = {key: self._argument(key, value, data) for key, value in self.extras.items()}
        if self.batched:
            keywords["batch_dict"] = data.collect("batch")
        return unwrapped(model)(data.collect("x"), data.collect("edge_index"), **keywords)

    def _argument(self, key: str, value: Any, data: HeteroData) -> Any:
        if key in COUNTS and isinstance(value, int):
            return int(getattr(data, "_num_graphs", 1))
        if isinstance(value, Tensor):
            return data.get(key, value)
        return data.collect(_attribute(key)) if _is_typed(value) else value


class TypedBatch:
    """Which graph of a batch each node belongs to, by type.

    Args:
        batches: PyG's ``batch_dict``; None for a single graph.
        x: Node features by type.
        edge_index: Edges by type.

    Attributes:
        count: How many graphs there are.
    """

    def __init__(
        self, batches: Any, x: Mapping[str, Tensor], edge_index: Mapping[tuple[str, str, str], Tensor]
    ) -> None:
        self._batches: dict[str, Tensor] = {}
        self.count = 1
        if not isinstance(batches, Mapping):
            return
        for kind, features in x.items():
            batch = batches.get(kind)
            if not isinstance(batch, Tensor) or batch.dtype != torch.long or batch.shape != (len(features),):
                raise ValueError(f"batch_dict must have the graph of each of {len(features)} nodes of type {kind!r}")
            self._batches[kind] = batch
            self.count = max(self.count, int(batch.max()) + 1 if len(batch) else 1)
        for relation, (source, target) in edge_index.items():
            if bool((self._batches[relation[0]][source] != self._batches[relation[2]][target]).any()):
                raise ValueError(
                    f"batch_dict: edges {relation} join two of its graphs; explain graphs that no edges join, or all "
                    "of them as one"
                )

    def of_nodes(self, kinds: Sequence[str], rows: Sequence[int]) -> int:
        """The graph of some nodes."""
        graphs = {int(self._batches[kind][row]) if self.count > 1 else 0 for kind, row in zip(kinds, rows, strict=True)}
        if len(graphs) > 1:
            raise ValueError("edge_label_index: a link between two graphs of batch_dict cannot be explained")
        return graphs.pop()

    def nodes_of(self, graph: int) -> dict[str, Tensor]:
        """The nodes of a graph by their numbers within their types."""
        inside = {kind: torch.nonzero(batch == graph).flatten() for kind, batch in self._batches.items()}
        if not any(len(nodes) for nodes in inside.values()):
            raise ValueError(f"index: graph {graph} of batch_dict has no nodes")
        return inside


class TypedInput:
    """Features and edges by type, and further arguments.

    Args:
        x: Node features by type.
        edge_index: Edges by type.
        extras: Further arguments of the model, by name.
        batched: Whether the model gets the graph number of each node.
    """

    def __init__(
        self,
        x: Mapping[str, Tensor],
        edge_index: Mapping[tuple[str, str, str], Tensor],
        extras: Mapping[str, Any],
        batched: bool = False,
    ) -> None:
        self.x, self.edge_index, self.extras, self.batched = x, edge_index, extras, batched
        self.graphs = TypedBatch(extras.get("batch_dict"), x, edge_index)
        self.data = HeteroData()
        for key, value in {"x": x, "edge_index": edge_index, **extras}.items():
            if _is_typed(value):
                self.data.set_value_dict(_attribute(key), value)
        self.typed = TypedGraph.of(self.data)
        self._kinds: tuple[str, ...] = ()

    def level(self, model: Any, declared: str, prediction: Tensor, select: Any = None) -> str:
        """What the rows of the output are: the graph, links, or nodes of a type that has as many.

        Args:
            model: The model.
            declared: The task level of PyG's configuration.
            prediction: The model's output.
            select: Which of several outputs that is.
        """
        rows, links = len(prediction), self.extras.get("edge_label_index")
        if rows == self.graphs.count and declared == "graph":
            return "graph"
        if declared == "edge" and isinstance(links, Tensor) and links.shape == (2, rows):
            self._kinds = self._fitting(model, select, prediction, self._link_kinds(links), links)
            return "edge"
        sizes = {kind: len(features) for kind, features in self.x.items()}
        of_size = [(kind,) for kind, size in sizes.items() if size == rows]
        if not of_size and rows == self.graphs.count:
            return "graph"
        if not of_size:
            raise ValueError(f"model returned {rows} rows, and there are nodes of types {sizes}; none has as many")
        self._kinds = self._fitting(model, select, prediction, of_size)
        return "node"

    def part(self, level: str, row: int, num_rows: int) -> InputPart:
        """What one row of the output is explained from: the graph that it belongs to."""
        del num_rows
        rows: tuple[int, ...] = (row,)
        if level == "edge":
            rows = tuple(self.extras["edge_label_index"][:, row].tolist())
        graph = row if level == "graph" else self.graphs.of_nodes(self._kinds, rows)
        data, nodes, extras = self.data, torch.arange(self.typed.num_nodes, device=self.typed.edge_index.device), {}
        if self.graphs.count > 1:
            inside = self.graphs.nodes_of(graph)
            data = self.data.subgraph(inside)
            first = dict(zip(self.typed.node_types, self.typed.node_starts, strict=False))
            nodes = torch.cat([first[kind] + inside[kind] for kind in self.typed.node_types])
            rows = tuple(int((inside[k] < v).sum()) for k, v in zip(self._kinds, rows, strict=False)) or rows
        for key, value in self.extras.items():
            if isinstance(value, Tensor) and value.dim() and len(value) == self.graphs.count and not _is_link(key):
                extras[key] = value[graph : graph + 1]
                data[key] = extras[key]
        call = HeteroCall({**self.extras, **extras}, self.batched)
        if level == "node":
            return InputPart(data, nodes, call, node=(self._kinds[0], rows[0]))
        if level == "edge":
            source, target = zip(self._kinds, rows, strict=True)
            return InputPart(data, nodes, call, edge=(source, target))
        return InputPart(data, nodes, call)

    def converted(self, parts: Sequence[ExplainedPart], nodes: str | None, edges: bool) -> MAGEHeteroExplanation:
        """The explanation in PyG's form.

        Args:
            parts: The explained outputs.
            nodes: Kind of the node mask.
            edges: Whether there is an edge mask.
        """
        explanation, typed = MAGEHeteroExplanation(), self.typed
        masks: dict[Any, dict[str, Tensor]] = {kind: {} for kind in (*typed.node_types, *typed.edge_types)}
        if nodes == "object":
            whole = dict(zip(("node_mask", "node_score"), node_masks(parts, typed.num_nodes), strict=True))
            _divide(masks, typed.node_types, typed.node_starts, whole)
        elif nodes is not None:
            for kind, (mask, score) in feature_masks([self._spread(part) for part in parts]).items():
                masks[kind] |= {"node_mask": mask, "node_score": score}
        if edges:
            pair = edge_masks(parts, typed.edge_index, typed.num_nodes)
            whole = dict(zip(("edge_mask", "edge_score"), pair, strict=True))
            _divide(masks, typed.edge_types, typed.edge_starts, whole)
        for kind, tensors in masks.items():
            for key, value in tensors.items():
                explanation[kind][key] = value
        explanation.type_names = list(typed.node_types)
        first = torch.tensor(typed.node_starts, device=typed.edge_index.device)
        for key, value in signed_data(parts).items():
            if key in ("interaction_index", "motif_node_index"):
                kinds = typed.type_of_node[value]
                explanation[key], explanation[key.replace("index", "type")] = value - first[kinds], kinds
            else:
                explanation[key] = value
        return explanation

    def _spread(self, part: ExplainedPart) -> ExplainedPart:
        """Scores of single numbers, with a row for each node of the user's graph."""
        scores: dict[str | None, Floats] = {}
        for place, kind in enumerate(self.typed.node_types):
            values = part.feature_scores[kind]
            start, end = self.typed.node_starts[place : place + 2]
            if values.ndim == 2 and len(values) < end - start:
                of_kind = part.nodes[(part.nodes >= start) & (part.nodes < end)] - start
                scores[kind] = np.zeros((end - start, values.shape[1]))
                scores[kind][of_kind.cpu().numpy()] = values
            else:
                scores[kind] = values
        return replace(part, feature_scores=scores)

    def _link_kinds(self, links: Tensor) -> Sequence[tuple[str, ...]]:
        """Pairs of types that edges join and that have the nodes which links name."""
        pairs = dict.fromkeys((source, target) for source, _, target in self.typed.edge_types)
        largest = links.amax(dim=1).tolist()
        fitting = [kinds for kinds in pairs if all(len(self.x[k]) > v for k, v in zip(kinds, largest, strict=True))]
        if not fitting:
            raise ValueError(f"edge_label_index: no two types that edges join have nodes {largest}")
        return fitting

    def _fitting(
        self,
        model: Any,
        select: Any,
        prediction: Tensor,
        candidates: Sequence[tuple[str, ...]],
        links: Tensor | None = None,
    ) -> tuple[str, ...]:
        """The types of rows, or of both ends of links: outputs follow their nodes when these change places."""
        if len(candidates) == 1:
            return candidates[0]
        fitting = [kinds for kinds in candidates if self._follows(model, select, prediction, kinds, links)]
        if len(fitting) != 1:
            listed = " and ".join("–".join(kinds) for kinds in (fitting or candidates))
            raise ValueError(f"model: its rows may belong to {listed}; use mage.explain with node= or edge= instead")
        return fitting[0]

    def _follows(
        self, model: Any, select: Any, prediction: Tensor, kinds: tuple[str, ...], links: Tensor | None
    ) -> bool:
        generator = torch.Generator().manual_seed(0)
        order = {kind: torch.randperm(len(self.x[kind]), generator=generator) for kind in dict.fromkeys(kinds)}
        place = {kind: torch.argsort(each) for kind, each in order.items()}
        moved = {
            (key, kind): value[order[kind]] if kind in order and len(value) == len(order[kind]) else value
            for key, values in {"x": self.x, **_node_extras(self.extras)}.items()
            for kind, value in values.items()
        }
        edges = {
            kind: torch.stack(
                [place[end][row] if end in place else row for end, row in zip((kind[0], kind[2]), ends, strict=True)]
            )
            for kind, ends in self.edge_index.items()
        }
        extras = dict(self.extras)
        for key in _node_extras(self.extras):
            extras[key] = {kind: value for (name, kind), value in moved.items() if name == key}
        expected = prediction
        if links is not None:
            extras["edge_label_index"] = torch.stack([place[k][row] for k, row in zip(kinds, links, strict=True)])
        else:
            expected = prediction[order[kinds[0]]]
        features = {kind: value for (name, kind), value in moved.items() if name == "x"}
        try:
            with evaluating(model):
                out = explained_tensor(model(features, edges, **extras), select)
        except Exception:  # a model that fails then is not one whose rows follow
            return False
        return out.numel() == expected.numel() and agree(
            out.reshape(expected.shape), expected, _ROUNDINGS * resolution_of(expected)
        )


def _is_typed(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str | tuple) for key in value)


def _is_link(key: str) -> bool:
    return key == "edge_label_index"


def _attribute(key: str) -> str:
    return key.removesuffix("_dict")


def _node_extras(extras: Mapping[str, Any]) -> dict[str, Mapping[str, Tensor]]:
    return {
        key: value for key, value in extras.items() if _is_typed(value) and all(isinstance(kind, str) for kind in value)
    }


def _divide(
    masks: dict[Any, dict[str, Tensor]], kinds: Sequence[Any], starts: Sequence[int], whole: Mapping[str, Tensor]
) -> None:
    """Give each type its part of masks over all types."""
    for place, kind in enumerate(kinds):
        for key, value in whole.items():
            masks[kind][key] = value[starts[place] : starts[place + 1]]
