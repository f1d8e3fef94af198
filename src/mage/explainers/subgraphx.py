"""SubgraphX: Monte-Carlo tree search for the connected subgraph with the highest Shapley value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mage._core.checks import checked_whole
from mage._core.typing import Masks
from mage.explainers._tree_search import SearchResult, TreeSearchExplainer, by_degree, ranked
from mage.games import Game, ModelGame
from mage.graph import PlayerGraph


class SubgraphX(TreeSearchExplainer):
    """The connected subgraph whose nodes, taken as one player, have the highest Shapley value for the probability.

    Reference: Yuan, Yu, Wang, Li & Ji, On Explainability of Graph Neural Networks via Subgraph Explorations, ICML 2021.

    The search begins with the whole graph; a step deletes one node and keeps the largest connected part. The reward of
    a subgraph is the Shapley value of :class:`~mage.explainers._tree_search.LocalShapley`. The answer is the best of
    all scored subgraphs that fit into M nodes. Always explains the probability of the class, as the paper does; one
    connected piece at most; ``num_motifs`` has no effect. For the output of a node, the search begins with all nodes
    that it can depend on, never deletes the node itself, and keeps the part that it is in, as the original code does.

    Against the released code: rewards of exactly 0 count as computed; a search goes on below ``min_nodes`` where M is
    smaller, so that the answer never exceeds M; the whole graph is a candidate, with its true reward, where it fits;
    coalitions that occur twice are evaluated once, so there are fewer queries than 2T per subgraph. On a disconnected
    graph only parts that are the largest at some step are reached.

    Complexity: at most rollouts · n · ``max_children`` subgraphs, with 2T queries each, a batch for each expansion.

    Args:
        rollouts: Rollouts of the search.
        min_nodes: N_min: subgraphs this small are not cut further.
        exploration: λ, the weight of exploration.
        max_children: How many nodes of a subgraph to try deleting.
        high_degree_first: Whether these are the nodes of the highest degree in the subgraph, or of the lowest.
        samples: T, orderings for a reward; None takes all coalitions around a subgraph, for small graphs.
        hops: L, how far players may be from the subgraph. (The released code's ``local_radius`` is L + 1.)
    """

    title = "SubgraphX"
    levels = ("graph", "node")

    def __init__(
        self,
        rollouts: int = 20,
        min_nodes: int = 5,
        exploration: float = 10.0,
        max_children: int = 20,
        high_degree_first: bool = True,
        samples: int | None = 100,
        hops: int = 3,
    ) -> None:
        super().__init__(rollouts, exploration, high_degree_first, samples, hops)
        self.min_nodes = checked_whole("min_nodes", min_nodes)
        self.max_children = checked_whole("max_children", max_children)

    def search(self, game: Game, max_nodes: int, seed: int = 0) -> SearchResult:
        """The best set of at most ``max_nodes`` players that the search meets, in any game on a graph."""
        smallest = min(self.min_nodes, max_nodes)
        all_players = np.ones(game.num_players, dtype=np.bool_)
        in_one_piece = len(game.graph.components()) == 1
        targets = game.target_players if isinstance(game, ModelGame) else []

        def children(members: Masks) -> Masks:
            # Only the root can be in pieces; it is then no answer, however small, and must be cut.
            if members.sum() <= smallest and (in_one_piece or not members.all()):
                return np.zeros((0, len(members)), dtype=np.bool_)
            return self._pruned(game.graph, members, targets)

        tree = self._searched(game, all_players, children, seed)
        if game.num_players <= max_nodes and in_one_piece:
            tree.score(all_players[None])
        best = ranked([state for state in tree.states if len(state.nodes) <= max_nodes])[0]
        return SearchResult(best.nodes, best.reward, len(tree.states))

    def _pruned(self, graph: PlayerGraph, members: Masks, targets: Sequence[int] = ()) -> Masks:
        """What is left after each of the deletions to try: the largest connected part, or the one with the target."""
        order = by_degree(graph, members, self.high_degree_first)
        deleted = order[~np.isin(order, targets)][: self.max_children]
        left = np.repeat(members[None], len(deleted), axis=0)
        left[np.arange(len(deleted)), deleted] = False
        if not targets:
            return _largest_parts(graph, left)
        labels = graph.component_labels(left)
        return np.asarray(left & (labels == labels[:, targets[:1]]))


def _largest_parts(graph: PlayerGraph, sets: Masks) -> Masks:
    """The largest connected part of each set; of equal ones that with the smallest node."""
    labels = graph.component_labels(sets)
    sizes = (labels[:, :, None] == np.arange(labels.max() + 1)).sum(axis=1)
    return np.asarray(labels == sizes.argmax(axis=1)[:, None])
