"""MatchExplainer: the nodes that best match those of another graph of the same class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.nn import MessagePassing

from mage._core.checks import checked_instance, checked_whole
from mage._core.typing import Floats, Integers
from mage._torch.evaluation import evaluating
from mage._torch.forward import Forward
from mage._torch.graph_input import GraphInput
from mage._torch.masking import split
from mage.explainers._selection import dataset_class
from mage.explainers.protocol import Explainer, UnsupportedError
from mage.explainers.request import ExplainRequest
from mage.explanation import Explanation
from mage.games.model_game import ModelGame
from mage.models.networks import GraphNetwork

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mage.datasets import GraphDataset

_GRAPHS_AT_ONCE = 256
_DISTANCES_AT_ONCE = 1 << 22
_RESOLUTION = 1e-6  # of the largest embedding; closer distances differ by rounding only


class MatchExplainer(Explainer):
    """Nodes matched, by their embeddings, with nodes of other graphs of the class; the most telling such set.

    Reference: Wu, Li, Jin, Jiang, Radev, Niu & Li, "Rethinking Explaining Graph Neural Networks via Non-parametric
    Subgraph Matching", ICML 2023. With each counterpart of at least M nodes, M pairs of nodes are matched greedily by
    the distance of their embeddings: O(n n′ (d + M)) and one query each. The result has exactly min(M, n) nodes.

    Of the candidates, the one on which the model says the most for the target is taken, of equal ones that with the
    smaller distance: the paper's first version names "an external graph ranking … to select the most informative
    substructure from all subgraph candidates". The released code takes the first candidate that keeps the label, or
    the last of all, and so depends on the order of the data. Counterparts are training graphs that the model puts into
    the class, since it is the model that is explained; the released code takes training and validation graphs by their
    label, wrongly predicted ones left out. A graph is not matched with itself. What a candidate's other nodes become
    follows ``masking``; by default they are removed, as in the paper.

    Args:
        max_graphs: Most counterparts of each class, sampled by the seed of :meth:`fit`.
    """

    title = "MatchExplainer"
    white_box = True
    needs_training = True

    def __init__(self, max_graphs: int = 1000) -> None:
        self.max_graphs = checked_whole("max_graphs", max_graphs)
        self.counterparts: dict[int, list[Floats]] | None = None

    def fit(self, model: Any, dataset: GraphDataset, seed: int = 0) -> None:
        """Keep the embeddings of training graphs of each predicted class."""
        checked_instance("dataset", dataset, dataset_class(), "a dataset, as mage.datasets.load returns it")
        if dataset.task != "graph":
            raise UnsupportedError(f"dataset: {dataset.name} has labels of nodes, and MatchExplainer matches graphs")
        order = np.random.default_rng(seed).permutation(dataset.split.train)
        counterparts: dict[int, list[Floats]] = {label: [] for label in range(dataset.num_classes)}
        size = _GRAPHS_AT_ONCE if Forward(model, set(dataset.batch(order[:1]).keys())).takes_batch else 1
        for union in dataset.batches(order, size):
            out, embeddings = _embedded(model, union, int(union.batch.max()) + 1)
            labels = out.argmax(dim=1) if out.size(1) > 1 else (out[:, 0] > 0).long()
            counts = torch.bincount(union.batch).tolist()
            for label, rows in zip(labels.tolist(), torch.split(embeddings, counts), strict=True):
                if len(counterparts.setdefault(label, [])) < self.max_graphs:
                    counterparts[label].append(rows.numpy())
            if all(len(graphs) == self.max_graphs for graphs in counterparts.values()):
                break
        self.counterparts = counterparts

    def compute(self, model: Any, data: Data, request: ExplainRequest) -> Explanation:
        """Explain one graph."""
        if self.counterparts is None:
            raise UnsupportedError("MatchExplainer needs graphs to match with; call fit(model, dataset) first")
        game = ModelGame(model, data, request.graph.with_usual(output="logit", masking="remove"))
        if game.target is None:
            raise UnsupportedError(
                "MatchExplainer matches graphs of one class, and a regression has none; give target="
            )
        graph = GraphInput.of(data)
        budget = request.motifs.max_nodes_of(graph.num_nodes)
        embeddings = _embedded(model, split(graph, graph.full_mask).data, 1)[1].numpy()
        others = [rows for rows in self.counterparts.get(game.target, []) if not _same(rows, embeddings)]
        if others and others[0].shape[1] != embeddings.shape[1]:
            raise UnsupportedError(
                f"MatchExplainer was fitted to embeddings of width {others[0].shape[1]}, and this model has "
                f"{embeddings.shape[1]}; call fit with this model"
            )
        others = [rows for rows in others if len(rows) >= budget]
        if not others:
            raise UnsupportedError(
                f"MatchExplainer has no graph of class {game.target} with {budget} nodes or more; choose fewer with "
                "max_nodes=, or fit it to more graphs"
            )
        nodes, distances = matched(embeddings, others, budget)
        masks = np.zeros((len(nodes), graph.num_nodes), dtype=np.bool_)
        np.put_along_axis(masks, nodes, True, axis=1)
        worths = game.worth(masks)
        best = int(np.lexsort((distances, -worths))[0])
        return Explanation.from_nodes(
            *(nodes[best].tolist(), game, data),
            method=self.title,
            max_nodes=budget,
            masking=game.masking,
            num_queries=game.num_queries + 1,  # the embeddings
            diagnostics={"distance": float(distances[best]), "counterparts": len(others)},
        )


def matched(embeddings: Floats, others: Sequence[Floats], count: int) -> tuple[Integers, Floats]:
    """For each other graph, which ``count`` own nodes match its nodes best, and the sum of their distances.

    Greedy: the nearest pair first, then the nearest of the nodes that are left, of equal ones the earlier.
    """
    nodes = np.empty((len(others), count), dtype=np.int64)
    total = np.zeros(len(others))
    scale = max(1e-30, float(np.abs(embeddings).max()), *(float(np.abs(rows).max()) for rows in others))
    widest = max(map(len, others))
    step = max(1, _DISTANCES_AT_ONCE // (len(embeddings) * widest))
    target = torch.from_numpy(embeddings).double()
    for start in range(0, len(others), step):
        chunk = others[start : start + step]
        distances = torch.full((len(chunk), len(embeddings), widest), torch.inf, dtype=torch.float64)
        for row, rows in enumerate(chunk):
            # Without matrix products, whose cancellation would tell equal embeddings apart.
            apart = torch.cdist(target, torch.from_numpy(rows).double(), compute_mode="donot_use_mm_for_euclid_dist")
            distances[row, :, : len(rows)] = torch.round(apart / (_RESOLUTION * scale)) * (_RESOLUTION * scale)
        graphs = torch.arange(len(chunk))
        for turn in range(count):
            place = distances.flatten(1).argmin(dim=1)
            first_node, second_node = place // widest, place % widest
            nodes[start : start + len(chunk), turn] = first_node.numpy()
            total[start : start + len(chunk)] += distances[graphs, first_node, second_node].numpy()
            distances[graphs, first_node] = torch.inf
            distances[graphs, :, second_node] = torch.inf
    return np.sort(nodes, axis=1), total


def _same(rows: Floats, embeddings: Floats) -> bool:
    """Whether a counterpart is the graph itself, every node of which matches itself and tells nothing."""
    nothing = 1e-5 * float(np.abs(embeddings).max())
    return rows.shape == embeddings.shape and bool(np.allclose(rows, embeddings, rtol=1e-4, atol=nothing))


def _embedded(model: Any, union: Data, count: int) -> tuple[Tensor, Tensor]:
    """Outputs [q, C] of a union of graphs and embeddings of their nodes, in one run of the model."""
    parameter = next(model.parameters(), None) if isinstance(model, torch.nn.Module) else None
    union = union if parameter is None else union.to(parameter.device)
    forward = Forward(model, set(union.keys()))
    with evaluating(model), _recording(model, int(union.num_nodes)) as recorded:
        out = forward(union, count).reshape(count, -1)
    if not recorded:
        raise UnsupportedError(
            "model: no message-passing layer gave a row for each node, and MatchExplainer matches such embeddings; "
            "use a method that needs none, such as mage"
        )
    return out.cpu(), recorded[-1].detach().float().cpu()


@contextmanager
def _recording(model: Any, num_nodes: int) -> Iterator[list[Tensor]]:
    """What ``model.embed`` returns inside its forward, or what its message-passing layers do, the last one last."""
    recorded: list[Tensor] = []

    def keep(out: Any) -> None:
        out = out[0] if isinstance(out, tuple) else out
        if isinstance(out, Tensor) and out.dim() == 2 and out.size(0) == num_nodes:
            recorded.append(out)

    def embed(*arguments: Any, **named: Any) -> Any:
        out = type(model).embed(model, *arguments, **named)
        keep(out)
        return out

    with ExitStack() as undo:
        if isinstance(model, GraphNetwork):
            # In the instance, where forward looks first: a run of its own for the embeddings would cost another query.
            model.__dict__["embed"] = embed
            undo.callback(model.__dict__.pop, "embed")
        elif isinstance(model, torch.nn.Module):
            for layer in model.modules():
                if isinstance(layer, MessagePassing):
                    handle = layer.register_forward_hook(lambda _layer, _inputs, out: keep(out))
                    undo.callback(handle.remove)
        yield recorded
