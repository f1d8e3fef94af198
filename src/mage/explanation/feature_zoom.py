"""Which features of a motif's nodes matter: a game whose players are the columns of ``x`` of these nodes."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mage._core.checks import checked_choice, checked_instance, checked_list
from mage._core.requests import changed
from mage.explanation.records import MotifFeatures
from mage.games.request import GraphRequest
from mage.indices import IndexRequest, compute_interactions
from mage.motifs import Motif

if TYPE_CHECKING:
    from mage.explanation.explanation import Explanation


def checked_motif(motif: Any) -> Motif:
    """A motif, or an error that says where motifs are."""
    return checked_instance("motif", motif, Motif, "a motif, such as explanation.motifs[0]")


def motif_nodes(explanation: Explanation, motif: int | Motif | Iterable[int]) -> tuple[int, ...]:
    """The nodes of a motif, which may be given by its rank, itself or its nodes."""
    if explanation.player_kind == "features":
        raise ValueError("motif: this explanation is by features already; explain with players='nodes' to look closer")
    if isinstance(motif, Motif):
        return motif.nodes
    if isinstance(motif, int):
        if not 0 <= motif < len(explanation.motifs):
            raise ValueError(f"motif: there are {len(explanation.motifs)} motifs, counted from 0; got {motif}")
        return explanation.motifs[motif].nodes
    listed = checked_list("motif", motif, "a motif, its rank, or its nodes")
    try:
        nodes = tuple(sorted({operator.index(node) for node in listed}))
    except TypeError:
        nodes = ()
    if not nodes or not 0 <= nodes[0] <= nodes[-1] < explanation.num_nodes:
        raise ValueError(f"motif must be a motif, its rank, or nodes 0 … {explanation.num_nodes - 1}; got {motif!r}")
    return nodes


def features_of(
    explanation: Explanation, nodes: tuple[int, ...], model: Any, data: Any, absent: str, **fields: Any
) -> MotifFeatures:
    """What each feature of some nodes contributes to the explained output, while all else stays as it is.

    Args:
        explanation: Says which output is explained, and by which index.
        nodes: The nodes.
        model: The model that was explained.
        data: The graph that was explained.
        absent: What replaces an absent feature: ``"zero"`` or its ``"mean"`` over the nodes.
        fields: Fields of :class:`mage.IndexRequest` that are to be others, such as ``budget`` or ``order``.
    """
    checked_choice("absent", absent, ("zero", "mean"))
    from mage.games.model_game import ModelGame
    from mage.games.part_games import FeatureGame, feature_names

    model_request = getattr(explanation.request, "model", None)
    request = model_request if isinstance(model_request, GraphRequest) else GraphRequest()
    request = replace(
        request,
        target=explanation.target,
        output=explanation.output if explanation.target is not None else request.output,
        players="nodes",
        groups=None,
        refine=None,
        masking="mean" if absent == "mean" else "remove",
        baseline=None,
    )
    before = getattr(explanation.request, "index", None)
    by = before if isinstance(before, IndexRequest) else IndexRequest()
    index = changed(IndexRequest(index=by.index, order=1, seed=by.seed), **fields)
    game = FeatureGame(ModelGame(model, data, request), nodes, absent)
    interactions = compute_interactions(game, index, progress=False)
    names, columns = feature_names(game, data), game.player_columns
    return MotifFeatures(
        nodes=nodes,
        columns=tuple(columns),
        names=tuple(names[column] for column in columns),
        values=tuple(interactions.player_values.tolist()),
        std_error=tuple(interactions.of_size(1)[2].tolist()),
        total=game.total,
        index=interactions.index,
        exact=interactions.exact,
        method=interactions.method,
        absent=absent,
        num_queries=game.num_queries,
    )
