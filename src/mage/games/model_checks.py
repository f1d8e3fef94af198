"""Checks of a model before coalitions are evaluated: what its outputs are, and whether its graph can be masked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from mage._torch.evaluation import agree
from mage._torch.forward import raised_by_model
from mage._torch.graph_input import GraphInput, positions_among
from mage._torch.masked_model import MaskedModel
from mage._torch.masking import MASKINGS
from mage._torch.node_tables import Block, Table, held_structures, positional_tables

_ROUNDINGS = 1000  # how often an output may be rounded where the same nodes come in another order
_SUM_TOLERANCE = 1e-4  # how far the sum of probabilities may be from 1
_RETURN_TYPES_BY_LAST_STEP = {
    "softmax": "probs",
    "log_softmax": "log_probs",
    "sigmoid": "probs",
    "logsigmoid": "log_probs",
}


class EdgesIgnoredError(ValueError):
    """A model does not take the edges that a masking cuts."""


def cutoff_of(model: Any) -> float | None:
    """The distance up to which a model of molecules joins atoms (``cutoff`` of SchNet and DimeNet), or None."""
    modules = model.modules() if isinstance(model, torch.nn.Module) else ()
    cutoffs = (getattr(module, "cutoff", None) for module in modules)
    return next((float(value) for value in cutoffs if isinstance(value, int | float) and value > 0), None)


def maskable_graph(runner: MaskedModel, graph: GraphInput, targets: Tensor) -> GraphInput:
    """The graph with the model's per-node tables as features; refuses models and graphs that cannot be masked.

    Args:
        runner: The model.
        graph: The input graph.
        targets: The explained node or both ends of the explained link; empty for the whole graph.
    """
    _leave_out_failing_arguments(runner, graph, targets)
    for key, reason in graph.unmaskable.items():
        if runner.forward.uses(key) and (not runner.forward.is_handed_all or _matters(runner, graph, targets, key)):
            raise ValueError(f"data: {key} {reason}")
    graph = _with_tables(runner, graph, targets)
    if runner.typed is None:
        _check_references(runner, graph, targets)
    if runner.masking is MASKINGS["split"]:
        _check_edges_matter(runner, graph, targets)
    for name in runner.forward.optional:
        _check_optional(runner, graph, targets, name)
    return graph


def checked_return_type(last_step: str, answers: Tensor, return_type: str, task: str) -> str:
    """What a model returns; detects where outputs that count as raw scores are probabilities.

    Args:
        last_step: The torch function that made the output.
        answers: Outputs [q, C] on a few graphs.
        return_type: The user's choice; ``"raw"`` by default.
        task: The task in the request.
    """
    if return_type != "raw" or task == "regression":
        return return_type
    columns = answers.size(1)
    if columns > 1:
        rows = answers.double()
        for kind, sums in (("probs", rows.sum(dim=1)), ("log_probs", rows.exp().sum(dim=1))):
            in_range = bool((rows >= 0).all()) if kind == "probs" else bool((rows <= 0).all())
            certain = bool(((rows == 0) | (rows == 1)).all())  # softmax never returns this
            if in_range and not certain and bool(((sums - 1).abs() < _SUM_TOLERANCE).all()):
                return kind
        if _RETURN_TYPES_BY_LAST_STEP.get(last_step) is not None and "sigmoid" in last_step:
            raise ValueError(
                f"task: the model ends in {last_step} over {columns} columns, so these are labels and not classes; "
                f"pass column= with task='binary' and return_type={_RETURN_TYPES_BY_LAST_STEP[last_step]!r}"
            )
    elif task == "binary" and "sigmoid" in last_step:
        return _RETURN_TYPES_BY_LAST_STEP[last_step]
    return return_type


def check_columns(data: Data, answers: Tensor, task: str) -> None:
    """Refuse to read columns as classes where ``data.y`` shows that they are regression targets or labels."""
    truth, columns = data.get("y"), answers.size(1)
    if task != "auto" or columns < 2 or not isinstance(truth, Tensor) or truth.numel() != columns:
        return
    if tuple(truth.shape) not in ((columns,), (1, columns)):
        return
    numbers = truth.flatten().double()
    if not (bool(((numbers == 0) | (numbers == 1)).all()) and float(numbers.sum()) == 1):
        raise ValueError(
            f"task: data.y has a number for each of the model's {columns} columns, so these are not classes; pass "
            "column= to explain one of them (with task='binary' for a label), or task='multiclass'"
        )


def _same(runner: MaskedModel, left: Tensor, right: Tensor) -> bool:
    return left.shape == right.shape and agree(left, right, _ROUNDINGS * runner.resolution(right))


def _matters(runner: MaskedModel, graph: GraphInput, targets: Tensor, key: str) -> bool:
    """Whether the model's output changes, or the model fails, without a value of the graph."""
    full_output = runner.raw(graph, graph.full_mask, targets)
    try:
        return not _same(runner, runner.raw(graph.without(key), graph.full_mask, targets), full_output)
    except Exception as error:  # whatever a model does without it
        return raised_by_model(error)


def _with_tables(runner: MaskedModel, graph: GraphInput, targets: Tensor) -> GraphInput:
    """The graph whose nodes carry their rows of the model's tables."""
    structures = held_structures(runner.networks, graph.num_nodes)
    blocks = [block for block in runner.forward.table_blocks(runner.networks, graph) if block.tables or structures]
    if not blocks:
        return graph
    try:
        full_output = runner.raw(graph, graph.full_mask, targets)
    except Exception as error:
        if raised_by_model(error):
            return graph  # the first run raises the error with an explanation
        raise
    tables = [
        table for block in blocks for table in _tables_of_block(runner, graph, targets, full_output, block, structures)
    ]
    runner.forward.tables = tuple(tables)
    return runner.forward.with_rows(graph, tables)


