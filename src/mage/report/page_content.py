"""The content of an explanation's page: plain values for its script, nothing that needs computing there."""

from __future__ import annotations

import base64
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.typing import Floats, Integers
from mage.drawing import ground, stress_layout, undirected_edges
from mage.report.solutions import SolutionGrid, solution_grid

if TYPE_CHECKING:
    from mage.explanation import Explanation

_MOST_IN_MAP = 400  # players of the heat map; the strongest where there are more, or the page would weigh megabytes

_MOST_PLACED = 500  # nodes; placing takes time with the square of them
_ROUNDING = 1e-6  # of the largest interaction: models compute in single precision
_UNIT = 58  # length of an edge in the drawing


def page_content(explanation: Explanation) -> dict[str, Any]:
    """All that the script of the page shows, as plain values.

    Players are what interacts: mostly nodes, else groups of nodes. Everything but the drawing is about players, and
    ``owner`` says to which player a node of the drawing belongs (−1: it does not play).
    """
    interactions = explanation.interactions
    drawn_on = ground(explanation)
    nodes = _node_names(explanation, drawn_on.get("symbols"))
    owner = np.full(explanation.num_nodes, -1, dtype=np.int64)
    for player, members in enumerate(explanation.players if explanation.player_kind != "edges" else ()):
        owner[list(members)] = player
    players = [
        nodes[members[0]] if len(members) == 1 and name == explanation.names[members[0]] else name
        for members, name in zip(explanation.players, interactions.names, strict=True)
    ]
    edges = undirected_edges(explanation)
    scale = float(np.nanmax(np.abs(interactions.values), initial=0.0))
    return {
        "drawing": drawn_on,
        "nodes": nodes,
        "labels": list(explanation.names),
        "owner": owner.tolist(),
        "edges": edges,
        "places": _first_places(edges, explanation.num_nodes),
        "players": players,
        "grouped": any(len(members) != 1 for members in explanation.players),
        "first": [_short(value) for value in _without_noise(interactions.first_order, scale).tolist()],
        "share": [_short(value) for value in _without_noise(player_shares(explanation), scale).tolist()],
        "shareName": share_name(explanation),
        "partners": _partners(_without_noise(interactions.matrix, scale)) if interactions.order > 1 else [],
        "map": _map(explanation, scale),
        **_solutions(explanation, solution_grid(explanation)),
    }


def _node_names(explanation: Explanation, symbols: list[str] | None) -> list[str]:
    """Names that tell nodes apart: atoms without names are called by their element, equal names get their number."""
    names = list(explanation.names)
    if symbols is not None and names == [str(node) for node in range(len(names))]:
        return [f"{symbol}{node}" for node, symbol in enumerate(symbols)]
    counts = Counter(names)
    return [name if counts[name] == 1 else f"{name} ·{node}" for node, name in enumerate(names)]


def _first_places(edges: list[list[int]], num_nodes: int) -> list[list[float]]:
    """Positions from which the page arranges a graph: good ones make its arrangement good."""
    if num_nodes > _MOST_PLACED:
        return []
    places = stress_layout(np.array(edges, dtype=np.int64).reshape(-1, 2), num_nodes)
    return [[round(_UNIT * x, 1), round(_UNIT * y, 1)] for x, y in places.tolist()]


def player_shares(explanation: Explanation) -> Floats:
    """What each player contributes, its share of all its interactions included."""
    return explanation.interactions.player_values


def share_name(explanation: Explanation) -> str:
    """What the shares are called: the value of one player that the index refines."""
    name = explanation.interactions.index
    return {"m": "Myerson value", "s": "Shapley value"}.get(name[0], "score") if name in _FAMILIES else "score"


_FAMILIES = ("shapley", "shapley-taylor", "myerson", "myerson-taylor")


def _partners(matrix: Floats) -> list[Any]:
    """For each player its strongest partner and what they have between them; None without one."""
    pairs = matrix.copy()
    np.fill_diagonal(pairs, 0.0)
    best = np.abs(pairs).argmax(axis=1)
    values = pairs[np.arange(len(pairs)), best]
    return [
        [int(partner), _short(value)] if value else None for partner, value in zip(best, values.tolist(), strict=True)
    ]


def _map(explanation: Explanation, scale: float) -> dict[str, Any] | None:
    """Pairwise interactions of the players as packed numbers: the upper triangle row by row, the diagonal included."""
    interactions = explanation.interactions
    if interactions.order < 2 or interactions.num_players < 2:
        return None
    matrix, errors = _without_noise(interactions.matrix, scale), interactions.std_error_matrix
    weight = np.abs(matrix).sum(axis=1)
    chosen = np.sort(np.argsort(-weight, kind="stable")[:_MOST_IN_MAP])
    sure = interactions.exact or not np.isfinite(errors).any()
    return {
        "players": chosen.tolist(),
        "values": _packed(matrix, chosen),
        "errors": None if sure else _packed(errors, chosen),
    }


def _packed(matrix: Floats, chosen: Integers) -> str:
    part = matrix[np.ix_(chosen, chosen)]
    return base64.b64encode(part[np.triu_indices(len(part))].astype("<f4").tobytes()).decode()


def _solutions(explanation: Explanation, grid: SolutionGrid) -> dict[str, Any]:
    @cache  # many solutions share motifs
    def error(players: tuple[int, ...]) -> float | None:
        return _error(explanation, players)

    solutions = [
        {
            "motifs": [[list(motif.nodes), _short(motif.score), error(motif.nodes)] for motif in solution],
            "objective": _short(solution.objective),
            "bound": _short(solution.bound),
            "proof": solution.proof,
            "optimal": solution.optimal,
        }
        for solution in grid.solutions
    ]
    return {
        "grid": {
            "taus": list(grid.taus),
            "counts": list(grid.counts),
            "sizes": list(grid.sizes),
            "cells": grid.cells.ravel().tolist(),
            "start": list(grid.start),
            "complete": grid.complete,
            "noiseFloor": grid.noise_floor,
            "estimated": not explanation.interactions.exact,
        },
        "solutions": solutions,
    }


def _error(explanation: Explanation, players: tuple[int, ...]) -> float | None:
    if explanation.interactions.exact:
        return None
    error = explanation.group_error(players)
    return _short(error) if np.isfinite(error) else None


def _without_noise(values: Floats, scale: float) -> Floats:
    """Values in which what single precision makes of zero is zero."""
    return np.where(np.abs(values) > _ROUNDING * scale, values, 0.0)


def _short(number: float) -> float:
    """A number with the digits that a person may want to see, and no more."""
    return float(f"{number:.6g}")
