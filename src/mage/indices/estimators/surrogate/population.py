"""The coalitions that a surrogate is summed over: all connected ones, or a large weighted sample of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import betaln, binom

from mage._core.typing import Bits, Floats, Integers
from mage._kernels import connected as kernels
from mage.games.memo import distinct
from mage.graph import PlayerGraph, component_rows, packing
from mage.indices.closed_form import Accumulator, top_order_coefficients

MOST_LISTED = 1_000_000
_SAMPLED = 200_000
_BATCHES = 32  # parts of the sample whose disagreement tells its error
_DRAWS = 64  # random sets in a batch at a time; their chances lie evenly on (0, 1)


@dataclass(frozen=True)
class Population:
    """Connected coalitions R with weights ω such that Ψ_S = Σ ω_R c_S(R) f(R), exactly or on average.

    Args:
        graph: The players' graph.
        order: k.
        members: R as words.
        neighbours: N(R) as words.
        weights: ω; 1 where all coalitions are listed.
        parts: Where coalitions are a sample: rows that each batch of draws met (once for each time), or None.
        shares: 1 / (draws in a batch × chance of R), for the entries of ``parts``.
    """

    graph: PlayerGraph
    order: int
    members: Bits
    neighbours: Bits
    weights: Floats
    parts: list[Integers] | None = None
    shares: list[Floats] | None = None

    @property
    def complete(self) -> bool:
        """Whether these are all connected coalitions."""
        return self.parts is None

    @cached_property
    def _coefficients(self) -> Floats:
        return top_order_coefficients(self.graph.num_players, self.order)

    def __len__(self) -> int:
        return len(self.members)

    def influence(self) -> Floats:
        """ω · √Σ_S c_S(R)²: how far an error in f(R) moves the index as a whole."""
        players = self.graph.num_players
        r = np.arange(players + 1)[:, None, None]
        b = np.arange(players + 1)[None, :, None]
        q = np.arange(self.order + 1)[None, None, :]
        sets = np.where((q <= b) & (self.order - q <= r), binom(r, self.order - q) * binom(b, q), 0.0)
        table = np.sqrt((sets * self._coefficients**2).sum(axis=2))
        return np.asarray(self.weights * table[packing.sizes(self.members), packing.sizes(self.neighbours)])

    def index(self, worths: Floats, rows: Integers | None = None, *, power: int = 1) -> Floats:
        """Σ c_S(R) · worth over some rows (all by default); with a ``power``, Σ c_S(R)^power · worth."""
        accumulator = Accumulator(self.graph.num_players, self.order, self._coefficients**power)
        for start in range(0, len(worths), 1 << 16):
            part = slice(start, start + (1 << 16))
            chosen = part if rows is None else rows[part]
            accumulator.add(
                np.ascontiguousarray(self.members[chosen]),
                np.ascontiguousarray(self.neighbours[chosen]),
                np.ascontiguousarray(worths[part]),
            )
        return accumulator.values()

    def sampling_errors(self, worths: Floats) -> Floats:
        """Errors of Σ ω c f that come from having met only some coalitions [parts, sets]; their squares add up.

        There are none where all coalitions are listed.
        """
        if self.parts is None or self.shares is None:
            return np.zeros((0, len(self.index(np.zeros(0)))))
        each = np.stack(
            [self.index(worths[rows] * share, rows) for rows, share in zip(self.parts, self.shares, strict=True)]
        )
        return np.asarray((each - each.mean(axis=0)) / np.sqrt(len(each) * (len(each) - 1)))


def population(graph: PlayerGraph, order: int, seed: int, most_listed: int = MOST_LISTED) -> Population:
    """All connected coalitions where they are at most ``most_listed``, otherwise a sample."""
    if graph.count_connected(cap=most_listed) <= most_listed:
        blocks = list(graph.blocks())
        members = np.concatenate([block.members for block in blocks])
        neighbours = np.concatenate([block.neighbours for block in blocks])
        return Population(graph, order, members, neighbours, np.ones(len(members)))
    return _sampled(graph, order, seed)


def _sampled(graph: PlayerGraph, order: int, seed: int) -> Population:
    """All small connected coalitions, and larger ones as the components of random sets of players.

    A set takes every player with one chance x, spread evenly over (0, 1): it then has R as a component with chance
    ∫ x^|R| (1 − x)^|N(R)| dx = B(|R| + 1, |N(R)| + 1). Small coalitions weigh more in the index than this law meets
    them; they are few, and listed.
    """
    small, small_around, size = _small(graph, order, _SAMPLED // 4)
    generator = np.random.default_rng(seed)
    batches: list[list[Bits]] = [[] for _ in range(_BATCHES)]
    draws = found = 0
    while found < _SAMPLED:
        for batch in batches:
            chance = (np.arange(_DRAWS) + generator.random(_DRAWS))[:, None] / _DRAWS
            labels = graph.component_labels(generator.random((_DRAWS, graph.num_players)) < chance)
            rows, ranks = component_rows(labels)
            components = labels[rows] == ranks[:, None]
            large = packing.pack(components[components.sum(axis=1) > size])
            batch.append(large)
            found += len(large)
        draws += _DRAWS
    drawn = [np.concatenate(batch) for batch in batches]
    members, rows = distinct(np.concatenate(drawn))
    neighbours = np.empty_like(members)
    kernels.open_neighbourhoods(graph.adjacency_bits, members, neighbours)
    chances = np.exp(betaln(packing.sizes(members) + 1.0, packing.sizes(neighbours) + 1.0))
    counts = np.bincount(rows, minlength=len(members))
    ends = np.cumsum([len(batch) for batch in drawn])[:-1]
    parts = [part + len(small) for part in np.split(rows, ends)]
    return Population(
        graph,
        order,
        np.concatenate([small, members]),
        np.concatenate([small_around, neighbours]),
        np.concatenate([np.ones(len(small)), counts / (draws * _BATCHES * chances)]),
        parts,
        [1.0 / (draws * chances[part - len(small)]) for part in parts],
    )


def _small(graph: PlayerGraph, order: int, most: int) -> tuple[Bits, Bits, int]:
    """All connected coalitions of up to some size, at least that of the order's lower terms, and that size."""
    largest = max(1, order - 1)
    while largest < graph.num_players:
        listed = 0
        for block in graph.blocks(max_size=largest + 1):
            listed += len(block.sizes)
            if listed > most:
                break
        if listed > most:
            break
        largest += 1
    blocks = list(graph.blocks(max_size=largest))
    return (
        np.concatenate([block.members for block in blocks]),
        np.concatenate([block.neighbours for block in blocks]),
        largest,
    )
