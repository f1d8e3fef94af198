"""The exact index of games whose worth is a sum over players of what each sees nearby.

A message-passing model of L layers that adds up or averages its nodes gives f(T) = Σ_{v ∈ T} h_v(T), and h_v(T) depends
only on R = [T]_v, what lies within L hops of v inside T (L + 1 where layers divide by degrees). [T]_v is R exactly when
R ⊆ T and T misses N_v(R), the nodes that R's inner layers touch and R has not. So the closed form holds for each h_v
with N_v(R) in the place of N(R),

    Ψᵏ_S = Σ_v Σ over R ∋ v with S ⊆ R ∪ N_v(R) of (−1)^q · k · B(|R| + q − k + 1, |N_v(R)| − q + k) · h_v(R),

and no coalition larger than a neighbourhood matters. Nodes of one kind with neighbourhoods that colour refinement
cannot tell apart are the same to such a model, and one query shows h_v of all its nodes at once; so far fewer
coalitions are asked for than there are neighbourhoods. Everything that is assumed is checked on what the model answers.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from mage import _bits
from mage._kernels import rooted as kernels
from mage._progress import progress_bar
from mage._typing import Bits, Floats, Integers
from mage.games import Game
from mage.graph import PlayerGraph
from mage.indices._closed_form import Accumulator, dividend_coefficients, top_order_coefficients
from mage.indices.local import CHECKS, TOLERANCE, NotLocalError, too_many

_MOST_NEIGHBOURHOODS = 20_000_000
_CHUNK = 1 << 12
QUERIES_OF_A_CHECK = 2 * CHECKS + 1


class Shares(Protocol):
    """What each player adds: h_v(T)."""

    kinds: Bits

    def __call__(self, coalitions: Bits) -> Floats:
        """h_v(T) of each coalition and player [q, n]."""


class _Neighbourhoods(NamedTuple):
    members: Bits
    rejected: Bits
    roots: Integers


class _Colours(NamedTuple):
    """How nodes are told apart: kinds, rounds of refinement, and whether degrees count from the start."""

    adjacency: Bits
    kinds: Bits
    rounds: int
    with_degrees: bool

    def of_roots(self, found: _Neighbourhoods) -> Bits:
        result = np.empty(len(found.members), dtype=np.uint64)
        kernels.root_colours(found.members, found.roots, *self, result)
        return result

    def of_all(self, coalitions: Bits) -> Bits:
        result = np.empty((len(coalitions), len(self.kinds)), dtype=np.uint64)
        kernels.all_colours(coalitions, *self, result)
        return result


def hears_degrees(game: Game, shares: Shares, hops: int, seed: int) -> bool:
    """Whether nodes feel more than what lies within ``hops`` of them, tried on random nodes in random coalitions."""
    generator = np.random.default_rng([seed, 1])
    n, adjacency = game.num_players, game.graph.adjacency
    coalitions = generator.random((CHECKS, n)) < generator.uniform(0.5, 1.0, size=(CHECKS, 1))
    nodes = generator.integers(n, size=CHECKS)
    coalitions[np.arange(CHECKS), nodes] = True
    seen = np.zeros_like(coalitions)
    seen[np.arange(CHECKS), nodes] = True
    for _ in range(hops):
        seen |= (seen @ adjacency) & coalitions
    picked = np.arange(CHECKS), nodes
    far, near = shares(_bits.pack(coalitions))[picked], shares(_bits.pack(seen))[picked]
    scale = max(float(np.abs(far).max()), 1e-300)
    return bool((np.abs(far - near) > TOLERANCE * scale).any())


def rooted_values(
    game: Game, shares: Shares, hops: int, extra_hop: bool, order: int, budget: int, seed: int, progress: bool | None
) -> list[Floats]:
    """The index of all sets of at most ``order`` players, a list by size.

    Args:
        game: The game.
        shares: What each player adds to it.
        hops: L, how far messages go.
        extra_hop: Whether nodes also feel the degrees of nodes at the edge of their neighbourhood.
        order: k.
        budget: Most coalitions to ask for.
        seed: Seed of the coalitions on which the property is checked.
        progress: Show a progress bar; by default on a terminal only.
    """
    graph, radius = game.graph, hops + extra_hop
    found = _all_neighbourhoods(graph, radius, budget)
    colours = _Colours(graph.adjacency_bits, shares.kinds, hops, extra_hop)
    keys, wanted = np.unique(colours.of_roots(found), return_inverse=True)
    asked = _cover(found, keys, wanted, colours, budget, radius)
    values = _learn(shares, asked, keys, colours, radius, progress)
    _check(game, keys, values, colours, radius, seed)
    result = []
    for size in range(1, order + 1):
        coefficients = (top_order_coefficients if size == order else dividend_coefficients)(graph.num_players, size)
        accumulator = Accumulator(graph.num_players, size, coefficients)
        for start in range(0, len(wanted), 1 << 18):
            part = slice(start, start + (1 << 18))
            accumulator.add(found.members[part], found.rejected[part], values[wanted[part]])
        result.append(accumulator.values())
    return result


def _all_neighbourhoods(graph: PlayerGraph, radius: int, budget: int) -> _Neighbourhoods:
    words = graph.adjacency_bits.shape[1]
    nothing: Bits = np.empty((0, words), dtype=np.uint64)
    parts, left = [], _MOST_NEIGHBOURHOODS
    for root in range(graph.num_players):
        count = kernels.neighbourhoods(graph.adjacency_bits, root, radius, nothing, nothing, left)
        if count < 0:
            raise too_many(budget, radius)
        members = np.empty((count, words), dtype=np.uint64)
        rejected = np.empty_like(members)
        kernels.neighbourhoods(graph.adjacency_bits, root, radius, members, rejected, left)
        parts.append(_Neighbourhoods(members, rejected, np.full(count, root)))
        left -= count
    return _Neighbourhoods(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _cover(found: _Neighbourhoods, keys: Bits, wanted: Integers, colours: _Colours, budget: int, radius: int) -> Bits:
    """Coalitions that show every colour, large ones first: they show more at once."""
    order = np.argsort(-_bits.sizes(found.members), kind="stable")
    candidates = np.ascontiguousarray(found.members[order])
    known = np.zeros(len(keys), dtype=np.int64)
    chosen = np.empty(min(budget, len(candidates)), dtype=np.int64)
    count = kernels.cover(candidates, wanted[order], keys, *colours, known, chosen)
    if count < 0:
        raise too_many(budget, radius)
    return candidates[chosen[:count]]


def _learn(shares: Shares, asked: Bits, keys: Bits, colours: _Colours, radius: int, progress: bool | None) -> Floats:
    """The share h of each colour; nodes of one colour must agree."""
    low, high = np.full(len(keys), np.inf), np.full(len(keys), -np.inf)
    with progress_bar("neighbourhoods", len(asked), progress) as tick:
        for start in range(0, len(asked), _CHUNK):
            block = asked[start : start + _CHUNK]
            added, shown = shares(block), colours.of_all(block)
            place = np.searchsorted(keys, shown)
            place[place == len(keys)] = 0
            ours = keys[place] == shown
            np.minimum.at(low, place[ours], added[ours])
            np.maximum.at(high, place[ours], added[ours])
            tick(len(block))
    scale = max(float(np.abs(high).max()), float(np.abs(low).max()), 1e-300)
    apart = float((high - low).max()) / scale
    if not apart <= TOLERANCE:
        raise NotLocalError(
            f"method='exact-local': nodes that look alike within {radius} hops differ by {apart:.2g} of the largest "
            "share; the model sees more than that"
        )
    return np.asarray((low + high) / 2)


def _check(game: Game, keys: Bits, values: Floats, colours: _Colours, radius: int, seed: int) -> None:
    """Compare the worths of random coalitions with the sums of what their members add."""
    generator = np.random.default_rng(seed)
    n = game.num_players
    coalitions = np.concatenate(
        [
            generator.random((CHECKS, n)) < generator.random((CHECKS, 1)),
            game.graph.sample_connected(CHECKS, generator),
            np.ones((1, n), dtype=np.bool_),
        ]
    )
    shown = colours.of_all(_bits.pack(coalitions))
    place = np.minimum(np.searchsorted(keys, shown), len(keys) - 1)
    known = (keys[place] == shown) | ~coalitions
    predicted = np.where(coalitions, values[place], 0.0).sum(axis=1)
    worths = game.worth(coalitions)
    scale = max(float(np.abs(worths).max()), 1e-300)
    violation = np.where(known.all(axis=1), np.abs(predicted - worths), np.inf)
    worst = int(violation.argmax())
    if violation[worst] > TOLERANCE * scale:
        raise NotLocalError(
            f"method='exact-local': the worth of {game.describe(coalitions[worst])} is {worths[worst]:.6g}, but what "
            f"its members see within {radius} hops makes {predicted[worst]:.6g} (a violation of "
            f"{violation[worst] / scale:.2g} of the largest worth)"
        )
