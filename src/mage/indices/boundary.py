"""The boundary part of an index: exact from few coalitions, those of few players and those of nearly all players."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from mage._core.typing import Bits, Floats, Masks
from mage._kernels import connected as kernels
from mage.games import Game
from mage.games.memo import distinct
from mage.graph import CoalitionBlock, PlayerGraph, component_rows, packing
from mage.indices.closed_form import ClosedForm
from mage.indices.measures import Measure

_ROWS = 1 << 12


def boundary_measures(measures: Mapping[int, Measure]) -> dict[int, Measure]:
    """The boundary part of each measure."""
    return {size: measure.boundary for size, measure in measures.items()}


def boundary_coalitions(graph: PlayerGraph, measures: Mapping[int, Measure]) -> CoalitionBlock:
    """All connected coalitions that the boundary parts of the measures need, each once."""
    largest = max(size + measure.highest_derivative(0.0) for size, measure in measures.items())
    large = few_neighbours(graph, most_neighbours(measures))
    return join_blocks([*graph.blocks(max_size=int(max(largest, 0))), rows_of_block(large, large.sizes > largest)])


def rows_of_block(block: CoalitionBlock, rows: Masks) -> CoalitionBlock:
    """The coalitions of a block in some rows."""
    return CoalitionBlock(block.members[rows], block.neighbours[rows], block.sizes[rows])


def join_blocks(blocks: Sequence[CoalitionBlock]) -> CoalitionBlock:
    """Several blocks, at least one, as one."""
    return CoalitionBlock(
        np.concatenate([block.members for block in blocks]),
        np.concatenate([block.neighbours for block in blocks]),
        np.concatenate([block.sizes for block in blocks]),
    )


def boundary_values(game: Game, measures: Mapping[int, Measure], coalitions: CoalitionBlock) -> Floats:
    """The boundary part of the index, of all sets by size; it needs the worths of :func:`boundary_coalitions`."""
    total = ClosedForm(game.num_players, boundary_measures(measures))
    total.add(coalitions, game.worth_of_bits(coalitions.members, all_distinct=True))
    return total.values()


def most_neighbours(measures: Mapping[int, Measure]) -> int:
    """The largest number of neighbours of large coalitions that the boundary part needs; −1 if it needs none."""
    return int(max(-1, *(size + measure.highest_derivative(1.0) for size, measure in measures.items())))


def few_neighbours(graph: PlayerGraph, most: int) -> CoalitionBlock:
    """All connected coalitions with at most ``most`` neighbours: the components that stay when few players leave."""
    parts = [np.zeros((0, graph.adjacency_bits.shape[1]), dtype=np.uint64)]
    for masks in _without_few(graph.num_players, most):
        labels = graph.component_labels(masks)
        rows, ranks = component_rows(labels)
        parts.append(distinct(packing.pack(labels[rows] == ranks[:, None]))[0])
    members: Bits = np.ascontiguousarray(distinct(np.concatenate(parts))[0])
    neighbours = np.empty_like(members)
    kernels.open_neighbourhoods(graph.adjacency_bits, members, neighbours)
    return CoalitionBlock(members, neighbours, packing.sizes(members))


def _without_few(num_players: int, most: int) -> Iterator[Masks]:
    """All players but each set of at most ``most``, a few rows at a time."""
    absent = itertools.chain.from_iterable(
        itertools.combinations(range(num_players), size) for size in range(min(most, num_players) + 1)
    )
    while rows := list(itertools.islice(absent, _ROWS)):
        masks = np.ones((len(rows), num_players), dtype=np.bool_)
        for row, players in enumerate(rows):
            masks[row, list(players)] = False
        yield masks
