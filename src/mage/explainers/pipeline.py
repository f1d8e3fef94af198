"""The one pipeline: any game, by one request, to an explanation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.checks import checked_list, checked_texts, shortened
from mage._core.checks import checked_names as names_of_all
from mage._core.typing import Floats, Integers, Masks
from mage.explainers.consequences import consequences_of
from mage.explainers.request import ExplainRequest
from mage.explanation import Explanation, GraphSubject, ModelOutput, Origin, Subject
from mage.games import Game
from mage.indices import Interactions, best_interactions
from mage.motifs import Motif, MotifRequest, MotifSet, MotifsStable, find_motifs

if TYPE_CHECKING:
    from mage.explainers.large_graphs import PlayerReduction
    from mage.explainers.part_players import PartReduction

Progress = bool | Callable[[Interactions], Any] | None

_ROUNDINGS = 64  # how often the outputs behind an interaction may be rounded


@dataclass(frozen=True)
class InputGraph:
    """What a person knows about the graph that is explained.

    Attributes:
        names: A name per node.
        edge_index: Edges [2, e] as they were given.
        subject: What the nodes are.
        class_names: Names of the classes; None where they are not known.
        node_notes: What is known of each node in words; empty where nothing is.
        origin: The true class and the ground truth, where they are known.
    """

    names: tuple[str, ...]
    edge_index: Integers
    subject: Subject = field(default_factory=GraphSubject)
    class_names: Sequence[str] | None = None
    node_notes: tuple[str, ...] = ()
    origin: Origin | None = None

    @classmethod
    def of(cls, game: Game) -> InputGraph:
        """The players of a game as the nodes of a graph."""
        edges = game.graph.edges.T
        return cls(game.names, np.concatenate([edges, edges[::-1]], axis=1))


def explain_game(
    game: Game,
    request: ExplainRequest,
    graph: InputGraph | None = None,
    *,
    reduction: PlayerReduction | PartReduction | None = None,
    progress: Progress = None,
    started: float | None = None,
) -> Explanation:
    """Explain the worth of all players of a game by groups of players: interactions first, then motifs.

    Args:
        game: Any game.
        request: Which interactions and which motifs.
        graph: Names, edges and subject of the nodes that players stand for; the players themselves by default.
        reduction: How the number of players is reduced; only for games of graph models.
        progress: Show a progress bar (by default on a terminal only), or a function that is called with the
            interactions so far; if it returns true, sampling stops and they are used.
        started: When the work began, by ``time.perf_counter``.
    """
    started = time.perf_counter() if started is None else started
    graph = InputGraph.of(game) if graph is None else graph
    steps = Steps(request, progress)
    include, exclude = request.motifs.include, request.motifs.exclude
    for name, nodes in (("include", include), ("exclude", exclude)):
        players_of(name, nodes, game)
    if reduction is not None:
        game = reduction.last_game(game, steps)
        exclude = tuple(reduction.playing(exclude, game))
    interactions = steps.interactions(game, reduction)
    motifs = steps.motifs(
        game,
        interactions,
        include=tuple(players_of("include", include, game)),
        exclude=tuple(players_of("exclude", exclude, game)),
    )
    consequences = consequences_of(game, motifs)
    return Explanation(
        motifs=_of_nodes(motifs, game, graph.names),
        interactions=replace(interactions, names=_player_names(game, graph.names)),
        players=tuple(tuple(int(v) for v in nodes) for nodes in game.player_nodes),
        player_kind=game.player_kind,
        edge_index=graph.edge_index,
        num_nodes=len(graph.names),
        names=graph.names,
        masking=game.masking,
        seconds=time.perf_counter() - started,
        subject=graph.subject,
        class_names=checked_class_names(graph.class_names, game),
        node_notes=graph.node_notes,
        origin=graph.origin,
        consequences=consequences,
        request=request,
        method_edge_scores=_scores_of_edges(interactions, game, graph.edge_index),
        **vars(ModelOutput.of(game)),
        **({} if reduction is None else reduction.record()),
    )


class Steps:
    """The two steps of the pipeline, for the last game and for the stages before it."""

    def __init__(self, request: ExplainRequest, progress: Progress) -> None:
        self.request = request
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise ValueError(f"progress must be True, False or a function of the interactions, got {progress!r}")
        self._callback = progress if callable(progress) else None
        self._progress = False if callable(progress) else progress

    def interactions(self, game: Game, reduction: PlayerReduction | PartReduction | None = None) -> Interactions:
        """The interactions of a game."""
        request = self.request.index
        if reduction is not None and request.permutations is None:
            request = replace(request, budget=reduction.budget(game, request))
        if request.until == "motifs stable":
            searched = replace(self._sized(game), include=(), exclude=())
            request = replace(request, until=MotifsStable(request=searched))
        return best_interactions(game, request, callback=self._callback, progress=self._progress)

    def motifs(self, game: Game, interactions: Interactions, **changes: Any) -> MotifSet:
        """The motifs of a game, by the request with some fields changed."""
        return find_motifs(
            _without_rounding(interactions, game),
            request=replace(self._sized(game), **changes),
            least_nodes=game.least_motif_nodes,
            effects=lambda masks: _effects(game, masks),
        )

    def _sized(self, game: Game) -> MotifRequest:
        """The request with a share of the players as their number."""
        request = self.request.motifs
        if isinstance(request.max_nodes, str):
            return request
        return replace(request, max_nodes=request.max_nodes_of(game.num_players, least=game.least_motif_nodes))


def _effects(game: Game, masks: Masks) -> tuple[Floats, Floats]:
    """What a model says with only each group of players, and what it says without it."""
    values = game.outcomes(np.concatenate([masks, ~masks]))[0]
    return values[: len(masks)], values[len(masks) :]


def _without_rounding(interactions: Interactions, game: Game) -> Interactions:
    """Interactions without those that may be what rounding leaves of the model's outputs."""
    real = np.abs(interactions.values) > _ROUNDINGS * game.rounding
    return replace(interactions, values=np.where(real, interactions.values, 0.0))


