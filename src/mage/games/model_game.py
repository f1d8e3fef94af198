"""Games whose players are the nodes of a graph and whose referee is a PyG model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from mage._typing import Floats, Integers, Masks
from mage.games.evaluation import evaluating
from mage.games.forward import Forward
from mage.games.game import Game
from mage.games.graph_input import GraphInput
from mage.games.locality import computation_nodes, counting_hops
from mage.games.masking import MASKINGS, masking_named
from mage.games.outputs import Readout
from mage.graph import PlayerGraph

_MEBIBYTE = 1 << 20


class ModelGame(Game):
    """What is a set of nodes worth to a graph model?

    Graph level: players are all nodes, and a coalition's worth is the model's output on the graph without the others.
    Node and link level (``node=`` or ``edge=``): players are the nodes that the output can depend on, by as many hops
    as the model has message-passing layers; a coalition without the target node (or both ends) is worth the baseline.

    Args:
        model: A PyG model or any callable.
        data: One graph.
        target: Class to explain; the predicted one by default. Regression has none.
        output: ``"logit"``, ``"probability"`` or ``"log-probability"`` of the target.
        masking: ``"remove"``, ``"split"``, ``"zero"``, ``"mean"``, or a function ``(graph, masks) -> Union``.
        node: Node whose output is explained.
        edge: Pair of nodes whose link is explained; the model takes ``edge_label_index``.
        groups: Players that are groups of nodes: a label for each node, or a list of lists of nodes covering all.
        task: ``"multiclass"``, ``"binary"``, ``"regression"``; by default by the number of columns (one column is a
            regression unless ``target`` is given).
        return_type: What the model returns: ``"raw"``, ``"probs"`` or ``"log_probs"``.
        forward: ``call(model, data)`` for models that are called in a way of their own.
        num_hops: Hops of the computation graph at node and link level; read from the model by default.
        names: Names of the players.
        baseline: Value of the empty coalition, where it is known.
        batch_size: Most coalitions in one call of the model.
        memory_cap: Bytes that a batch may take, roughly.
    """

    def __init__(
        self,
        model: Any,
        data: Data,
        *,
        target: int | None = None,
        output: str = "logit",
        masking: str | Callable[..., Any] = "remove",
        node: int | None = None,
        edge: Sequence[int] | None = None,
        groups: Any = None,
        task: str = "auto",
        return_type: str = "raw",
        forward: Callable[[Any, Data], Tensor] | None = None,
        num_hops: int | None = None,
        names: Sequence[str] | None = None,
        baseline: float | None = None,
        batch_size: int = 4096,
        memory_cap: int = 512 * _MEBIBYTE,
    ) -> None:
        _check_device(model, data)
        whole = GraphInput.of(data)
        self.model = model
        self._graphs_run = 0
        self._rows_at_once = max(4096, min(16384, 16384 * 32 // _widest_layer(model)))
        self._masking = masking_named(masking)
        self._removes = self._masking is MASKINGS["remove"]
        if isinstance(masking, str) and masking in ("zero", "mean"):
            self._masking(whole, torch.zeros(1, whole.num_nodes, dtype=torch.bool, device=whole.device))
        needed = _checked_targets(node, edge, whole.num_nodes)
        self.level = "graph" if needed is None else ("node" if edge is None else "edge")
        self._forward = Forward(
            model,
            {*whole.node, *whole.edge, *whole.graph} | ({"edge_label_index"} if edge is not None else set()),
            forward,
        )
        self._needed = torch.tensor([] if needed is None else needed, dtype=torch.long, device=whole.device)
        self._graph, self._always = whole, torch.zeros(0, dtype=torch.long)
        everybody = torch.arange(whole.num_nodes, device=whole.device)
        self._one_by_one = not self._forward.takes_batch and needed is None
        with counting_hops(model) as hops:
            full = self._raw(torch.ones(1, whole.num_nodes, dtype=torch.bool, device=whole.device))
        # How many hops away nodes hear each other: message-passing layers, counted as they ran.
        self.num_hops = sum(hops)
        self.readout = Readout.of(full, task, target, output, return_type)
        self.prediction: Floats = full[0].double().cpu().numpy()
        if needed is not None:
            players, context = computation_nodes(
                model, whole, needed, sum(hops), num_hops, lambda nodes, blank: self._agrees(nodes, blank, full)
            )
            everybody = torch.cat([players, context])
            self._localise(everybody, len(players))
            num_players = len(players)
        else:
            num_players = whole.num_nodes
        self.player_nodes: list[Integers] = [everybody[i : i + 1].cpu().numpy() for i in range(num_players)]
        self._labels = torch.arange(num_players, device=whole.device)
        edges = _edges_among(self._graph, num_players)
        if edge is not None:
            # Only coalitions with both ends are worth something; unless joined, the two could never meet in one.
            edges = np.concatenate([edges, self._needed.cpu().numpy()[None]])
        self._check_batches()
        if groups is not None:
            labels = checked_groups(groups, everybody[:num_players].cpu().numpy(), whole.num_nodes)
            self._labels = torch.from_numpy(labels).to(whole.device)
            nodes = everybody[:num_players].cpu().numpy()
            self.player_nodes = [nodes[labels == group] for group in range(labels.max() + 1)]
            edges = labels[edges]
        count = len(self.player_nodes)
        if names is None:
            names = [
                ",".join(map(str, nodes)) if len(nodes) <= 3 else f"group {i}"
                for i, nodes in enumerate(self.player_nodes)
            ]
        super().__init__(
            self._value,
            count,
            PlayerGraph(count, edges),
            names,
            baseline=baseline,
            batch_size=batch_size,
            bytes_per_coalition=_bytes_per_copy(model, self._graph),
            memory_cap=memory_cap,
        )

    @property
    def num_queries(self) -> int:
        """Graphs the model has been run on, the unmasked one included; coalitions without the target need no run."""
        return self._graphs_run

    @property
    def target(self) -> int | None:
        """Class that is explained; None for regression."""
        return self.readout.target

    # -- evaluation -----------------------------------------------------------------------------------------------

    def _value(self, masks: Masks) -> Floats:
        with evaluating(self.model):
            device = self._graph.device
            chosen = torch.from_numpy(masks).to(device)[:, self._labels]
            always = torch.ones(len(masks), len(self._always), dtype=torch.bool, device=device)
            nodes = torch.cat([chosen, always], dim=1)
            present = nodes[:, self._needed].all(dim=1) if len(self._needed) else chosen.any(dim=1)
            if not self._removes and not len(self._needed):
                present = torch.ones_like(present)
            values = torch.empty(len(masks), dtype=torch.float64, device=device)
            rows = torch.nonzero(present).flatten()
            for some in torch.split(rows, self._portions(nodes, rows)) if len(rows) else ():
                values[some] = self.readout(self._outputs(nodes[some])).double()
            if not bool(present.all()):
                values[~present] = self._absent_value()
        return values.cpu().numpy()

    def _check_batches(self) -> None:
        """Go one by one where the model lets graphs of a batch feel each other, or cannot take a batch at all."""
        if self._one_by_one:
            return
        size = self._graph.num_nodes
        masks = torch.ones(2, size, dtype=torch.bool, device=self._graph.device)
        masks[1, torch.arange(size) % 3 == 2] = False
        masks[1, self._needed] = True
        masks[1, self._always] = True
        masks[1, 0] = True
        alone = torch.cat([self._raw(masks[:1]), self._raw(masks[1:])])
        try:
            together = self._raw(masks)
            same = torch.allclose(together, alone, atol=1e-4, rtol=1e-3, equal_nan=True)
        except (ValueError, RuntimeError, IndexError):
            same = False
        if not same:
            self._one_by_one = True
            warnings.warn(
                "the model's output for a graph depends on the rest of the batch (a normalisation without batch=?), "
                "so coalitions are evaluated one by one, which is slow",
                stacklevel=4,
            )

    def _portions(self, nodes: Tensor, rows: Tensor) -> list[int]:
        """How to cut a batch so that a portion's activations stay in the processor's cache."""
        if self._one_by_one:
            return [1] * len(rows)
        sizes = nodes[rows].sum(dim=1) if self._removes else torch.full((len(rows),), nodes.size(1))
        portion = torch.cumsum(sizes.cpu(), dim=0) // self._rows_at_once
        return torch.bincount(torch.unique_consecutive(portion, return_inverse=True)[1]).tolist()

    def _absent_value(self) -> float:
        """Value where there is nothing to look at: the empty graph, or a graph without the target node."""
        if self._baseline is not None:
            return self._baseline
        size = self._graph.num_nodes
        masks = torch.zeros(1, size, dtype=torch.bool, device=self._graph.device)
        if not self._removes:
            return float(self.readout(self._outputs(masks))[0])
        if not len(self._needed) and not self._one_by_one:
            # The empty graph goes first, so that pooling still sees two graphs and gives it a row of its own.
            return float(self.readout(self._outputs(torch.cat([masks, ~masks])))[0])
        # Without its target a node-level model has no output; the target alone, with blank features, comes nearest.
        masks[:, self._needed if len(self._needed) else 0] = True
        everyone = torch.arange(size, device=self._graph.device)
        return float(self.readout(self._outputs(masks, _blanked(self._graph, everyone, edges=False)))[0])

    def _raw(self, masks: Tensor) -> Tensor:
        with evaluating(self.model):
            return self._outputs(masks)

    def _outputs(self, masks: Tensor, graph: GraphInput | None = None) -> Tensor:
        """The model's output rows [q, C], one for each coalition."""
        count = len(masks)
        data, place = self._masking(self._graph if graph is None else graph, masks)
        if self.level == "edge":
            data.edge_label_index = place[:, self._needed].T.contiguous()
        self._graphs_run += count
        out = self._forward(data, count)
        if count == 1 and self.level != "node" and out.dim() < 2:
            out = out.reshape(1, -1)  # models that squeeze away the only graph of a batch
        out = out.unsqueeze(-1) if out.dim() == 1 else out
        if out.dim() != 2:
            raise ValueError(
                f"model must return one row of numbers for each graph or node, got shape {list(out.shape)}"
            )
        if self.level == "node":
            if out.size(0) != data.num_nodes:
                raise ValueError(
                    f"model returned {out.size(0)} rows for {data.num_nodes} nodes; node= needs one row per node"
                )
            return out[place[:, self._needed[0]]]
        if out.size(0) != count:
            per_node = out.size(0) == data.num_nodes
            hint = "one row per node; pass node= to explain a node" if per_node else f"{out.size(0)} rows"
            raise ValueError(f"model must return one row for each of {count} graphs, got {hint}")
        return out

    # -- locality -------------------------------------------------------------------------------------------------

    def _localise(self, nodes: Tensor, num_players: int) -> None:
        needed = self._needed
        position = {int(v): i for i, v in enumerate(nodes.tolist())}
        self._graph = self._graph.restricted_to(nodes)
        self._needed = torch.tensor([position[int(v)] for v in needed.tolist()], device=needed.device)
        self._always = torch.arange(num_players, len(nodes), device=needed.device)

    def _agrees(self, nodes: Tensor, blank: Tensor, full: Tensor) -> bool:
        """Whether the model says the same of the target when it sees only these nodes, some of them blanked."""
        graph, needed = self._graph, self._needed
        try:
            self._graph = _blanked(graph, blank)
            self._localise(nodes, len(nodes))
            local = self._raw(torch.ones(1, len(nodes), dtype=torch.bool, device=graph.device))
        finally:
            self._graph, self._needed, self._always = graph, needed, torch.zeros(0, dtype=torch.long)
        return bool(torch.allclose(local, full, atol=1e-5, rtol=1e-4))


