"""A model on masked copies of a graph, many copies in one call."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from mage._torch.evaluation import agree, evaluating, exclusively, networks_behind, resolution_of
from mage._torch.forward import CallChoice, Forward, raised_by_model
from mage._torch.graph_input import GraphInput
from mage._torch.masking import (
    CUTTING_EDGES,
    MASKINGS,
    REPLACING_FEATURES,
    MaskedBatch,
    MaskingFunction,
    masking_named,
    note_parts,
)
from mage._torch.randomness import random_states
from mage._torch.signatures import unwrapped
from mage._torch.ties import selections, tied_graphs
from mage._torch.typed_forward import TypedForward
from mage._torch.typed_graph import TypedGraph

_UNSTABLE = frozenset({"EdgePooling"})  # layers that sort edges of all graphs together, ties as they come
_REPEATS = 8  # how often a model that draws random numbers is asked the same
_DIFFERENT = (
    "model: it answers the same question differently each time: some dropout or noise does not follow model.eval() "
    "(functional.dropout needs training=self.training); switch it off, or seed it in forward="
)
_BATCH_ROUNDINGS = 8000  # how often an output may be rounded where a batch of another size takes other kernels


class MaskedModel:
    """Runs a model on coalitions of nodes and returns a row of outputs for each.

    Args:
        model: A PyG model or any callable.
        graph: The input graph, for the names of its tensors.
        masking: What the absence of a node means: a name, or the user's own function.
        level: ``"graph"``, ``"node"`` or ``"edge"``: what the outputs are of.
        call: ``call(model, data)`` for models that need a special call.
        choice: Which part of the answer is explained, and what the model is given.
        typed: The graph with its types, where it has types; ``graph`` is then what is left of it without them.
        ends: Types of the target node, or of both ends of the link.

    Attributes:
        num_runs: Graphs the model has been run on.
        one_by_one: Whether each graph needs a call of its own.
        ranks_nodes: Whether it was seen to put nodes in order without knowing which graphs they are of.
        is_coupled: Whether graphs of a batch were seen to influence each other.
        selections: Layers that keep the best nodes; which ones, may be a matter of their order and of rounding.
        removes: Whether absent nodes are gone; an empty coalition then leaves no graph.
        rows_at_once: Rows of node features in one call at most, so that activations stay in the processor's cache.
    """

    def __init__(
        self,
        model: Any,
        graph: GraphInput,
        masking: str | Callable[..., Any],
        level: str,
        call: Callable[[Any, Data], Any] | None = None,
        choice: CallChoice | None = None,
        typed: TypedGraph | None = None,
        ends: Sequence[str] = (),
    ) -> None:
        self.model = unwrapped(model)
        self.level = level
        self.typed = typed
        fill = "mean" if typed is not None and masking == "mean" else "zero"
        # TypedForward replaces the features of absent nodes by the mean, since it assembles the typed tensors.
        self.masking = masking_named("zero" if fill == "mean" else masking)
        if typed is not None and self.masking not in CUTTING_EDGES | REPLACING_FEATURES:
            known = [name for name, function in MASKINGS.items() if function in CUTTING_EDGES | REPLACING_FEATURES]
            raise ValueError(f"masking must be one of {', '.join(known)} for a graph with types of nodes")
        self.removes = self.masking is MASKINGS["remove"]
        if isinstance(masking, str) and masking in ("zero", "mean"):
            # Whether there are features to replace shows on one node.
            first_node = torch.zeros(1, dtype=torch.long, device=graph.device)
            self.masking(graph.restricted_to(first_node), torch.zeros(1, 1, dtype=torch.bool, device=graph.device))
        if typed is not None:
            self.forward: Forward = TypedForward(model, typed, level, ends, fill, call, choice)
        else:
            names = {*graph.node, *graph.edge, *graph.graph} | ({"edge_label_index"} if level == "edge" else set())
            names |= {key for structure in graph.structures.values() for key in structure.attributes if key}
            self.forward = Forward(model, names | set(graph.structures), call, choice)
            self.forward.matrix = graph.from_matrix
        # Searched once: the closure and globals of a function may be large.
        self.networks = [*networks_behind(self.model), *networks_behind(call)]
        self.forward.networks = self.networks
        self.selections = selections(self.networks)
        self.one_by_one = not self.forward.takes_batch and level == "graph"
        self.rows_at_once = max(4096, min(16384, 16384 * 32 // widest_layer(model)))
        self.ranks_nodes = False
        self.is_coupled = False
        self._is_finite = False
        self.num_runs = 0

    def evaluating(self) -> contextlib.AbstractContextManager[None]:
        """Evaluation mode for all networks behind the model."""
        return evaluating(*self.networks)

    def exclusively(self) -> contextlib.AbstractContextManager[None]:
        """Keep other threads from evaluating the networks behind the model during the block."""
        return exclusively(*self.networks)

    def outputs(self, graph: GraphInput, masks: Tensor, targets: Tensor, without: str | None = None) -> Tensor:
        """Rows [q, C], one for each coalition of nodes; call it inside :meth:`evaluating`.

        Args:
            graph: The graph that is masked.
            masks: Nodes that are present [q, n].
            targets: Rows of the target node, or of both ends of the link; empty for the whole graph.
            without: An optional argument that the model is not given.
        """
        try:
            return self._of_masks(graph, masks, targets, without)
        except Exception as error:
            if bool(masks.all()) or not raised_by_model(error):
                raise
            if self.one_by_one or bool(masks[0].all()):
                raise self._part_error(error) from error
        # Some layers fail where the first node has no edges (medians over neighbours): a whole copy goes before it.
        try:
            return self._of_masks(graph, torch.cat([torch.ones_like(masks[:1]), masks]), targets, without)[1:]
        except Exception as error:
            if raised_by_model(error):
                raise self._part_error(error) from error
            raise

    def _of_masks(self, graph: GraphInput, masks: Tensor, targets: Tensor, without: str | None) -> Tensor:
        """Rows [q, C]; graphs in which a pool chooses between equal nodes are run alone."""
        with tied_graphs([] if len(masks) == 1 else self.selections) as tied:
            out = self.outputs_of(_masked(self.masking, graph, masks), graph, len(masks), targets, without)
        for row in sorted(tied):
            mask = masks[row : row + 1]
            out[row] = self.outputs_of(_masked(self.masking, graph, mask), graph, 1, targets, without)[0]
        return out

    def _part_error(self, error: Exception) -> ValueError:
        """The error for a model that runs on the whole graph only."""
        name = getattr(self.masking, "__name__", "custom")
        hints = {"remove": "; masking='split' keeps all nodes", "split": "; masking='zero' keeps all edges"}
        return ValueError(
            f"model: it runs on the whole graph, but not on a part of it (masking={name!r}): "
            f"{type(error).__name__}: {_first_line(error)}{hints.get(name, '')}"
        )

    def outputs_of(
        self, batch: MaskedBatch, graph: GraphInput, count: int, targets: Tensor, without: str | None = None
    ) -> Tensor:
        """Rows [q, C], one for each of ``count`` copies of a graph, masked in whatever way; see :meth:`outputs`."""
        data, place = batch
        if self.level == "edge":
            data.edge_label_index = place[:, targets].T.contiguous()
        if self.forward.is_handed_all and self.typed is None:
            note_parts(data, graph, count)
        self.num_runs += count
        out = self.forward(data, count, without)
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
            return out[place[:, targets[0]]]
        if out.size(0) != count:
            per_node = out.size(0) == data.num_nodes
            hint = "one row per node; pass node= to explain a node" if per_node else f"{out.size(0)} rows"
            if self.level == "edge":
                hint += ": edge= needs a model that takes edge_label_index or has encode and decode, or forward="
            raise ValueError(f"model must return one row for each of {count} graphs, got {hint}")
        return out

    def raw(self, graph: GraphInput, masks: Tensor, targets: Tensor, without: str | None = None) -> Tensor:
        """:meth:`outputs` in evaluation mode."""
        with self.evaluating():
            return self.outputs(graph, masks, targets, without)

    def portions(self, masks: Tensor) -> list[int]:
        """How many coalitions go into each call, so that a call's activations stay in the processor's cache."""
        if self.one_by_one:
            return [1] * len(masks)
        sizes = masks.sum(dim=1) if self.removes else torch.full((len(masks),), masks.size(1))
        portion = torch.cumsum(sizes.cpu(), dim=0) // self.rows_at_once
        return torch.bincount(torch.unique_consecutive(portion, return_inverse=True)[1]).tolist()

    def check_batches(self, graph: GraphInput, free: Tensor, targets: Tensor, full_output: Tensor) -> Tensor:
        """Find out whether graphs of a batch influence each other; then, or without batches, coalitions run one by one.

        Args:
            graph: The graph that will be masked.
            free: Nodes that may be absent [n].
            targets: Rows of the targets.
            full_output: The model's output with all nodes [1, C].

        Returns:
            The model's outputs with all nodes, and with each half of the free nodes [3, C].
        """
        # If the graphs of a batch share something (a maximum, selected nodes), one of the halves does not have it.
        masks = torch.ones(3, graph.num_nodes, dtype=torch.bool, device=graph.device)
        masks[1, graph.half_of(free)] = False
        masks[2] = ~free | ~masks[1]
        masks[2] |= ~masks[2].any()  # a single node has no halves
        with self.evaluating():
            halves, states = [], []
            for mask in masks[1:]:
                halves.append(self.outputs(graph, mask[None], targets))
                states.append(random_states())
            if states[0] != states[1]:
                self._check_draws(graph, masks[1:2], targets, halves[0])
        outputs = [full_output, *halves]
        widths = [answer.size(1) for answer in outputs]
        if len(set(widths)) > 1:
            raise ValueError(
                f"model: it returns {widths[0]} columns for the whole graph and {min(widths)} to {max(widths)} for "
                "parts of it; the columns must be the same for all graphs"
            )
        separate = torch.cat(outputs)
        self._is_finite = bool(separate.isfinite().all())
        order_matters = [type(layer).__name__ for network in self.networks for layer in network.modules()]
        cause = ""
        if not self.one_by_one:
            self.is_coupled = False
            try:
                same = self.alike(self.raw(graph, masks, targets), separate)
                cause = "its output for a graph depends on the rest of the batch (a normalisation without batch=?)"
            except (ValueError, RuntimeError, IndexError, TypeError) as error:
                same, cause = False, f"it fails on a batch of several graphs ({_first_line(error)})"
            else:
                # Who is chosen among all nodes may be the same by chance.
                same = same and not self.ranks_nodes
                self.is_coupled = not same
            chosen_among_all = bool(self.selections) and not self.forward.takes_batch
            if same and not chosen_among_all and not _UNSTABLE.intersection(order_matters):
                return separate
        with self.evaluating():
            # Two runs in a row, so that the second one draws other random numbers.
            self.outputs(graph, masks[1:2], targets)
            second_run = self.outputs(graph, masks[1:2], targets)
        if not self.alike(second_run, separate[1:2]):
            raise ValueError(_DIFFERENT)
        if not self.one_by_one:
            self.one_by_one = True
            unstable = sorted(_UNSTABLE.intersection(order_matters))
            cause = f"{', '.join(unstable)} breaks ties by the order in a batch" if unstable else cause
            warnings.warn(
                f"coalitions are evaluated one by one, which is slow, because of the model: {cause}",
                stacklevel=5,
            )
        return separate

    def _check_draws(self, graph: GraphInput, mask: Tensor, targets: Tensor, first: Tensor) -> None:
        """Refuse a model whose answers depend on the random numbers that it draws, however little."""
        if any(not agree(self.outputs(graph, mask, targets), first, 0.0) for _ in range(_REPEATS)):
            raise ValueError(_DIFFERENT)
        warnings.warn(
            "model: it draws random numbers in evaluation mode; its answers were the same each time it was tried, but "
            "where they are not, neither are the worths",
            stacklevel=6,
        )

    def resolution(self, outputs: Tensor) -> float:
        """The rounding unit of outputs: that of the coarsest numbers among them and the weights."""
        return resolution_of(outputs, self.networks)

    def alike(self, outputs: Tensor, expected: Tensor) -> bool:
        """Whether outputs are the same but for rounding in batches of other sizes."""
        return agree(outputs, expected, _BATCH_ROUNDINGS * self.resolution(expected))

    def absent_output(self, graph: GraphInput, targets: Tensor) -> Tensor:
        """The output [1, C] of the empty graph, or of a graph without its target."""
        masks = torch.zeros(1, graph.num_nodes, dtype=torch.bool, device=graph.device)
        if not self.removes:
            return self.outputs(graph, masks, targets)
        if not len(targets):
            with contextlib.suppress(ValueError, RuntimeError, IndexError, TypeError, ZeroDivisionError):
                # The empty graph goes first, so that pooling still sees two graphs and gives it a row of its own.
                copies = masks if self.one_by_one else torch.cat([masks, ~masks])
                empty = self.outputs(graph, copies, targets)[:1]
                if math.isfinite(float(empty.sum())):
                    return empty
            if not self.one_by_one:
                warnings.warn(
                    "baseline: the model has no finite output for an empty graph (a median, a quantile, a loop over "
                    "graphs?), so one node without edges and features stands for it; pass baseline= to choose, or "
                    "masking='split'",
                    stacklevel=5,
                )
        # Without its target a node-level model has no output; the target alone, with blank features, comes nearest.
        masks[:, targets if len(targets) else 0] = True
        all_nodes = torch.arange(graph.num_nodes, device=graph.device)
        target_output = self.outputs(graph.blanked(all_nodes, edges=False), masks, targets)
        if self._is_finite and not bool(target_output.isfinite().all()):
            where = "without its target" if len(targets) else "for an empty graph"
            raise ValueError(
                f"baseline: the model has no finite output {where}; pass baseline= to choose one, or masking='split'"
            )
        return target_output


def _masked(masking: MaskingFunction, graph: GraphInput, masks: Tensor) -> MaskedBatch:
    """The masked copies of a graph; the result of a user's own masking is checked."""
    try:
        batch: Any = masking(graph, masks)
    except Exception as error:
        if masking in MASKINGS.values():
            raise
        raise ValueError(f"masking: the function fails: {type(error).__name__}: {_first_line(error)}") from error
    if not isinstance(batch, tuple) or len(batch) != 2 or not isinstance(batch[0], Data):
        raise TypeError(f"masking must return a MaskedBatch(data, place), got {type(batch).__name__}")
    missing = next((name for name in graph.structures if name not in batch[0]), None)
    if missing is not None:
        raise ValueError(f"masking: data.{missing} must be cut too; mage._torch.masking.add_structures does it")
    return MaskedBatch(*batch)


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


def bytes_per_copy(model: Any, graph: GraphInput) -> int:
    """Roughly what one masked copy takes inside the model: a few float rows of its widest layer per node and edge."""
    return 16 * widest_layer(model) * (graph.num_nodes + graph.edge_index.size(1)) + 1024


def widest_layer(model: Any) -> int:
    """Width of the widest layer; 64 where the model shows no layers."""
    matrices = [p for p in model.parameters() if p.dim() == 2] if isinstance(model, torch.nn.Module) else []
    return min(max((max(matrix.shape) for matrix in matrices), default=64), 4096)


def check_device(model: Any, data: Any) -> None:
    """Refuse a model and a graph on different devices."""
    tensors: list[Tensor] = list(model.parameters()) if isinstance(model, torch.nn.Module) else []
    stores = data.stores if isinstance(data, Data | HeteroData) else []
    tensors += [value for store in stores for value in store.values() if isinstance(value, Tensor)]
    places = {tensor.device for tensor in tensors}
    if len(places) > 1:
        where = ", ".join(sorted(map(str, places)))
        raise ValueError(f"data and model are on different devices ({where}); move one with .to(device)")
