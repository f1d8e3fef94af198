"""``mage.explain_text``: the phrases of a sentence for a prediction and against it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from mage._core.optional import require
from mage.explainers.fields import OtherTextFields
from mage.explainers.pipeline import InputGraph, Progress, explain_game
from mage.explainers.request import ExplainRequest
from mage.explanation import Explanation, SentenceSubject
from mage.games.request import TextRequest


def explain_text(
    model: Any,
    sentence: str | Sequence[str],
    *,
    target: int | None = None,
    num_motifs: int | str | None = None,
    max_nodes: int | float | str | None = None,
    tau: float | str | None = None,
    absent: Any = None,
    edges: Any = None,
    class_names: Sequence[str] | None = None,
    progress: Progress = None,
    request: Any = None,
    **fields: Unpack[OtherTextFields],
) -> Explanation:
    """Explain a prediction for a sentence by the phrases that led to it.

    The words are the players, and the dependency tree is their graph. A motif is a phrase: words that are connected in
    the tree, but not always adjacent in the sentence. The model is a graph network on the tree, or any function
    ``classify(list[str])`` that scores texts; see :class:`mage.TextRequest`.

    Args:
        model: A graph network, such as ``mage.models.pretrained("graph_sst2", "gcn")``, or a classifier of sentences.
        sentence: A text, or its words.
        target: Class to explain; the predicted one by default.
        num_motifs: m, the largest number of phrases; up to three by default.
        max_nodes: M, words in all phrases together: a count, or a share of the words, which allows three at least;
            chosen by default, see :mod:`mage.motifs.path`.
        tau: By default each side has its own search; a number τ weights both in one search: 1 only for the class, 0
            only against it.
        absent: What replaces absent words: a masking for graph networks (``"zero"`` by default); ``"remove"`` (the
            default), a word such as ``"[MASK]"``, or a function for classifiers.
        edges: Which words are joined instead of spaCy's English tree; needs a list of words.
        class_names: Names of the classes, to display.
        progress: As for :func:`mage.explain`.
        request: One or several requests instead of single fields.
        fields: Other fields of the requests by name, such as ``output``, ``method`` or ``encoder``; and ``like``, an
            explanation of a sentence that is to be repeated.

    Returns:
        An explanation whose nodes are words; ``subject`` has the words in reading order and the whole text.
    """
    require("torch_geometric", "pyg")
    from mage.games.text_game import TextGame

    everyday = {"target": target, "num_motifs": num_motifs, "max_nodes": max_nodes, "tau": tau}
    whole = ExplainRequest.of(TextRequest, request, absent=absent, edges=edges, **everyday, **fields)
    started = time.perf_counter()
    game = TextGame(model, sentence, whole.model_as(TextRequest))
    subject = SentenceSubject(game.words, game.sentence.text(np.ones(game.num_players, dtype=np.bool_)))
    graph = InputGraph(game.words, game.sentence.edge_index, subject, class_names)
    return explain_game(game, whole, graph, progress=progress, started=started)
