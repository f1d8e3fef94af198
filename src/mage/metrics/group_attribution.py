"""How well an index predicts what a group of players does: infidelity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mage._core.checks import checked_flag, checked_list, checked_whole
from mage._core.typing import Floats, Masks
from mage.games import Game
from mage.graph import PlayerGraph
from mage.indices import Interactions
from mage.metrics._inputs import as_array, checked_game, node_mask
from mage.metrics.cases import GroupPredictions
from mage.metrics.registry import register

_MOST_NUMBERS = 10**8  # of all groups together


@dataclass(frozen=True)
class Infidelity:
    """Mean absolute error of group attributions, over groups.

    Attributes:
        present: Infid⁺, of what groups do alone.
        absent: Infid⁻, of what is lost without them.
        present_error: Standard error of ``present`` over the groups.
        absent_error: Standard error of ``absent`` over the groups.
        num_groups: Number of groups.
    """

    present: float
    absent: float
    present_error: float
    absent_error: float
    num_groups: int


def infidelity(game: Game, interactions: Interactions, groups: Any) -> Infidelity:
    """Infid⁺ = E |GrAttr(S) − (f(S) − f(∅))| and Infid⁻ = E |GrAttr(S̄) − (f(V) − f(V∖S))| over groups S.

    GrAttr(S) is the sum of the index over the subsets of S up to its order, and GrAttr(S̄) = GrAttr(V) − GrAttr(V∖S) is
    its prediction of what is lost without S. (For second-order indices the paper prints GrAttr(V) − GrAttr(S), which
    predicts the worth of V∖S instead; the form here is the one that it derives for first-order ones.)

    Reference: Yeh et al., "On the (in)fidelity and sensitivity of explanations", NeurIPS 2019.

    Args:
        game: The game that is explained.
        interactions: An index of it, of any order.
        groups: Booleans [g, n], or a list of groups of players.
    """
    masks = _masks(groups, checked_game(game).num_players)
    if not len(masks):
        raise ValueError("groups must hold at least one group")
    all_players = np.ones((1, game.num_players), dtype=bool)
    worths = game.worth(np.concatenate([all_players, masks, ~masks]))
    total, alone, without = worths[0], worths[1 : len(masks) + 1], worths[len(masks) + 1 :]
    predicted = group_attributions(interactions, np.concatenate([all_players, masks, ~masks]))
    present = np.abs(predicted[1 : len(masks) + 1] - alone)
    absent = np.abs((predicted[0] - predicted[len(masks) + 1 :]) - (total - without))
    return Infidelity(
        float(present.mean()), float(absent.mean()), _error_of_mean(present), _error_of_mean(absent), len(masks)
    )


def group_attributions(interactions: Interactions, groups: Any) -> Floats:
    """GrAttr of many groups at once: the sum of the index over the subsets of each up to its order."""
    if not isinstance(interactions, Interactions):
        raise TypeError(f"interactions must be mage.Interactions, got {type(interactions).__name__}")
    masks = _masks(groups, interactions.num_players)
    total = np.zeros(len(masks))
    for size in interactions.sizes:
        players, values, _ = interactions.of_size(size)
        nonzero = np.flatnonzero(values)
        for start in range(0, len(nonzero), 1 << 16):
            part = nonzero[start : start + (1 << 16)]
            total += masks[:, players[part]].all(axis=2) @ values[part]
    return total


def random_groups(
    graph: PlayerGraph | int,
    count: int,
    sizes: tuple[int, int] | None = None,
    connected: bool = False,
    seed: int = 0,
) -> Masks:
    """Random groups of players, as booleans [count, n].

    Args:
        graph: The graph of the players, or their number.
        count: Number of groups.
        sizes: Smallest and largest size; sizes are equally likely. By default 1 to n − 1.
        connected: Draw groups that are connected in the graph, grown from a random player by random neighbours; where a
            part of the graph is too small for a size, the group fills the part.
        seed: Seed of the draws.
    """
    count, seed = checked_whole("count", count), checked_whole("seed", seed, least=0)
    connected = checked_flag("connected", connected)
    num_players = graph.num_players if isinstance(graph, PlayerGraph) else checked_whole("graph", graph)
    if count * num_players > _MOST_NUMBERS:
        raise ValueError(f"count: {count:,} groups of {num_players:,} players (graph) do not fit in memory")
    if sizes is not None and not (isinstance(sizes, Sequence) and len(sizes) == 2 and not isinstance(sizes, str)):
        raise ValueError(f"sizes must be the smallest and the largest size, got {sizes!r}")
    bounds = (1, max(1, num_players - 1)) if sizes is None else sizes
    smallest, largest = (checked_whole("sizes", size, least=0) for size in bounds)
    if not 1 <= smallest <= largest <= num_players:
        raise ValueError(f"sizes must be between 1 and {num_players}, the smaller first, got {(smallest, largest)}")
    generator = np.random.default_rng(seed)
    goals = generator.integers(smallest, largest + 1, size=count)
    order = generator.random((count, num_players))
    if not connected:
        ranks = order.argsort(axis=1).argsort(axis=1)
        return ranks < goals[:, None]
    if not isinstance(graph, PlayerGraph):
        raise ValueError("graph must be a PlayerGraph for connected groups")
    adjacency = graph.adjacency
    groups = np.zeros((count, num_players), dtype=bool)
    groups[np.arange(count), generator.integers(num_players, size=count)] = True
    # All groups grow by one player at a time: the neighbour with the smallest random number joins.
    for size in range(1, int(goals.max())):
        near = (groups @ adjacency > 0) & ~groups
        growing = (goals > size) & near.any(axis=1)
        joining = np.where(near, generator.random(order.shape), np.inf).argmin(axis=1)
        groups[growing, joining[growing]] = True
    return groups


def _printed_absent(game: Game, interactions: Interactions, groups: Masks) -> float:
    """Infid⁻ as the paper prints it for second-order indices, with GrAttr(V) − GrAttr(S); see :func:`infidelity`."""
    predicted = group_attributions(interactions, groups)
    if interactions.order > 1:
        predicted = group_attributions(interactions, np.ones((1, game.num_players), dtype=bool)) - predicted
    return float(np.abs(predicted - (game.total - game.worth(~groups))).mean())


def _register(suffix: str, title: str, groups_of: Callable[[GroupPredictions], Masks]) -> None:
    """The three forms of infidelity over one kind of groups."""
    properties: dict[str, Any] = {"cases": (GroupPredictions,), "better": "lower"}

    @register(f"infid_plus{suffix}", f"Infid⁺{title}", **properties)
    def _plus(case: GroupPredictions) -> float:
        return infidelity(case.game, case.interactions, groups_of(case)).present

    @register(f"infid_minus{suffix}", f"Infid⁻{title}", **properties)
    def _minus(case: GroupPredictions) -> float:
        return infidelity(case.game, case.interactions, groups_of(case)).absent

    @register(f"infid_minus_printed{suffix}", f"Infid⁻ as printed{title}", **properties)
    def _minus_printed(case: GroupPredictions) -> float:
        return _printed_absent(case.game, case.interactions, groups_of(case))


_register("", "", lambda case: case.groups)
_register("_connected", " connected", lambda case: case.connected_groups)


def _masks(groups: Any, num_players: int) -> Masks:
    array = as_array(groups, "groups") if hasattr(groups, "shape") else None
    if array is not None and array.dtype == bool and array.ndim == 2 and array.shape[1] == num_players:
        return array
    expected = f"booleans [g, {num_players}] or a list of groups of players"
    listed = checked_list("groups", groups if array is None else array, expected)
    rows = [node_mask(group, num_players, "groups") for group in listed]
    return np.stack(rows) if rows else np.zeros((0, num_players), dtype=bool)


def _error_of_mean(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
