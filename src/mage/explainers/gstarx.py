"""GStarX: nodes by their Hamiache-Navarro value, which shares surplus among neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.checks import checked_instance, checked_list, checked_number, checked_whole
from mage._core.typing import Floats, Masks
from mage.explainers._selection import best_nodes, dataset_class
from mage.explainers.protocol import Explainer, UnsupportedError
from mage.explainers.request import ExplainRequest
from mage.explanation import Explanation
from mage.games import Game, ModelGame
from mage.graph import PlayerGraph

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mage.datasets import GraphDataset

_MOST_PLAYERS = 16
_ROWS_AT_ONCE = 1 << 15
_GRAPHS_AT_ONCE = 256


class GStarX(Explainer):
    """The nodes with the highest Hamiache-Navarro values, averaged over random small groups of nodes.

    Reference: Zhang, Liu, Shah & Sun, GStarX: Explaining Graph Neural Networks with Structure-Aware Cooperative Games,
    NeurIPS 2022.

    A coalition is worth the probability of the class minus the mean probability π of that class, which :meth:`fit`
    measures on the training part of a dataset. Graphs of at most ``group_size`` nodes are scored exactly. In larger
    ones, groups of ``group_size`` random nodes are drawn until there are ``num_groups`` and every node was drawn; a
    node's score is the mean of its values in the graphs induced by the groups it is in. The M best nodes explain.

    Against the released code: the value is the limit itself (see :func:`hamiache_navarro`), where the code stops after
    128 steps of τ = 0.01, far from it; so there is no τ here. Only connected coalitions are evaluated, since others
    have no weight, each once, so there are far fewer queries than 1023 a group. A coalition is masked within the whole
    graph, not within its group, which under "remove" is the same. Nodes keep their numbers in a group (some versions
    mix them up), π comes from training and not from test graphs, and a graph of ``group_size`` nodes is scored once.

    Complexity: O(c k²) for each connected part of a group, with k nodes and c ≤ 2^k − 1 connected coalitions, besides
    the queries, which go in a few large batches.

    Args:
        group_size: Nodes in a group.
        num_groups: Least number of groups; None takes as many as the graph has nodes.
        prior: π of each class, where there is no dataset to :meth:`fit` to.
    """

    title = "GStarX"
    needs_training = True

    def __init__(
        self, group_size: int = 10, num_groups: int | None = None, prior: Sequence[float] | None = None
    ) -> None:
        if checked_whole("group_size", group_size) > _MOST_PLAYERS:
            raise ValueError(f"group_size must be at most {_MOST_PLAYERS}, got {group_size}")
        self.group_size = checked_whole("group_size", group_size)
        self.num_groups = None if num_groups is None else checked_whole("num_groups", num_groups)
        shares = None if prior is None else checked_list("prior", prior, "a share for each class")
        self.prior = None if shares is None else [checked_number("prior", share) for share in shares]

    def fit(self, model: Any, dataset: GraphDataset, seed: int = 0) -> None:
        """Measure the mean predicted probability of each class on the training graphs."""
        checked_instance("dataset", dataset, dataset_class(), "a dataset, as mage.datasets.load returns it")
        del seed  # nothing is random
        import torch

        from mage._torch.evaluation import evaluating
        from mage._torch.forward import Forward

        total, count = torch.zeros(()), 0
        with evaluating(model):
            for batch in dataset.batches(dataset.split.train, _GRAPHS_AT_ONCE):
                out = Forward(model, set(batch.keys()))(batch, batch.num_graphs)
                if out.dim() < 2 or out.size(1) == 1:
                    out = torch.stack([torch.zeros_like(out.flatten()), out.flatten()], dim=1)  # as sigmoid does
                total = total + torch.softmax(out, dim=1).double().sum(dim=0).cpu()
                count += len(out)
        self.prior = (total / count).tolist()

    def scores(self, game: Game, seed: int = 0, prior: float | None = None) -> Floats:
        """Score of each player, in any game on a graph.

        Args:
            game: The game.
            seed: Seed of the groups.
            prior: What is taken off the value of every non-empty coalition; by default the value of the empty one.
        """
        shift = 0.0 if prior is None else game.baseline - prior
        groups = self._groups(game.num_players, np.random.default_rng(seed))
        # The value of a group is that of its connected parts, and the same part comes in many groups.
        parts: Counter[tuple[int, ...]] = Counter()
        for labels in game.graph.component_labels(groups):
            parts.update(tuple(np.flatnonzero(labels == rank).tolist()) for rank in range(labels.max() + 1))
        sums = np.zeros(game.num_players)
        for part, values in _values_of_parts(game, list(parts), shift):
            sums[list(part)] += parts[part] * values
        return np.asarray(sums / groups.sum(axis=0))

    def search(self, game: Game, max_nodes: int, seed: int = 0, prior: float | None = None) -> tuple[int, ...]:
        """The ``max_nodes`` best players, in any game on a graph; see :meth:`scores`."""
        return tuple(best_nodes(self.scores(game, seed, prior), max_nodes))

    def compute(self, model: Any, data: Data, request: ExplainRequest) -> Explanation:
        """Explain one graph."""
        if self.prior is None:
            raise UnsupportedError(
                "GStarX compares with the mean probability of the class: call fit with a dataset, or give prior="
            )
        budget = request.motifs.max_nodes_of(int(data.num_nodes))
        game = ModelGame(model, data, request.graph.with_usual(masking="remove"), output="probability")
        if game.target is None:
            raise UnsupportedError("GStarX explains the probability of a class, and a regression has none")
        if game.target >= len(self.prior):
            raise UnsupportedError(
                f"prior: it is known for {len(self.prior)} classes, but class {game.target} is explained"
            )
        scores = self.scores(game, request.seed, self.prior[game.target])
        return Explanation.from_nodes(
            *(best_nodes(scores, budget), game, data),
            method=self.title,
            max_nodes=budget,
            node_scores=scores,
            masking=game.masking,
            diagnostics={"prior": self.prior[game.target]},
        )

    def _groups(self, size: int, generator: np.random.Generator) -> Masks:
        """Random groups of players as booleans, or all players if they are few."""
        if size <= self.group_size:
            return np.ones((1, size), dtype=np.bool_)
        groups: list[Masks] = []
        missing = np.ones(size, dtype=np.bool_)
        while len(groups) < (self.num_groups or size) or missing.any():
            groups.append(np.zeros(size, dtype=np.bool_))
            groups[-1][generator.choice(size, self.group_size, replace=False)] = True
            missing &= ~groups[-1]
        return np.array(groups)


def hamiache_navarro(game: Game) -> Floats:
    """The Hamiache-Navarro value of each player of a game on a small graph, exactly.

    The associated game of f on a graph is f*(S) = f(S) + τ Σ_j [f(S ∪ j) − f(S) − f(j)] over the neighbours j of S for
    connected S, and the sum over the components of S otherwise. Repeated for ever, for any small τ > 0, it tends to an
    additive game; its worths of single players are the value. The value is efficient in each component, and the same
    for f and f* (associated consistency).

    Reference: Hamiache & Navarro, Associated consistency, value and graphs, International Journal of Game Theory 2020.
    """
    values = np.zeros(game.num_players)
    for part, values_of_part in _values_of_parts(game, [tuple(part) for part in game.graph.components()], 0.0):
        values[list(part)] = values_of_part
    return values


def hamiache_navarro_weights(graph: PlayerGraph) -> tuple[Masks, Floats]:
    """What each connected coalition of a connected graph contributes to each player's value.

    The limit of f ↦ f* keeps L f, where the rows of L are left eigenvectors: L A = 0 for A = (f ↦ f*  − f) / τ, which
    does not depend on τ, and L is the identity on additive games. Read column by column, L A = 0 says that a coalition
    S of two or more, but not all, players has L[S] = Σ L[S − j] / |N(S)| over the j whose loss leaves it connected. So
    all of L follows from its columns of single players and of everybody, and these from k + 1 unknowns a player.

    Returns:
        The c connected coalitions as booleans [c, k], and their weights [k, c].
    """
    size = graph.num_players
    if size > _MOST_PLAYERS:
        raise ValueError(f"graph: a connected part has {size} players; all its coalitions are for {_MOST_PLAYERS}")
    coalitions = np.concatenate(list(graph.connected_coalitions()))
    sizes = coalitions.sum(axis=1)
    coalitions = coalitions[np.argsort(sizes, kind="stable")]
    sizes = np.sort(sizes)
    count = len(coalitions)
    if size == 1:
        return coalitions, np.ones((1, 1))
    near = graph.neighbours(coalitions)
    powers = 1 << np.arange(size)
    codes = coalitions @ powers
    position = np.full(1 << size, count)
    position[codes] = np.arange(count)
    smaller = np.where(coalitions, position[codes[:, None] & ~powers], count)
    # L[S] in terms of the unknowns; one more row, of zeros, stands for coalitions that are not connected.
    terms = np.zeros((count + 1, size + 1))
    terms[np.arange(size), coalitions[:size].argmax(axis=1)] = 1
    for rank in range(2, size):
        layer = slice(*np.searchsorted(sizes, [rank, rank + 1]))
        for player in range(size):
            terms[layer] += terms[smaller[layer, player]]
        terms[layer] /= near[layer].sum(axis=1, keepdims=True)
    terms[count - 1, size] = 1
    degrees = np.diag(graph.adjacency.sum(axis=1).astype(np.float64))
    alone = near.T @ terms[:count] + np.pad(degrees, ((0, 0), (0, 1)))
    grand_coalition = terms[smaller[-1]].sum(axis=0, keepdims=True)
    additive = coalitions.T @ terms[:count]
    right = np.concatenate([np.zeros((size + 1, size)), np.eye(size)])
    unknowns = np.linalg.lstsq(np.concatenate([alone, grand_coalition, additive]), right)[0]
    return coalitions, (terms[:count] @ unknowns).T


def _values_of_parts(
    game: Game, parts: Sequence[tuple[int, ...]], shift: float
) -> Iterator[tuple[tuple[int, ...], Floats]]:
    """Hamiache-Navarro values in the graphs induced by connected parts; worths are evaluated in large batches."""
    adjacency = game.graph.adjacency
    waiting: list[tuple[tuple[int, ...], Floats]] = []
    blocks: list[Masks] = []
    rows = 0
    for number, part in enumerate(parts):
        inner = PlayerGraph(len(part), np.argwhere(adjacency[np.ix_(part, part)]))
        coalitions, weights = hamiache_navarro_weights(inner)
        masks = np.zeros((len(coalitions), game.num_players), dtype=np.bool_)
        masks[:, list(part)] = coalitions
        waiting.append((part, weights))
        blocks.append(masks)
        rows += len(masks)
        if rows >= _ROWS_AT_ONCE or number == len(parts) - 1:
            worths = np.split(game.worth(np.concatenate(blocks)) + shift, np.cumsum([len(m) for m in blocks[:-1]]))
            for (ready, mixed), worth in zip(waiting, worths, strict=True):
                yield ready, mixed @ worth
            waiting, blocks, rows = [], [], 0
