"""SAME: important connected pieces by tree search, then the best union of them."""

from __future__ import annotations

import numpy as np

from mage._core.checks import checked_whole
from mage._core.typing import Masks
from mage.explainers._tree_search import SearchResult, State, TreeSearch, TreeSearchExplainer, by_degree, ranked
from mage.games import Game

_LARGEST_SHARE = 0.8
_MOST_PIECES = 16


class SAME(TreeSearchExplainer):
    """Several connected pieces that together have the highest Shapley value for the probability of the class.

    Reference: Ye, Huang, Lu & Liu, SAME: Uncovering GNN Black Box with Structure-aware Shapley-based Multipiece
    Explanations, NeurIPS 2023.

    Phase 1 grows connected pieces from single nodes, one neighbour at a time, by Monte-Carlo tree search; a piece of M
    nodes or of 80% of the graph grows no further. Phase 2 takes the K best pieces of at most γ nodes and scores all
    their unions of at most M nodes; the best of these and of the small pieces is the answer. Rewards are those of
    :class:`~mage.explainers._tree_search.LocalShapley`. Always explains the probability of the class, as the paper
    does, and chooses the number of pieces itself.

    Against the released code: a set of nodes is scored once, not again in phase 2 with the luckier estimate kept;
    rewards of exactly 0 count as computed; the empty set is neither a piece nor an answer; coalitions that come twice
    are evaluated once, so there are fewer queries than 2T per set.

    Complexity: about rollouts · M · (neighbours of a piece) sets in phase 1 and at most 2^K − 1 in phase 2, with 2T
    queries each; a batch for each expansion, and one for phase 2.

    Args:
        rollouts: Rollouts of phase 1.
        exploration: λ, the weight of exploration.
        max_seeds: From how many single nodes pieces may grow.
        high_degree_first: Whether these are the nodes of the highest degree, or of the lowest.
        samples: T, orderings for a reward; None takes all coalitions around a set, for small graphs.
        hops: L, how far players may be from the set. (The released code's ``local_radius`` is L + 1.)
        piece_size: γ, the most nodes in a piece of phase 2.
        num_pieces: K, how many pieces phase 2 combines.
    """

    title = "SAME"

    def __init__(
        self,
        rollouts: int = 20,
        exploration: float = 10.0,
        max_seeds: int = 20,
        high_degree_first: bool = True,
        samples: int | None = 100,
        hops: int = 3,
        piece_size: int = 3,
        num_pieces: int = 7,
    ) -> None:
        super().__init__(rollouts, exploration, high_degree_first, samples, hops)
        self.max_seeds = checked_whole("max_seeds", max_seeds)
        self.piece_size = checked_whole("piece_size", piece_size)
        self.num_pieces = checked_whole("num_pieces", num_pieces)
        if num_pieces > _MOST_PIECES:
            raise ValueError(f"num_pieces: all unions are scored, so at most {_MOST_PIECES} pieces, got {num_pieces}")

    def search(self, game: Game, max_nodes: int, seed: int = 0) -> SearchResult:
        """The best union of at most ``max_nodes`` players that the two phases meet, in any game on a graph."""
        tree = self._phase_1(game, max_nodes, seed)
        small = self._small_pieces(tree)
        pieces = np.array([state.members for state in small[: self.num_pieces]])
        subsets = np.arange(1, 1 << len(pieces))[:, None] >> np.arange(len(pieces)) & 1
        unions: Masks = subsets @ pieces.astype(np.int64) > 0
        best = ranked(small + tree.score(unions[unions.sum(axis=1) <= max_nodes]))[0]
        return SearchResult(best.nodes, best.reward, len(tree.states))

    def _phase_1(self, game: Game, max_nodes: int, seed: int) -> TreeSearch:
        size = game.num_players
        all_players, alone = np.ones(size, dtype=np.bool_), np.eye(size, dtype=np.bool_)
        seeds = by_degree(game.graph, all_players, self.high_degree_first)[: self.max_seeds]

        def children(members: Masks) -> Masks:
            count = members.sum()
            if count == 0:
                return np.asarray(alone[seeds])
            if count >= max_nodes or count >= _LARGEST_SHARE * size:
                return np.zeros((0, size), dtype=np.bool_)
            return np.asarray(alone[game.graph.neighbours(members[None])[0]] | members)

        return self._searched(game, ~all_players, children, seed)

    def _small_pieces(self, tree: TreeSearch) -> list[State]:
        return ranked([state for state in tree.states if len(state.nodes) <= self.piece_size])
