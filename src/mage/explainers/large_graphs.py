"""Large problems in stages: few players at a time, groups first, then the nodes of the groups that matter.

An index of order 2 over n players rests on about n² coalitions per pair of orderings, so thousands of players are out
of reach. Three things bring their number down, and each is written into the explanation:

- **Groups**: nodes play in groups. Those in the best motifs of groups win, and those of notable effect on their own.
- **Refinement**: the nodes of these groups play again, in smaller groups or one by one, while all other nodes stay
  present (or absent). What lies outside the groups that won is not looked at any more.
- **A cap**: of too many players those play that have the largest effect on their own; the others are always present.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from mage._core.typing import Floats, Integers
from mage.explanation import PlayersCap, Stage
from mage.games import Game
from mage.games.grouping import AT_LEAST, AT_MOST, communities
from mage.games.model_game import ModelGame
from mage.games.request import GraphRequest
from mage.indices import IndexRequest, Interactions
from mage.motifs import Motif, MotifSet

if TYPE_CHECKING:
    from mage.explainers.pipeline import Steps

PLAIN_PLAYERS = 300  # up to this number of players nothing is reduced, unless the user says otherwise
CAPPED_PLAYERS = 48  # players that are left of more than that
STAGE_BUDGET = 4_000  # coalitions that a stage evaluates, unless the user says otherwise
_MOST_RANKED = 2_000  # players of a neighbourhood whose effects are found one by one; more of them form groups
_MOST_RANKED_INSIDE = 1_000  # the same for nodes of groups that won, whose queries take the whole graph
_SHARE_WINNING = 0.25  # of the groups, at most
_NOTABLE = 0.1  # of the largest effect
_ROWS = 1024


class PlayerReduction:
    """Reduces the players of a large graph to few, and records how.

    Args:
        request: Groups, refinement and the largest number of players, from the request.
    """

    def __init__(self, request: GraphRequest) -> None:
        self.groups, self.refine, self.max_players = request.groups, request.refine, request.max_players
        # The output of a node or link has a neighbourhood of its own.
        self.one_output = request.level != "graph"
        self.stages: list[Stage] = []
        self.cap: PlayersCap | None = None
        self.notes: list[str] = []
        self._groups_given = self.groups is not None
        self._was_reduced = False
        self._groups_name = (
            self.groups if isinstance(self.groups, str) else "groups" if self._groups_given else "communities"
        )

    @property
    def limit(self) -> int:
        """The number of players above which they are reduced."""
        return self.max_players or PLAIN_PLAYERS

    @property
    def allowed(self) -> int:
        """The number of players that are left after a reduction."""
        return self.max_players or CAPPED_PLAYERS

    @property
    def others(self) -> str:
        """Whether nodes outside the winning groups are ``"present"`` or ``"absent"`` in the later stages."""
        return self.refine if isinstance(self.refine, str) else "present"

    def grouping(self) -> Any:
        """The groups that play in the first stage: the user's, or communities where there are too many players."""
        if self._groups_given:
            return self.groups
        if self.refine:
            return self._communities

        def where_needed(edges: Integers, num_players: int) -> Integers | None:
            most = max(self.limit, _MOST_RANKED) if self.one_output else self.limit
            return self._communities(edges, num_players) if num_players > most else None

        return where_needed

    def _communities(self, edges: Integers, num_players: int) -> Integers:
        most = min(AT_MOST, self.allowed)
        return communities(edges, num_players, at_least=min(AT_LEAST, most), at_most=most)

    # -- the stages -----------------------------------------------------------------------------------------------

    def last_game(self, game: Game, steps: Steps) -> Game:
        """Play all stages but the last, and return the game that is left to play.

        Args:
            game: The game with the groups of :meth:`grouping`.
            steps: Computes the index of a game, and finds motifs in it.
        """
        include = set(steps.request.motifs.include)
        if not isinstance(game, ModelGame):
            raise TypeError(f"game: only players of a graph model can be reduced, got a {type(game).__name__}")
        if game.seen_nodes < game.input_nodes:
            self.notes.append(
                f"the model ran on the {game.seen_nodes:,} nodes within {game.seen_hops} hops of the target, "
                f"not on all {game.input_nodes:,}"
            )
        refine = not self._groups_given if self.refine is None else bool(self.refine)
        while True:
            if game.num_players > (self.allowed if self.stages else self.limit):
                game = self._strongest(game, steps.request.motifs.weight, include)
            if not refine or all(len(nodes) == 1 for nodes in game.player_nodes):
                break
            self._was_reduced = True
            winners = self._winners(game, steps)
            if not winners:
                self.notes.append("no group stands out, so none was refined")
                break
            nodes = np.sort(np.concatenate([game.player_nodes[player] for player in winners]))
            # Where all groups have won twice, another grouping of their nodes would not separate them either.
            all_won_again = len(self.stages) > 1 and len(winners) == game.num_players
            game = game.zoomed(
                [[v] for v in nodes.tolist()] if all_won_again else self._parts(game, nodes), self.others
            )
        if self.stages and len(self.stages[-1].kept):
            self.notes.append(
                f"then {game.num_players} players that stand for {sum(len(v) for v in game.player_nodes):,} nodes, "
                f"all others {self.others}; motifs outside of them were not looked for"
            )
        return game

    def _winners(self, game: ModelGame, steps: Steps) -> list[int]:
        """Groups whose nodes play next: those in motifs of groups, and those with a notable effect on their own."""
        include, exclude = set(steps.request.motifs.include), set(steps.request.motifs.exclude)
        members = [set(nodes.tolist()) for nodes in game.player_nodes]
        required = [player for player, nodes in enumerate(members) if include & nodes]
        excluded = [player for player, nodes in enumerate(members) if nodes <= exclude]
        queries_before = game.num_queries
        interactions = steps.interactions(game, self)
        most = max(2, math.ceil(_SHARE_WINNING * game.num_players), len(required))
        motifs = steps.motifs(game, interactions, max_nodes=most, include=tuple(required), exclude=tuple(excluded))
        # A few orderings can miss a member of a larger group. Its single effect is measured directly.
        targets = game.target_players
        effect = single_effects(game, targets, steps.request.motifs.weight)
        effect[excluded + targets] = (
            0.0  # without a target there is no output, so its effect says nothing about the others
        )
        notable = [p for p in np.argsort(-effect, kind="stable").tolist() if effect[p] > _NOTABLE * effect.max()]
        candidates = list(dict.fromkeys([*motifs.nodes, *notable]))
        winners = _within_reach(game, candidates, targets, most) if candidates else []
        self._note_stage(game, interactions, motifs, winners, game.num_queries - queries_before)
        return winners

    def _parts(self, game: ModelGame, nodes: Integers) -> list[list[int]]:
        """Single nodes where these are few enough to rank, else connected groups, unless one holds most nodes."""
        if len(nodes) > max(self.allowed, _MOST_RANKED_INSIDE):
            labels = self._communities(game.edges_between(nodes), len(nodes))
            sizes = np.bincount(labels)
            if 2 * sizes.max() <= len(nodes):
                return [nodes[labels == label].tolist() for label in range(len(sizes))]
        return [[v] for v in nodes.tolist()]

    def _strongest(self, game: ModelGame, tau: float, include: set[int]) -> ModelGame:
        """The players with the largest effects on their own; the others are always present."""
        self._was_reduced = True
        queries_before = game.num_queries
        targets = game.target_players
        effect = single_effects(game, targets, tau)
        effect[[p for p, nodes in enumerate(game.player_nodes) if include & set(nodes.tolist())]] = np.inf
        effect[targets] = np.inf
        strongest = _within_reach(game, np.argsort(-effect, kind="stable").tolist(), targets, self.allowed)
        noun = "players" if max(len(nodes) for nodes in game.player_nodes) == 1 else "groups"
        self.cap = PlayersCap(
            players=game.num_players,
            kept=len(strongest),
            by="largest change when taken from all, or added to the targets alone",
            others="present",
            num_queries=game.num_queries - queries_before,
        )
        paths = ", and nodes on shortest paths to the target" if targets else ""
        self.notes.append(
            f"{len(strongest)} of {game.num_players:,} {noun} play, those with the largest effect on their own{paths} "
            f"({self.cap.num_queries:,} queries); the others are always present"
        )
        return game.zoomed([game.player_nodes[player].tolist() for player in strongest])

    def _note_stage(
        self, game: ModelGame, interactions: Interactions, motifs: MotifSet, winners: list[int], num_queries: int
    ) -> None:
        matrix, errors = interactions.matrix, interactions.std_error_matrix
        pairs = np.argwhere(np.triu(matrix, 1))
        self.stages.append(
            Stage(
                players=tuple(tuple(nodes.tolist()) for nodes in game.player_nodes),
                kept=tuple(winners),
                motifs=tuple(Motif(motif.nodes, motif.score) for motif in motifs),
                first_order=tuple(np.diag(matrix).tolist()),
                pairs=tuple((i, j, float(matrix[i, j]), float(errors[i, j])) for i, j in pairs.tolist()),
                exact=interactions.exact,
                method=interactions.method,
                num_queries=num_queries,
            )
        )
        nodes = sum(len(members) for members in game.player_nodes)
        inside = sum(len(game.player_nodes[player]) for player in winners)
        first = f"{self._groups_name}: " if len(self.stages) == 1 else "then "
        self.notes.append(
            f"{first}{game.num_players} groups of {nodes:,} nodes, {num_queries:,} queries; "
            f"{len(winners)} kept ({inside:,} nodes)"
        )

    # -- what the pipeline calls -----------------------------------------------------------------------------------

    def budget(self, game: Game, request: IndexRequest) -> int | None:
        """The budget of a sampled stage: the user's, else a few thousand coalitions, or two orderings."""
        if request.budget is not None or not self._was_reduced or request.method.startswith("exact"):
            return request.budget
        # One ordering of n players meets up to C(n, k) coalitions of its own, and the sets below k come once.
        sets = math.comb(game.num_players, max(request.checked_order, 1))
        return max(STAGE_BUDGET, 2 * sets + game.num_players**2)

    def playing(self, nodes: Iterable[int], game: Game) -> list[int]:
        """The nodes among these that play in the last game; all of them where nothing was reduced."""
        if not self._was_reduced:
            return list(nodes)
        player_nodes = {int(v) for members in game.player_nodes for v in members}
        return [v for v in nodes if v in player_nodes]

    def record(self) -> dict[str, Any]:
        """The stages, the cap and the notes, as fields of :class:`mage.Explanation`."""
        return {"stages": tuple(self.stages), "players_cap": self.cap, "notes": tuple(self.notes)}