def _blanked(graph: GraphInput, nodes: Tensor, edges: bool = True) -> GraphInput:
    """The graph with the features of some nodes at zero (whole numbers stay), and without edges if asked."""
    features = dict(graph.node)
    if "x" in features and features["x"].is_floating_point():
        features["x"] = features["x"].clone()
        features["x"][nodes] = 0.0
    count = graph.edge_index.size(1) if edges else 0
    kept = {key: value[:count] for key, value in graph.edge.items()}
    return replace(graph, node=features, edge=kept, edge_index=graph.edge_index[:, :count])


def checked_groups(groups: Any, players: Integers, num_nodes: int) -> Integers:
    """A group number 0, 1, … for each player node, from labels [n] or a list of lists of nodes."""
    if hasattr(groups, "detach"):
        groups = groups.detach().cpu().numpy()
    listed = list(groups)
    labels = np.full(num_nodes, -1, dtype=np.int64)
    if listed and (isinstance(listed[0], str) or not isinstance(listed[0], Iterable)):
        if len(listed) != num_nodes:
            raise ValueError(f"groups must label all {num_nodes} nodes, got {len(listed)} labels")
        labels = np.unique(np.asarray(listed), return_inverse=True)[1].astype(np.int64)
    else:
        for group, nodes in enumerate(listed):
            for v in nodes:
                if not 0 <= v < num_nodes:
                    raise ValueError(f"groups: node {v} does not exist; nodes are 0 … {num_nodes - 1}")
                if labels[v] >= 0:
                    raise ValueError(f"groups: node {v} is in groups {labels[v]} and {group}; groups must not overlap")
                labels[v] = group
    missing = players[labels[players] < 0]
    if len(missing):
        raise ValueError(f"groups: node {missing[0]} is in no group; groups must cover all nodes")
    return np.unique(labels[players], return_inverse=True)[1].astype(np.int64)