def players_of(name: str, nodes: Iterable[int], game: Game) -> list[int]:
    """The players that nodes of the input graph belong to."""
    listed = list(nodes)
    if listed and game.player_links is not None:
        raise ValueError(
            f"{name}: nodes cannot be chosen if the players are edges; leave it out, or use players='nodes'"
        )
    owner = {int(v): player for player, members in enumerate(game.player_nodes) for v in members}
    missing = [v for v in listed if v not in owner]
    if missing:
        raise ValueError(
            f"{name}: node {missing[0]} is not a player; the output depends on nodes {sorted(owner)[:20]} …"
        )
    return sorted({owner[v] for v in listed})


def _player_names(game: Game, names: tuple[str, ...]) -> tuple[str, ...]:
    if game.player_links is not None:
        return tuple(f"{names[first]}–{names[second]}" for first, second in game.player_links)
    joined = [[names[int(v)] for v in nodes] for nodes in game.player_nodes]
    return tuple(", ".join(each) if len(each) <= 4 else f"{each[0]} … {each[-1]} ({len(each)})" for each in joined)


def _of_nodes(motifs: MotifSet, game: Game, names: tuple[str, ...]) -> MotifSet:
    """Motifs of players as motifs of nodes of the input graph."""
    translated, links, members = [], game.player_links, game.player_nodes
    for motif in motifs:
        nodes = sorted({int(v) for player in motif.nodes for v in members[player]})
        edges = () if links is None else tuple(links[player] for player in motif.nodes)
        translated.append(Motif(tuple(nodes), motif.score, tuple(names[v] for v in nodes), edges))
    against = None if motifs.against is None else _of_nodes(motifs.against, game, names)
    return replace(motifs, motifs=tuple(translated), num_nodes=len(names), against=against)


def _scores_of_edges(interactions: Interactions, game: Game, edge_index: Integers) -> Floats | None:
    """Where edges play: for each column what its edge contributes, with its part of all its interactions."""
    if game.player_links is None:
        return None
    contribution = interactions.player_values
    by_pair = {frozenset(link): value for link, value in zip(game.player_links, contribution.tolist(), strict=True)}
    return np.array([by_pair.get(frozenset(pair), 0.0) for pair in edge_index.T.tolist()])


def checked_names(names: Any, count: int, what: str = "node") -> tuple[str, ...]:
    """Names of the nodes, or of what else plays; their numbers by default."""
    if names is None:
        return tuple(str(v) for v in range(count))
    if not isinstance(names, Sequence | np.ndarray):
        raise ValueError(f"names must be a list of {count} names, one per {what}, got {shortened(names)}")
    return names_of_all(names, count, what)


def listed_names(store: Any, key: str, count: int) -> tuple[str, ...] | None:
    """The names that a graph lists under a key, where there are as many as are needed; else None."""
    known = getattr(store, key, None)
    fits = isinstance(known, Sequence) and not isinstance(known, str) and len(known) == count
    return tuple(map(str, known)) if fits and known is not None else None


def checked_class_names(names: Sequence[str] | None, game: Game) -> tuple[str, ...]:
    """Names of the classes, as many as there are; none where they are not known."""
    if names is None:
        return ()
    if not isinstance(names, Sized):
        raise ValueError(f"class_names must be a list of names, got {shortened(names)}")
    listed = checked_list("class_names", names, "a list of names")
    if not listed:
        return ()
    if game.target is None:
        raise ValueError("class_names: a regression has no classes")
    count = max(2, len(game.prediction))
    if len(listed) != count:
        raise ValueError(f"class_names must list {count} names, one per class, got {shortened(names)}")
    return checked_texts("class_names", listed)