def single_effects(game: Game, targets: list[int], tau: float = 0.5) -> Floats:
    """The effect of each single player: removed from all players, or added to the targets alone; the larger of both.

    The first finds members of a group that only acts as a whole, the second those that others could replace.

    Args:
        game: The game.
        targets: Players without which there is no output.
        tau: τ: changes for the output weigh τ, changes against it 1 − τ.
    """
    count = game.num_players
    base = np.zeros(count, dtype=np.bool_)
    base[targets] = True
    effect = np.zeros(count)
    full_worth, target_worth = game.worth(np.stack([np.ones_like(base), base]))

    def weighted(change: Floats) -> Floats:
        return np.where(change > 0, tau * change, (tau - 1) * change)

    for start in range(0, count, _ROWS):
        players = np.arange(start, min(start + _ROWS, count))
        rows = np.zeros((len(players), count), dtype=np.bool_)
        rows[np.arange(len(players)), players] = True
        effect[players] = np.maximum(
            weighted(full_worth - game.worth(~rows)), weighted(game.worth(rows | base) - target_worth)
        )
    return effect


def _within_reach(game: ModelGame, order: list[int], targets: list[int], most: int) -> list[int]:
    """The first players of an order, each with those on a shortest path to the nearest target, ``most`` in all."""
    if not targets:
        return sorted(order[:most])
    edges = game.graph.edges
    weights = csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(game.num_players,) * 2)
    _, parent, _ = dijkstra(
        weights, directed=False, indices=targets, unweighted=True, min_only=True, return_predecessors=True
    )
    players = dict.fromkeys(targets)
    for player in order:
        path = [player]
        while path[-1] not in players and parent[path[-1]] >= 0:
            path.append(int(parent[path[-1]]))
        new = [step for step in path if step not in players]
        if len(players) + len(new) <= most:
            players.update(dict.fromkeys(new))
    return sorted(players)
