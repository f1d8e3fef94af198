"""Why a model says this of a sentence: the phrases that speak for it and against it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from mage._core.optional import require
from mage.explanation import Explanation
from mage.indices import interactions
from mage.motifs import check_request, checked_max_nodes, find_motifs


def explain_text(
    model: Any,
    sentence: str | Sequence[str],
    num_motifs: int = 4,
    max_nodes: int | float = 0.3,
    tau: float = 0.5,
    target: int | None = None,
    output: str = "logit",
    *,
    kind: str = "auto",
    absent: Any = None,
    encoder: str | Callable[..., Any] | None = None,
    edges: Any = None,
    class_names: Sequence[str] | None = None,
    index: str = "myerson-taylor",
    order: int = 2,
    method: str = "auto",
    budget: int | None = None,
    permutations: int | None = None,
    seed: int = 0,
    connected: bool = True,
    noise_floor: float = 0.1,
    include: Iterable[int] = (),
    exclude: Iterable[int] = (),
    task: str = "auto",
    return_type: str = "raw",
    baseline: float | None = None,
    batch_size: int | None = None,
    solver: str = "auto",
    progress: bool | None = None,
) -> Explanation:
    """Explain what a model says of a sentence by the phrases that made it say so.

    Words are the players, the dependency tree says which of them may act together, and a motif is a phrase: words that
    hang together in the tree, though not always side by side. See :class:`mage.games.TextGame` for the two kinds of
    model: graph networks on the tree, and any function ``classify(list[str])`` that scores texts.

    Args:
        model: A graph network, such as ``mage.models.pretrained("graph_sst2", "gcn")``, or a classifier of sentences.
        sentence: A text, or its words.
        num_motifs: m, the largest number of phrases.
        max_nodes: M, words in all phrases together: a count, or a share of the words, of which three are allowed at
            least.
        tau: τ: 1 shows what speaks for the class, 0 what speaks against it, 0.5 both alike.
        target: Class to explain; the predicted one by default.
        output: ``"logit"``, ``"probability"`` or ``"log-probability"`` of the target.
        kind: ``"graph"`` or ``"sentences"``; by what the model takes by default.
        absent: What becomes of absent words: a masking for graph networks (``"zero"`` by default); ``"remove"`` (the
            default), a word such as ``"[MASK]"``, or a function for classifiers.
        encoder: What describes words to a graph network; ``"minilm"`` by default, as in the datasets.
        edges: Who is joined to whom instead of spaCy's English tree; the sentence is then a list of words.
        class_names: Names of the classes, for people.
        index: ``"myerson-taylor"`` or one of the other three indices.
        order: Order of the index, 1 to 3.
        method: How the index is computed; see :func:`mage.interactions`.
        budget: Most coalitions to ask the model for.
        permutations: Orderings to sample.
        seed: Seed of the sampling.
        connected: Whether the words of a phrase must hang together in the tree.
        noise_floor: Share of the largest interaction below which interactions count as zero.
        include: Places of words, from 0, that must be in some phrase.
        exclude: Places of words that must be in none.
        task: ``"multiclass"``, ``"binary"`` or ``"regression"``; by the output's shape by default.
        return_type: What the model returns: ``"raw"``, ``"probs"`` or ``"log_probs"``.
        baseline: Value of a sentence without words, where it is known.
        batch_size: Most sentences in one call of the model.
        solver: Motif solver, see :func:`mage.find_motifs`.
        progress: Show a progress bar; by default on a terminal only.

    Returns:
        An explanation whose nodes are words; ``extra`` has the ``"words"`` in reading order and the whole ``"text"``.
    """
    require("torch_geometric", "pyg")
    from mage.games.text_game import TextGame

    check_request(num_motifs, max_nodes, tau, noise_floor, solver, order or 1)
    start = time.perf_counter()
    game = TextGame(
        model,
        sentence,
        kind=kind,
        absent=absent,
        encoder=encoder,
        edges=edges,
        target=target,
        output=output,
        task=task,
        return_type=return_type,
        baseline=baseline,
        batch_size=batch_size,
    )
    classes = _checked_classes(class_names, game)
    found = interactions(
        game, index, order, method, budget=budget, permutations=permutations, seed=seed, progress=progress
    )
    if isinstance(max_nodes, float) and 0 < max_nodes < 1:
        # The paper's rule for sentences: short ones would otherwise be explained by a single word.
        max_nodes = checked_max_nodes(max_nodes, game.num_players, least=3)
    motifs = find_motifs(
        found,
        num_motifs=num_motifs,
        max_nodes=max_nodes,
        tau=tau,
        connected=connected,
        noise_floor=noise_floor,
        include=include,
        exclude=exclude,
        solver=solver,
    )
    return Explanation(
        motifs=motifs,
        interactions=found,
        prediction=game.prediction,
        target=game.target,
        players=tuple((place,) for place in range(game.num_players)),
        edge_index=game.sentence.edge_index,
        num_nodes=game.num_players,
        names=game.words,
        task=game.readout.task,
        output=output,
        masking=game.masking,
        level="graph",
        num_queries=game.num_queries,
        seconds=time.perf_counter() - start,
        extra={
            "return_type": return_type,
            "words": list(game.words),
            "text": game.sentence.text(np.ones(game.num_players, dtype=np.bool_)),
            **({"class_names": classes} if classes else {}),
        },
    )


def _checked_classes(names: Sequence[str] | None, game: Any) -> list[str]:
    if names is None:
        return []
    if game.target is None:
        raise ValueError("class_names: a regression has no classes")
    count = max(2, len(game.prediction))
    if isinstance(names, str) or len(names) != count:
        raise ValueError(f"class_names must list {count} names, one a class, got {names!r}")
    return [str(name) for name in names]
