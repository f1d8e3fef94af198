"""The coalitions that a surrogate is summed over: all connected ones, or a large weighted sample of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mage._core.typing import Bits, Floats, Integers, Masks
from mage._kernels import connected as kernels
from mage.games.memo import distinct
from mage.graph import CoalitionBlock, PlayerGraph, component_rows, packing
from mage.indices.boundary import boundary_measures, few_neighbours, join_blocks, most_neighbours, rows_of_block
from mage.indices.closed_form import Accumulator, ClosedForm, at_an_end, coefficients
from mage.indices.measures import Measure

MOST_LISTED = 1_000_000
_SAMPLED = 200_000
_BATCHES = 32  # parts of the sample whose disagreement tells its error
_DRAWS = 64  # random sets in a batch at a time; their chances lie evenly on (0, 1)


@dataclass(frozen=True)
class Population:
    """Connected coalitions R with weights ω such that Σ ω_R c_S(R) f(R) is an index, exactly or on average.

    The boundary part of the index, which few coalitions tell, is apart from that; all of these are listed.

    Args:
        graph: The players' graph.
        measures: What defines the index, for each size of sets.
        members: R as words.
        neighbours: N(R) as words.
        weights: ω; 1 where all coalitions are listed.
        parts: Where coalitions are a sample: rows that each batch of draws met (once for each time), or None.
        shares: 1 / (draws in a batch × chance of R), for the entries of ``parts``.
    """

    graph: PlayerGraph
    measures: Mapping[int, Measure]
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
    def _coefficients(self) -> dict[int, Floats]:
        """The c of sets of each size whose values are not known from the boundary alone."""
        players = self.graph.num_players
        inner = {size: measure.inner for size, measure in self.measures.items() if size <= players}
        first = min((size for size, measure in inner.items() if measure), default=players + 1)
        return {size: coefficients(measure, players, size) for size, measure in inner.items() if size >= first}

    @cached_property
    def _block(self) -> CoalitionBlock:
        return CoalitionBlock(self.members, self.neighbours, packing.sizes(self.members))

    @cached_property
    def at_boundary(self) -> Masks:
        """Which rows the boundary part of the index needs."""
        needed = np.zeros(len(self.members), dtype=np.bool_)
        for size, measure in self.measures.items():
            needed |= at_an_end(self._block, size, measure)
        return needed

    def boundary_values(self, worths: Floats) -> Floats:
        """The boundary part of the index, of all sets by size, from the worths of all rows."""
        total = ClosedForm(self.graph.num_players, boundary_measures(self.measures))
        total.add(self._block, worths)
        return total.values()

    def __len__(self) -> int:
        return len(self.members)

    def influence(self) -> Floats:
        """ω · √Σ_S c_S(R)²: how far an error in f(R) moves the index as a whole."""
        from scipy.special import binom  # takes 0.1 s to import, which other methods do not need

        players = self.graph.num_players
        r = np.arange(players + 1)[:, None, None]
        b = np.arange(players + 1)[None, :, None]
        squares = np.zeros((players + 1, players + 1))
        for size, weights in self._coefficients.items():
            q = np.arange(size + 1)[None, None, :]
            sets = np.where((q <= b) & (size - q <= r), binom(r, size - q) * binom(b, q), 0.0)
            squares += (sets * weights**2).sum(axis=2)
        return np.asarray(self.weights * np.sqrt(squares)[packing.sizes(self.members), packing.sizes(self.neighbours)])

    def index(self, worths: Floats, rows: Integers | None = None, *, power: int = 1) -> Floats:
        """Σ c_S(R) · worth over some rows (all by default); with a ``power``, Σ c_S(R)^power · worth."""
        sums = [
            Accumulator(self.graph.num_players, size, weights**power) for size, weights in self._coefficients.items()
        ]
        for start in range(0, len(worths), 1 << 16):
            part = slice(start, start + (1 << 16))
            place = part if rows is None else rows[part]
            members = np.ascontiguousarray(self.members[place])
            neighbours = np.ascontiguousarray(self.neighbours[place])
            for accumulator in sums:
                accumulator.add(members, neighbours, np.ascontiguousarray(worths[part]))
        return np.concatenate([np.zeros(0), *(accumulator.values() for accumulator in sums)])

    def sampling_errors(self, worths: Floats) -> Floats:
        """Errors of Σ ω c f that come from having met only some coalitions [parts, sets]; their squares add up.

        There are none where all coalitions are listed.
        """
        if self.parts is None or self.shares is None:
            return np.zeros((0, len(self.index(np.zeros(0)))))
        estimates = np.stack(
            [self.index(worths[rows] * share, rows) for rows, share in zip(self.parts, self.shares, strict=True)]
        )
        return np.asarray((estimates - estimates.mean(axis=0)) / np.sqrt(len(estimates) * (len(estimates) - 1)))


def connected_population(
    graph: PlayerGraph, measures: Mapping[int, Measure], seed: int, most_listed: int = MOST_LISTED
) -> Population:
    """All connected coalitions where they are at most ``most_listed``, otherwise a sample."""
    if graph.count_connected(cap=most_listed) <= most_listed:
        members, neighbours, sizes = join_blocks(list(graph.blocks()))
        return Population(graph, measures, members, neighbours, np.ones(len(sizes)))
    return _sampled(graph, measures, seed)


def _sampled(graph: PlayerGraph, measures: Mapping[int, Measure], seed: int) -> Population:
    """All small connected coalitions, and larger ones as the components of random sets of players.

    A set takes every player with one chance x, spread evenly over (0, 1): it then has R as a component with chance
    ∫ x^|R| (1 − x)^|N(R)| dx = B(|R| + 1, |N(R)| + 1). Small coalitions weigh more in the index than this law meets
    them; they are few, and listed. So are those of nearly all players, where the index needs them.
    """
    listed, size = _listed(graph, measures, _SAMPLED // 4)
    generator = np.random.default_rng(seed)
    batches: list[list[Bits]] = [[] for _ in range(_BATCHES)]
    draws = num_large = 0
    while num_large < _SAMPLED:
        for batch in batches:
            chance = (np.arange(_DRAWS) + generator.random(_DRAWS))[:, None] / _DRAWS
            labels = graph.component_labels(generator.random((_DRAWS, graph.num_players)) < chance)
            rows, ranks = component_rows(labels)
            components = labels[rows] == ranks[:, None]
            large = packing.pack(components[components.sum(axis=1) > size])
            batch.append(large)
            num_large += len(large)
        draws += _DRAWS
    from scipy.special import betaln  # as above

    members, rows = distinct(np.concatenate([part for batch in batches for part in batch]))
    neighbours = np.empty_like(members)
    kernels.open_neighbourhoods(graph.adjacency_bits, members, neighbours)
    chances = np.exp(betaln(packing.sizes(members) + 1.0, packing.sizes(neighbours) + 1.0))
    counts = np.bincount(rows, minlength=len(members))
    # What is listed is not sampled as well.
    sampled = packing.sizes(neighbours) > most_neighbours(measures)
    place = np.where(sampled, len(listed.sizes) + np.cumsum(sampled) - 1, -1)
    ends = np.cumsum([sum(map(len, batch)) for batch in batches])[:-1]
    met_by_batch = [part[sampled[part]] for part in np.split(rows, ends)]
    return Population(
        graph,
        measures,
        np.concatenate([listed.members, members[sampled]]),
        np.concatenate([listed.neighbours, neighbours[sampled]]),
        np.concatenate([np.ones(len(listed.sizes)), (counts / (draws * _BATCHES * chances))[sampled]]),
        [place[part] for part in met_by_batch],
        [1.0 / (draws * chances[part]) for part in met_by_batch],
    )


def _listed(graph: PlayerGraph, measures: Mapping[int, Measure], most: int) -> tuple[CoalitionBlock, int]:
    """All connected coalitions of up to some size, at least that of the lower orders, and that size; and large ones.

    The large ones are those of nearly all players that the boundary part of the index needs.
    """
    largest = max(1, max(measures) - 1)
    while largest < graph.num_players:
        count = 0
        for block in graph.blocks(max_size=largest + 1):
            count += len(block.sizes)
            if count > most:
                break
        if count > most:
            break
        largest += 1
    whole = few_neighbours(graph, most_neighbours(measures))
    beyond = whole.sizes > largest
    return join_blocks([*graph.blocks(max_size=largest), rows_of_block(whole, beyond)]), largest
