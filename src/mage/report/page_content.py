"""The content of an explanation's page: plain values for its script, nothing that needs computing there."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mage._core.typing import Floats, Integers
from mage.drawing import MotifNames, player_names, scene_of, shown_names, undirected_edges
from mage.explanation.outcomes import class_name, effect_cells
from mage.explanation.wording import pattern
from mage.motifs import Motif
from mage.report.solutions import SolutionGrid, solution_grid

if TYPE_CHECKING:
    from mage.explanation import Explanation

_MOST_IN_MAP = 400  # players of the heat map; the strongest where there are more, or the page would weigh megabytes

_ROUNDING = 1e-5  # of the largest interaction: models compute in single precision


def page_content(explanation: Explanation, title: str = "", numbers: Sequence[int] | None = None) -> dict[str, Any]:
    """All that the script of the page shows, as plain values.

    Args:
        explanation: What to show.
        title: Heading of the page.
        numbers: Numbers of the nodes in a graph that this is a part of; by default they are their own.

    Players are what interacts: mostly nodes, else groups of nodes. Everything but the drawing is about players, and
    ``owner`` says to which player a node of the drawing belongs (−1: it is not a player).
    """
    interactions = explanation.interactions
    scene = scene_of(explanation)
    nodes = shown_names(explanation, scene.symbols)
    owner = np.full(explanation.num_nodes, -1, dtype=np.int64)
    for player, members in enumerate(explanation.players if explanation.player_kind != "edges" else ()):
        owner[list(members)] = player
    players = player_names(explanation, nodes)
    edges = undirected_edges(explanation)
    scale = float(np.nanmax(np.abs(interactions.values), initial=0.0))
    by_edges = explanation.player_kind == "edges"
    grouped = not by_edges and any(len(members) != 1 for members in explanation.players)
    subject, truth = explanation.subject, explanation.origin.truth if explanation.origin is not None else ()
    return {
        "drawing": scene.plain(),
        **({"narrow": scene_of(explanation, narrow=True).plain()} if scene.kind == "sentence" else {}),
        "title": title,
        "target": explained_output(explanation),
        "output": explanation.output,
        "words": {
            "node": subject.node,
            "nodes": subject.nodes,
            "player": "edge" if by_edges else "group" if grouped else subject.node,
            "players": "groups" if grouped else explanation.players_noun,
            "whole": subject.whole,
        },
        "nodes": nodes,
        **({} if numbers is None else {"numbers": [int(number) for number in numbers]}),
        "notes": list(explanation.node_notes),
        "owner": owner.tolist(),
        "edges": [list(pair) for pair in edges],
        **({"ends": [list(nodes) for nodes in explanation.players]} if by_edges else {}),
        "explained": list(explanation.target_nodes),
        "truth": sorted({node for group in truth for node in group}),
        "effects": [
            list(cells) for rank in range(len(explanation.all_motifs)) if (cells := effect_cells(explanation, rank))
        ],
        "players": players,
        "first": [_short(value) for value in _without_noise(interactions.first_order, scale).tolist()],
        "share": [_short(value) for value in _without_noise(player_shares(explanation), scale).tolist()],
        "shareName": share_name(explanation),
        "partners": _partners(_without_noise(interactions.pair_values, scale)) if interactions.order > 1 else [],
        "map": _map(explanation, scale),
        **_solutions(explanation, solution_grid(explanation)),
    }


def explained_output(explanation: Explanation) -> str:
    """The explained class by its name; of a regression, what is explained."""
    return explanation.output if explanation.target is None else class_name(explanation, explanation.target)


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
    matrix, errors = _without_noise(interactions.pair_values, scale), interactions.std_error_matrix
    weight = np.abs(matrix).sum(axis=1)
    nodes = np.sort(np.argsort(-weight, kind="stable")[:_MOST_IN_MAP])
    sure = interactions.exact or not np.isfinite(errors).any()
    return {
        "players": nodes.tolist(),
        "values": _packed(matrix, nodes),
        "errors": None if sure else _packed(errors, nodes),
    }


def _packed(matrix: Floats, nodes: Integers) -> str:
    part = matrix[np.ix_(nodes, nodes)]
    return base64.b64encode(part[np.triu_indices(len(part))].astype("<f4").tobytes()).decode()


def _solutions(explanation: Explanation, grid: SolutionGrid) -> dict[str, Any]:
    @cache  # many solutions share motifs
    def error(players: tuple[int, ...]) -> float | None:
        return _error(explanation, players)

    names = MotifNames(explanation)

    @cache
    def kind(players: tuple[int, ...]) -> list[str]:
        return _kind(explanation, names, players)

    solutions = [
        {
            "motifs": [
                [list(motif.nodes), _short(motif.score), error(motif.nodes), *kind(motif.nodes)]
                for motif in solution.both_sides
            ],
            "objective": _short(solution.objective),
            "bound": _short(solution.bound),
            "proof": solution.proof,
            "optimal": solution.optimal and (solution.against is None or solution.against.optimal),
            **(
                {}
                if solution.against is None or not solution.against.motifs
                else {"against": _short(solution.against.objective)}
            ),
        }
        for solution in grid.solutions
    ]
    against = explanation.motifs.against
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
            **({} if against is None or not against.motifs else {"againstSize": against.max_nodes}),
        },
        "solutions": solutions,
    }


def _kind(explanation: Explanation, names: MotifNames, players: tuple[int, ...]) -> list[str]:
    """What kind of group some players are: their metapath where nodes have types, a functional group, or a shape."""
    members = [explanation.players[player] for player in players]
    links = tuple((nodes[0], nodes[-1]) for nodes in members) if explanation.player_kind == "edges" else ()
    nodes = tuple(sorted({node for nodes in members for node in nodes}))
    text = pattern(explanation, Motif(nodes, 0.0, edges=links)) or names.short(nodes)
    return [text] if text else []


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
