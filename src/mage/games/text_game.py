"""Games whose players are the words of a sentence, joined by its dependency tree."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields as fields_of
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from mage._core.requests import changed
from mage._core.typing import Floats, Masks
from mage._torch.evaluation import evaluating
from mage._torch.outputs import Readout
from mage.games.game import Game
from mage.games.model_game import ModelGame
from mage.games.request import GraphRequest, ModelRequest, TextRequest
from mage.text.sentence import Sentence, renderer

Classifier: TypeAlias = Callable[[list[str]], Any]
"""From sentences to a row of scores for each [b, classes], or a number for each [b]."""

# Names that say of a parameter that it takes a graph.
_EDGES = frozenset({"edge_index", "edge_idx", "edges", "adj_t"})
_WHOLE = frozenset({"data", "graph", "batch_data"})
_COALITIONS_AT_ONCE = 4096
_TEXTS_AT_ONCE = 256


class TextGame(Game):
    """What is a set of words worth to a model that judges sentences?

    The model is one of two kinds. A *graph network* sees the dependency tree with an embedding for each word, made as
    in the datasets ``graph_sst2`` and ``twitter``; absent words lose their features and keep their edges. A *classifier
    of sentences*, any function from a list of texts to scores, sees the text without the absent words, or with
    something in their place; the tree then only says which words may act together. Equal texts are evaluated once.

    Args:
        model: A graph network, or a function ``classify(list[str])`` that returns an array or tensor [b, classes], or
            [b] for one number per sentence.
        sentence: A text, or its words.
        request: How the model is queried; see :class:`mage.games.TextRequest`.
        fields: Fields of the request by name, such as ``absent="[MASK]"``.
    """

    # The paper's rule for sentences: short ones would otherwise be explained by a single word.
    least_motif_nodes = 3
    readout: Readout

    def __init__(
        self, model: Any, sentence: str | Sequence[str], request: TextRequest | None = None, **fields: Any
    ) -> None:
        self.request = request = changed(request or TextRequest(), **fields)
        if not callable(model):
            raise TypeError(f"model must be a graph network or a function of sentences, got {type(model).__name__}")
        self.kind = ("graph" if takes_graphs(model) else "sentences") if request.kind == "auto" else request.kind
        if request.encoder is not None and self.kind == "sentences":
            raise ValueError("encoder: a classifier of sentences reads texts; for a graph network say kind='graph'")
        self.sentence = Sentence.of(sentence, request.edges)
        absent = request.absent
        if absent is None:
            absent = "zero" if self.kind == "graph" else "remove"
        self.masking = absent if isinstance(absent, str) else getattr(absent, "__name__", "custom")
        self._referee: ModelGame | _Texts
        if self.kind == "graph":
            data = self.sentence.data("minilm" if request.encoder is None else request.encoder)
            shared = {field.name: getattr(request, field.name) for field in fields_of(ModelRequest)}
            self._referee = ModelGame(model, data, GraphRequest(masking=absent, **shared))
        else:
            self._referee = _Texts(model, self.sentence, absent, request)
        self.readout = self._referee.readout
        self.prediction: Floats = self._referee.prediction
        self.num_hops = getattr(self._referee, "num_hops", 0)
        super().__init__(
            self._referee.value_fn,
            len(self.words),
            self.sentence.graph,
            self.words,
            baseline=self._referee.baseline if isinstance(self._referee, ModelGame) else request.baseline,
            batch_size=self._referee.batch_size,
        )
        if self.kind == "sentences":
            self.settle_output()
            self._referee.readout = self.readout

    @property
    def words(self) -> tuple[str, ...]:
        """The players in reading order."""
        return self.sentence.words

    @property
    def num_queries(self) -> int:
        """Sentences the model has been run on, the whole one included; equal texts count once."""
        return self._referee.num_queries

    def readings(self, masks: Masks, readouts: Sequence[Readout]) -> Floats:
        """Several numbers [r, q] of the model's outputs on coalitions [q, n], from one run."""
        return self._referee.readings(masks, readouts)


class _Texts:
    """The worth of coalitions of words to a classifier: each distinct text is classified once."""

    def __init__(self, classify: Classifier, sentence: Sentence, absent: Any, request: TextRequest) -> None:
        self._classify = classify
        self._render = renderer(sentence, absent)
        self._texts_at_once = request.batch_size or _TEXTS_AT_ONCE
        self.batch_size = _COALITIONS_AT_ONCE
        self._rows: dict[str, Tensor] = {}
        self.num_queries = 0
        full_text = self._render(np.ones(len(sentence.words), dtype=np.bool_))
        full = self._outputs([full_text])
        self.prediction: Floats = full[0].double().cpu().numpy()
        self.readout = Readout.of(full, request.task, request.target, request.output, request.return_type)
        self._rows[full_text] = full[0].cpu()

    def value_fn(self, masks: Masks) -> Floats:
        """What each coalition's text scores."""
        values: Floats = self.readings(masks, (self.readout,))[0]
        return values

    def readings(self, masks: Masks, readouts: Sequence[Readout]) -> Floats:
        """Several numbers [r, q] of the classifier's rows for coalitions [q, n]."""
        texts = [self._render(mask) for mask in masks]
        # By length, so that a classifier that pads its batches pads little.
        new = sorted({text for text in texts if text not in self._rows}, key=lambda text: (len(text), text))
        for start in range(0, len(new), self._texts_at_once):
            part = new[start : start + self._texts_at_once]
            self._rows.update(zip(part, self._outputs(part).cpu(), strict=True))
        rows = torch.stack([self._rows[text] for text in texts])
        return np.stack([readout(rows).numpy() for readout in readouts])

    def _outputs(self, texts: list[str]) -> Tensor:
        """Rows of scores [b, C], one per text."""
        threads = torch.get_num_threads()
        with evaluating(self._classify):
            # One thread suits small graphs; language models are large.
            torch.set_num_threads(threads)
            answer = self._classify(list(texts))
        self.num_queries += len(texts)
        try:
            out = (
                answer.detach() if isinstance(answer, Tensor) else torch.as_tensor(np.asarray(answer, dtype=np.float64))
            )
        except (TypeError, ValueError) as error:
            kind = type(answer).__name__
            raise ValueError(f"model must return scores [b, classes] or [b] for b texts, got a {kind}") from error
        out = out.unsqueeze(-1) if out.dim() == 1 else out
        if out.dim() != 2 or len(out) != len(texts) or not out.size(1):
            raise ValueError(
                f"model must return scores [b, classes] or [b] for b texts, got {list(out.shape)} for {len(texts)}"
            )
        return out


def takes_graphs(model: Any) -> bool:
    """Whether a model is called with a graph, by the names of what it takes."""
    is_module = isinstance(model, torch.nn.Module)
    try:
        parameters = list(inspect.signature(model.forward if is_module else model).parameters.values())
    except (TypeError, ValueError):  # functions written in C may not tell
        return False
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names = [parameter.name for parameter in parameters if parameter.kind not in variadic]
    # Containers such as torch_geometric.nn.Sequential hide what they take.
    return bool(_EDGES.intersection(names)) or (is_module and (not names or names[0] in _WHOLE))