def _tables_of_block(
    runner: MaskedModel, graph: GraphInput, targets: Tensor, full_output: Tensor, block: Block, structures: list[str]
) -> tuple[Table, ...]:
    """The tables whose rows belong to the nodes of a block: the output stays when both are permuted together."""
    order, tables = block.order, block.tables
    places = positions_among(order, targets)

    def same(tables: Sequence[Table]) -> bool:
        runner.forward.tables = tuple(tables)
        try:
            moved = runner.forward.with_rows(graph, tables).restricted_to(order)
            return _same(runner, runner.raw(moved, graph.full_mask, places), full_output)
        except Exception as error:
            if raised_by_model(error):
                return False
            raise
        finally:
            runner.forward.tables = ()

    positional, movable = positional_tables(tables, same)
    if not movable and structures:
        raise ValueError(
            f"model: it carries a graph inside ({structures[0]}), which is not cut with the nodes of data; let it take "
            "edge_index as an argument"
        )
    embeddings = [table.name for table in tables if isinstance(table.owner, torch.nn.Embedding)]
    if not movable and embeddings:
        raise ValueError(
            f"model: {embeddings[0]} has a row per node, but its rows do not go with the nodes alone; look it up by "
            "a feature of the nodes, such as data.n_id = torch.arange(data.num_nodes)"
        )
    return positional


def _check_references(runner: MaskedModel, graph: GraphInput, targets: Tensor) -> None:
    """Refuse values that hold node numbers (a root, parents): masking renumbers or removes nodes, but not the values.

    Whether a value holds node numbers is tested by a permutation of the nodes: the output then stays the same only if
    the numbers in the value are permuted too.
    """
    keys = [key for key in graph.possible_references if runner.forward.uses(key)]
    if runner.masking is MASKINGS["split"]:
        # All nodes keep their numbers, so graph-level values stay valid. Values of nodes and edges would be cut.
        keys = [key for key in keys if key not in graph.graph]
    elif not runner.removes:
        return
    if not keys:
        return
    order = torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(0)).to(graph.device)
    position = torch.empty_like(order)
    position[order] = torch.arange(len(order), device=order.device)
    places = positions_among(order, targets)

    def same(shuffled: GraphInput) -> bool:
        try:
            return _same(runner, runner.raw(shuffled, graph.full_mask, places), full_output)
        except Exception as error:
            if raised_by_model(error):
                return False
            raise

    try:
        full_output = runner.raw(graph, graph.full_mask, targets)
    except Exception as error:
        if raised_by_model(error):
            return  # the first run raises the error with an explanation
        raise
    shuffled = graph.restricted_to(order)
    if same(shuffled):
        return
    for key in keys:
        if same(shuffled.pointing_by(key, position)):
            raise ValueError(
                f"data: {key} holds numbers of nodes, which change when nodes are masked; give it a name with 'index' "
                "in it, as PyG does, so that it is cut with the nodes, or mark the nodes with a mask"
            )


def _check_edges_matter(runner: MaskedModel, graph: GraphInput, targets: Tensor) -> None:
    """Refuse a masking that cuts edges where the model ignores the edges."""
    if not graph.all_edges.numel() or not (runner.forward.is_handed_all or not runner.forward.uses("edge_index")):
        return
    if not runner.forward.is_handed_all and any(runner.forward.uses(name) for name in graph.structures):
        return
    no_nodes = torch.zeros(graph.num_nodes, dtype=torch.bool, device=graph.device)
    try:
        full_output = runner.raw(graph, graph.full_mask, targets)
        without = runner.raw(graph.blanked(no_nodes, edges=False), graph.full_mask, targets)
    except Exception as error:
        if raised_by_model(error):
            return  # the first run raises the error with an explanation
        raise
    if _same(runner, without, full_output):
        raise EdgesIgnoredError(
            "masking='split' cuts edges, and the model's answer is the same without any (does it make its own, from "
            "positions?); use masking='remove'"
        )


def _leave_out_failing_arguments(runner: MaskedModel, graph: GraphInput, targets: Tensor) -> None:
    """Leave out optional arguments that a model fails with: it was built without them, such as without ``edge_dim``."""

    def runs(without: Sequence[str]) -> bool:
        runner.forward.left_out = tuple(without)
        try:
            runner.raw(graph, graph.full_mask, targets)
        except Exception as error:
            if raised_by_model(error):
                return False
            raise
        return True

    optional = list(runner.forward.optional)
    if not optional or runs(()):
        return
    for names in [*([name] for name in optional), optional]:
        if runs(names):
            runner.forward.optional = [name for name in optional if name not in names]
            if "batch" in names:
                runner.forward.takes_batch, runner.one_by_one = False, runner.level == "graph"
            return
    runner.forward.left_out = ()


def _check_optional(runner: MaskedModel, graph: GraphInput, targets: Tensor, name: str) -> None:
    """Refuse an optional argument that changes the output: the user must say whether the model gets it."""
    try:
        full_output = runner.raw(graph, graph.full_mask, targets)
        without = runner.raw(graph, graph.full_mask, targets, name)
    except Exception as error:
        if raised_by_model(error):
            return  # the first run raises the error with an explanation
        raise
    if not _same(runner, without, full_output):
        names = runner.forward.names
        less = tuple(argument for argument in names if argument != name)
        raise ValueError(
            f"inputs: the model can do with or without {name}, which data has, and its answers differ; pass "
            f"inputs={names} or inputs={less}, as it was trained"
        )
