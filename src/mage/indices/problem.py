"""What an estimator is given: a game, the graph that counts, and an index."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from mage.games import Game
from mage.graph import PlayerGraph
from mage.indices.families import IndexFamily, family_named
from mage.indices.measures import Measure

if TYPE_CHECKING:
    from mage.indices.request import IndexRequest


@dataclass(frozen=True)
class Problem:
    """An index of a game, to be computed as a request says.

    Attributes:
        game: Players and worths.
        graph: Whose connected coalitions count: the game's graph, or the complete one for indices that ignore it.
        family: The index.
        order: k.
        request: What may be spent, seeds, and options of estimators.
        facts: What has been measured of the game so far, so that it is measured once.
    """

    game: Game
    graph: PlayerGraph
    family: IndexFamily
    order: int
    request: IndexRequest
    facts: dict[str, object] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, game: Game, request: IndexRequest) -> Problem:
        """The problem that a request poses for a game."""
        family = family_named(request.index)
        graph = game.graph if family.sees_graph else PlayerGraph.complete(game.num_players)
        return cls(game, graph, family, request.checked_order, request)

    @property
    def num_players(self) -> int:
        """Number of players n."""
        return self.game.num_players

    @cached_property
    def measures(self) -> dict[int, Measure]:
        """What defines the index, for each size of sets."""
        return dict(enumerate(self.family.measures(self.order), start=1))

    @property
    def sampled_sizes(self) -> range:
        """Sizes of sets whose values random coalitions must estimate; smaller ones are known from few coalitions."""
        first = min((size for size, measure in self.measures.items() if measure.inner), default=self.order + 1)
        return range(first, min(self.order, self.num_players) + 1)

    @property
    def num_sampled(self) -> int:
        """Number of sets of these sizes."""
        return sum(math.comb(self.num_players, size) for size in self.sampled_sizes)
