"""Explainers by Monte-Carlo tree search over sets of nodes with a local Shapley reward: SubgraphX and SAME."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.checks import checked_flag, checked_number, checked_whole
from mage._core.typing import Floats, Integers, Masks
from mage.explainers.protocol import Explainer
from mage.explainers.request import ExplainRequest
from mage.explanation import Explanation
from mage.games import Game, ModelGame
from mage.graph import PlayerGraph

if TYPE_CHECKING:
    from torch_geometric.data import Data

_ROWS_AT_ONCE = 1 << 15
_DRAWS_AT_ONCE = 1 << 22
_MOST_ENUMERATED = 16
_MOST_SAMPLES = 1_000_000  # orderings that are drawn at once


@dataclass(frozen=True)
class SearchResult:
    """What a search returns.

    Attributes:
        nodes: The chosen nodes, ascending.
        reward: Their reward, as the search estimated it.
        num_states: Distinct sets of nodes that were scored.
    """

    nodes: tuple[int, ...]
    reward: float
    num_states: int


class TreeSearchExplainer(Explainer):
    """A set of nodes that a tree search finds, for the probability of the class.

    Args:
        rollouts: Rollouts of the search.
        exploration: λ, the weight of exploration.
        high_degree_first: Whether nodes of the highest degree are tried first, or of the lowest.
        samples: T, orderings for a reward; None takes all coalitions around a set, for small graphs.
        hops: L, how far players may be from the set.
    """

    def __init__(
        self, rollouts: int, exploration: float, high_degree_first: bool, samples: int | None, hops: int
    ) -> None:
        self.rollouts = checked_whole("rollouts", rollouts)
        self.exploration = checked_number("exploration", exploration)
        self.high_degree_first = checked_flag("high_degree_first", high_degree_first)
        self.samples = None if samples is None else checked_whole("samples", samples, most=_MOST_SAMPLES)
        self.hops = checked_whole("hops", hops, least=0)

    @abstractmethod
    def search(self, game: Game, max_nodes: int, seed: int = 0) -> SearchResult:
        """The best set of at most ``max_nodes`` players that the search meets, in any game on a graph."""

    def compute(self, model: Any, data: Data, request: ExplainRequest) -> Explanation:
        """Explain one graph, or one node of it where the method can."""
        game = ModelGame(model, data, request.graph.with_usual(masking="remove"), output="probability")
        budget = request.motifs.max_nodes_of(game.num_players)
        best = self.search(game, budget, request.seed)
        nodes = [int(node) for player in best.nodes for node in game.player_nodes[player]]
        return Explanation.from_nodes(
            *(nodes, game, data),
            method=self.title,
            max_nodes=budget,
            masking=game.masking,
            diagnostics={"reward": best.reward, "num_states": best.num_states},
        )

    def _searched(self, game: Game, root: Masks, children: Callable[[Masks], Masks], seed: int) -> TreeSearch:
        """The tree below a set of nodes after all rollouts."""
        rewards = LocalShapley(game, self.hops, self.samples, seed)
        tree = TreeSearch(root, children, rewards, self.exploration)
        tree.run(self.rollouts)
        return tree


@dataclass(slots=True, eq=False)
class State:
    """A set of nodes in the search: R its reward, W the sum of what was found below it, C how often it was passed."""

    members: Masks
    reward: float
    total: float = 0.0
    visits: int = 0
    children: list[State] | None = None

    @property
    def nodes(self) -> tuple[int, ...]:
        """The members, ascending."""
        return tuple(np.flatnonzero(self.members).tolist())


class TreeSearch:
    """Monte-Carlo tree search where each state is a set of nodes; equal sets are one state, however they are reached.

    A rollout goes down from the root to a leaf and adds the leaf's reward to W of all states on its way. It takes the
    child with the highest W / C + λ R √(Σ C of the siblings) / (1 + C), of equal ones the first. When a state is first
    passed, all its new children are scored in one batch.

    Args:
        root: The set to begin with; it has no reward until :meth:`score` computes one.
        children: Maps a set to the sets below it, in order of preference; none makes it a leaf.
        rewards: Rewards of a batch of sets.
        exploration: λ.
    """

    def __init__(
        self,
        root: Masks,
        children: Callable[[Masks], Masks],
        rewards: Callable[[Masks], Floats],
        exploration: float,
    ) -> None:
        self._root = State(root, 0.0)
        self._below = children
        self._rewards = rewards
        self._exploration = exploration
        self._scored: dict[bytes, State] = {}

    @property
    def states(self) -> list[State]:
        """All states with a reward, in the order in which they were scored."""
        return list(self._scored.values())

    def score(self, sets: Masks) -> list[State]:
        """The distinct states of these sets in order of appearance; sets not met before are scored in one batch."""
        keys = dict.fromkeys(row.tobytes() for row in np.packbits(sets, axis=1))
        new = [key for key in keys if key not in self._scored]
        if new:
            packed = np.frombuffer(b"".join(new), dtype=np.uint8).reshape(len(new), -1)
            members = np.unpackbits(packed, axis=1, count=sets.shape[1]).astype(np.bool_)
            for key, row, reward in zip(new, members, self._rewards(members).tolist(), strict=True):
                self._scored[key] = State(row, reward)
        return [self._scored[key] for key in keys]

    def run(self, rollouts: int) -> None:
        """Do so many rollouts."""
        for _ in range(rollouts):
            state, path = self._root, []
            while children := self._children(state):
                state = self._selected(children)
                path.append(state)
            for passed in path:
                passed.total += state.reward
                passed.visits += 1

    def _children(self, state: State) -> list[State]:
        if state.children is None:
            below = self._below(state.members)
            state.children = self.score(below) if len(below) else []
        return state.children

    def _selected(self, children: list[State]) -> State:
        visits = np.array([child.visits for child in children], dtype=np.float64)
        total = np.array([child.total for child in children])
        reward = np.array([child.reward for child in children])
        bonus = self._exploration * reward * np.sqrt(visits.sum()) / (1 + visits)
        return children[int(np.argmax(total / np.maximum(visits, 1) + bonus))]


def ranked(states: list[State]) -> list[State]:
    """States by falling reward; of equal ones the smaller first, then the one with the smaller node numbers."""
    return sorted(states, key=lambda state: (-state.reward, len(state.nodes), state.nodes))


class LocalShapley:
    """Shapley value of a set of nodes that plays as one, among the single nodes within L hops.

    For a set S with neighbourhood N_L(S), the players are S and each node of N_L(S). Nodes further away always take
    part: SubgraphX's Algorithm 2 reads as if they were absent, but its authors call that a slip of notation (issue 56
    of divelab/DIG). Estimated from T random orderings, 2T coalitions a set, many sets in one batch.

    Args:
        game: The game.
        hops: L.
        samples: T; None takes all 2^|N_L(S)| coalitions instead, exactly.
        seed: Seed of the orderings.
    """

    def __init__(self, game: Game, hops: int, samples: int | None, seed: int) -> None:
        self.game = game
        self.hops = min(hops, game.num_players)
        self.samples = samples
        self._generator = np.random.default_rng(seed)

    def __call__(self, sets: Masks) -> Floats:
        """Rewards of sets given as booleans [q, n]."""
        near = sets
        for _ in range(self.hops):
            near = near | self.game.graph.neighbours(near)
        others, always = near & ~sets, ~near
        if self.samples is None:
            values = [self._exact(*rows) for rows in zip(sets, others, always, strict=True)]
            return np.array(values, dtype=np.float64)
        # Draws come in one sequence, so the size of the chunks changes memory and speed, but no reward.
        rows = min(_ROWS_AT_ONCE, 2 * _DRAWS_AT_ONCE // (sets.shape[1] + 1))
        at_once = max(1, rows // (2 * self.samples))
        chunks = [slice(start, start + at_once) for start in range(0, len(sets), at_once)]
        parts = [self._sampled(sets[part], others[part], always[part], self.samples) for part in chunks]
        return np.concatenate(parts)

    def _sampled(self, sets: Masks, others: Masks, always: Masks, samples: int) -> Floats:
        count, size = sets.shape
        # Independent uniform arrival times, the set's in the last column, give a uniformly random ordering.
        times = self._generator.random((count, samples, size + 1))
        without = ((times[..., :size] < times[..., size:]) & others[:, None]) | always[:, None]
        coalitions = np.stack([without, without | sets[:, None]])
        worth = self.game.worth(coalitions.reshape(-1, size)).reshape(2, count, samples)
        return np.asarray((worth[1] - worth[0]).mean(axis=1))

    def _exact(self, members: Masks, others: Masks, always: Masks) -> float:
        free = np.flatnonzero(others)
        count = len(free)
        if count > _MOST_ENUMERATED:
            raise ValueError(
                f"samples=None takes all coalitions of at most {_MOST_ENUMERATED} nodes around a set, but there are "
                f"{count} within {self.hops} hops; give a number of samples"
            )
        subsets = (np.arange(1 << count)[:, None] >> np.arange(count) & 1).astype(np.bool_)
        without = np.repeat(always[None], len(subsets), axis=0)
        without[:, free] = subsets
        worth = self.game.worth(np.concatenate([without, without | members])).reshape(2, -1)
        weights = np.array([factorial(s) * factorial(count - s) / factorial(count + 1) for s in range(count + 1)])
        return float((worth[1] - worth[0]) @ weights[subsets.sum(axis=1)])


def by_degree(graph: PlayerGraph, members: Masks, high_first: bool) -> Integers:
    """The nodes of a set by their degree inside it; of equal ones the smaller number first."""
    nodes = np.flatnonzero(members)
    degrees = graph.adjacency[np.ix_(nodes, nodes)].sum(axis=1)
    order: Integers = nodes[np.argsort(-degrees if high_first else degrees, kind="stable")]
    return order