def _edges_among(graph: GraphInput, count: int) -> Integers:
    edges = graph.edge_index.T.cpu().numpy()
    return np.asarray(edges[(edges < count).all(axis=1)])


def _checked_targets(node: int | None, edge: Sequence[int] | None, num_nodes: int) -> list[int] | None:
    if node is not None and edge is not None:
        raise ValueError("node and edge: give one of the two")
    if node is None and edge is None:
        return None
    name, nodes = ("node", [node]) if edge is None else ("edge", list(edge))
    if edge is not None and len(nodes) != 2:
        raise ValueError(f"edge must be a pair of nodes, got {edge!r}")
    for v in nodes:
        if isinstance(v, bool) or int(v) != v or not 0 <= v < num_nodes:  # type: ignore[arg-type]
            raise ValueError(f"{name}: node {v} does not exist; nodes are 0 … {num_nodes - 1}")
    return [int(v) for v in nodes]  # type: ignore[arg-type]


def _check_device(model: Any, data: Any) -> None:
    tensors: list[Tensor] = list(model.parameters()) if isinstance(model, torch.nn.Module) else []
    tensors += [value for _, value in data if isinstance(value, Tensor)] if isinstance(data, Data) else []
    places = {tensor.device for tensor in tensors}
    if len(places) > 1:
        where = ", ".join(sorted(map(str, places)))
        raise ValueError(f"data and model are on different devices ({where}); move one with .to(device)")


def _bytes_per_copy(model: Any, graph: GraphInput) -> int:
    """Roughly what one masked copy takes inside the model: a few float rows of its widest layer per node and edge."""
    return 16 * _widest_layer(model) * (graph.num_nodes + graph.edge_index.size(1)) + 1024


def _widest_layer(model: Any) -> int:
    matrices = [p for p in model.parameters() if p.dim() == 2] if isinstance(model, torch.nn.Module) else []
    return min(max((max(matrix.shape) for matrix in matrices), default=64), 4096)
