"""What the features of nodes add to an output: games whose players are columns, or single numbers, of ``x``."""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import Tensor

from mage._core.typing import Floats, Integers, Masks
from mage._torch.graph_input import GraphInput
from mage._torch.masked_model import bytes_per_copy
from mage._torch.masking import MaskedBatch, MaskingFunction, with_features_of_copies
from mage.games import Game
from mage.games.model_game import ModelGame
from mage.indices import IndexRequest, compute_interactions

_EXACT = 10  # players whose coalitions are all asked for
_QUERIES = 2000  # coalitions for more of them
_MOST_ENTRIES = 512  # single numbers that play; above, a column of all chosen nodes is one player
_LEAST_ORDERINGS = 4


def column_scores(game: ModelGame, seed: int) -> Floats:
    """The Shapley value of each column of ``x``, [f]; an absent column is zero at all nodes."""
    nodes, width = _features(game).shape
    return _shapley(game, np.tile(np.arange(width), (nodes, 1)), seed)


def entry_scores(game: ModelGame, nodes: Integers, seed: int) -> Floats:
    """The Shapley value of each number of ``x`` at some nodes, [k, f]; an absent one is zero, all others stay.

    Numbers that are zero anyway add nothing, and are not asked for. Of more than 512, whole columns play, and what a
    column adds is divided evenly among its numbers that are not zero.

    Args:
        game: The game of the output.
        nodes: Nodes of the input graph, all of them in play.
        seed: Seed of the orderings.
    """
    features = _features(game)
    place = {int(node): row for row, node in enumerate(game.participants.nodes.tolist())}
    rows = [place[int(node)] for node in nodes]
    plays = (features[rows] != 0).cpu().numpy()
    if not plays.any():
        return np.zeros(plays.shape)
    numbers = np.cumsum(plays).reshape(plays.shape) - 1
    if plays.sum() > _MOST_ENTRIES:
        numbers = np.broadcast_to(np.cumsum(plays.any(axis=0)) - 1, plays.shape)
    labels = np.full(features.shape, -1, dtype=np.int64)
    labels[rows] = np.where(plays, numbers, -1)
    values = _shapley(game, labels, seed) / np.bincount(numbers[plays])
    return np.where(plays, values[numbers.clip(min=0)], 0.0)


def _features(game: ModelGame) -> Tensor:
    features = game.participants.graph.node.get("x")
    if features is None or not features.is_floating_point() or features.dim() != 2:
        kind = "missing" if features is None else f"{features.dtype} {list(features.shape)}"
        raise ValueError(
            f"node_mask_type: features can only be masked where x is a table of real numbers, and it is {kind}; use "
            "node_mask_type='object'"
        )
    return features


def _shapley(game: ModelGame, labels: Integers, seed: int) -> Floats:
    """Shapley values of players that are sets of numbers of ``x``: a label for each [n, f], below 0 for no player."""
    count, (nodes, width) = int(labels.max()) + 1, labels.shape
    participants, features = game.participants, _features(game)
    player = torch.from_numpy(np.where(labels < 0, count, labels)).to(features.device)
    runner = copy.copy(game.runner)
    runner.removes = False

    def value(masks: Masks) -> Floats:
        present = torch.from_numpy(np.pad(masks, ((0, 0), (0, 1)), constant_values=True)).to(features.device)
        everyone = torch.ones(len(masks), nodes, dtype=torch.bool, device=features.device)
        parts = []
        with runner.evaluating():
            for portion in torch.split(torch.arange(len(masks)), runner.portions(everyone)):
                shown = present[portion][:, player]
                runner.masking = _masking_by(torch.where(shown, features, torch.zeros_like(features)))
                outputs = runner.outputs(participants.graph, everyone[portion], participants.target_rows)
                parts.append(game.readout(outputs))
        values: Floats = torch.cat(parts).cpu().numpy()
        return values

    columns = Game(
        value,
        count,
        bytes_per_coalition=bytes_per_copy(game.model, participants.graph) + 16 * nodes * width,
        memory_cap=game.request.memory_cap,
    )
    if count <= _EXACT:
        request = IndexRequest("shapley", method="exact")
    else:
        orderings = max(_LEAST_ORDERINGS, _QUERIES // count)
        request = IndexRequest("shapley", method="permutation", permutations=orderings, seed=seed)
    values = compute_interactions(columns, request, progress=False).values
    return np.where(np.abs(values) > game.rounding, values, 0.0)


def _masking_by(features: Tensor) -> MaskingFunction:
    """All nodes and edges, with features for each copy [q, n, f]."""

    def masking(graph: GraphInput, masks: Tensor) -> MaskedBatch:
        del masks  # all nodes are present
        return with_features_of_copies(graph, features)

    return masking
