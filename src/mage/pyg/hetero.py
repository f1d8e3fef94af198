"""Graphs with types of nodes, as PyG's ``Explainer`` hands them on: dictionaries of features and of edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from mage._torch.evaluation import agree, evaluating, resolution_of
from mage._torch.selection import selected
from mage._torch.signatures import unwrapped
from mage._torch.typed_graph import TypedGraph
from mage.pyg.explanation import MAGEHeteroExplanation
from mage.pyg.merging import ExplainedPart, edge_masks, feature_masks, node_masks, signed_data
from mage.pyg.parts import InputPart

_ROUNDINGS = 1000  # how often an output may be rounded where nodes change places


class HeteroCall:
    """Calls a model with dictionaries of features and edges, then everything else by name.

    Args:
        extras: Other arguments by name, as the user gave them; dictionaries are taken from the graph.
        batched: Whether the model is told which graph each node belongs to.
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
        if key == "edge_label_index" and isinstance(value, Tensor):
            return data.get("edge_label_index", value)
        return data.collect(_attribute(key)) if _is_typed(value) else value


class TypedInput:
    """Features and edges by type, and further arguments.

    Args:
        x: Node features by type.
        edge_index: Edges by type.
        extras: Further arguments of the model, by name.
        batched: Whether the model is told which graph each node belongs to.
    """

    def __init__(
        self,
        x: Mapping[str, Tensor],
        edge_index: Mapping[tuple[str, str, str], Tensor],
        extras: Mapping[str, Any],
        batched: bool = False,
    ) -> None:
        self.x, self.edge_index, self.extras, self.batched = x, edge_index, extras, batched
        batches = extras.get("batch_dict")
        if isinstance(batches, Mapping) and any(len(batch) and int(batch.max()) > 0 for batch in batches.values()):
            raise ValueError("batch_dict: it names several graphs with types of nodes; explain them one by one")
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
        if rows == 1 and declared == "graph":
            return "graph"
        if declared == "edge" and isinstance(links, Tensor) and links.shape == (2, rows):
            self._kinds = self._fitting(model, select, prediction, self._link_kinds(links), links)
            return "edge"
        sizes = {kind: len(features) for kind, features in self.x.items()}
        of_size = [(kind,) for kind, size in sizes.items() if size == rows]
        if not of_size and rows == 1:
            return "graph"
        if not of_size:
            raise ValueError(f"model returned {rows} rows, and there are nodes of types {sizes}; none has as many")
        self._kinds = self._fitting(model, select, prediction, of_size)
        return "node"

    def part(self, level: str, row: int, num_rows: int) -> InputPart:
        """What one row of the output is explained from."""
        del num_rows
        nodes = torch.arange(self.typed.num_nodes, device=self.typed.edge_index.device)
        call = HeteroCall(self.extras, self.batched)
        if level == "node":
            return InputPart(self.data, nodes, call, node=(self._kinds[0], row))
        if level == "edge":
            ends = self.extras["edge_label_index"][:, row].tolist()
            source, target = zip(self._kinds, ends, strict=True)
            return InputPart(self.data, nodes, call, edge=(source, target))
        return InputPart(self.data, nodes, call)

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
            for kind, (mask, score) in feature_masks(parts).items():
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
                out = selected(model(features, edges, **extras), select)
        except Exception:  # a model that fails then is not one whose rows follow
            return False
        return out.numel() == expected.numel() and agree(
            out.reshape(expected.shape), expected, _ROUNDINGS * resolution_of(expected)
        )


def _is_typed(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str | tuple) for key in value)


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
