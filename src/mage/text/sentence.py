"""One sentence: its words, the tree that joins them, and the text that is left when some are absent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mage._core.typing import AnyArray, Masks
from mage.graph import PlayerGraph

if TYPE_CHECKING:
    from torch_geometric.data import Data

Absent: TypeAlias = str | Callable[[tuple[str, ...], Masks], str]

# What graph networks call absence; as a word in a text it would be a mistake.
_OF_GRAPHS = ("zero", "mean", "split")


@dataclass(frozen=True, eq=False)
class Sentence:
    """A sentence as players on a graph.

    Attributes:
        words: The words.
        gaps: What stands before each word and after the last one.
        edge_index: Edges of the tree, both ways, [2, e].
    """

    words: tuple[str, ...]
    gaps: tuple[str, ...]
    edge_index: AnyArray

    @classmethod
    def of(cls, sentence: str | Sequence[str], edges: Any = None) -> Sentence:
        """Split a text in words, or take words as they are, and join them by their dependency tree."""
        if isinstance(sentence, str):
            if edges is not None:
                raise ValueError("edges: give the sentence as a list of words, so that it is clear what they join")
            from mage.text.parsing import split_words

            words, text = tuple(split_words(sentence)), sentence
        else:
            words, text = tuple(sentence), None
        if not words:
            raise ValueError(f"sentence has no words: {sentence!r}")
        wrong = [word for word in words if not isinstance(word, str) or not word.strip()]
        if wrong:
            raise ValueError(f"sentence must be a text or a list of words, got the word {wrong[0]!r}")
        if edges is None:
            edge_index = _tree(words)
        else:
            pairs = PlayerGraph.of(edges, len(words)).edges
            edge_index = np.concatenate([pairs, pairs[:, ::-1]]).T
        return cls(words, gaps_between(" ".join(words) if text is None else text, words), edge_index)

    @property
    def graph(self) -> PlayerGraph:
        """The graph that joins the words."""
        return PlayerGraph(len(self.words), self.edge_index.T)

    def data(self, encoder: str | Callable[..., Any]) -> Data:
        """The sentence as a graph for a graph network, as the datasets make it."""
        import torch
        from torch_geometric.data import Data

        from mage.text.parsing import sentence_graphs

        # The datasets keep half precision, which is what the shipped networks have learnt from.
        x = torch.from_numpy(sentence_graphs([self.words], encoder, progress=False).graphs.x).float()
        return Data(x=x, edge_index=torch.from_numpy(self.edge_index.astype(np.int64)), names=list(self.words))

    def text(self, present: Masks) -> str:
        """The text of the words that are present; where some are missing between two of them stands one space."""
        parts: list[str] = []
        last = None
        for place in np.flatnonzero(present).tolist():
            if last is not None:
                parts.append(self.gaps[place] if last == place - 1 else " ")
            elif place == 0:
                parts.append(self.gaps[0])
            parts.append(self.words[place])
            last = place
        if last == len(self.words) - 1:
            parts.append(self.gaps[-1])
        return "".join(parts)

    def filled(self, present: Masks, token: str) -> str:
        """The text with a token in the place of each absent word."""
        parts = [self.gaps[0]]
        for place, word in enumerate(self.words):
            parts += [word if present[place] else token, self.gaps[place + 1]]
        return "".join(parts)


def renderer(sentence: Sentence, absent: Absent) -> Callable[[Masks], str]:
    """A function from the mask of the present words to the text that a classifier reads."""
    if absent == "remove":
        return sentence.text
    if callable(absent):
        function = absent

        def rendered(present: Masks) -> str:
            text = function(sentence.words, present.copy())
            if not isinstance(text, str):
                raise TypeError(f"absent must return a text, got {type(text).__name__}")
            return text

        return rendered
    if not isinstance(absent, str) or not absent.strip() or absent in _OF_GRAPHS:
        raise ValueError(
            f"absent must be 'remove', a word to put in the place of absent ones such as '[MASK]', or a function "
            f"(words, present) -> text; got {absent!r}"
        )
    token = absent
    return lambda present: sentence.filled(present, token)


def gaps_between(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """What stands in a text before each of its words, and after the last one."""
    gaps, end = [], 0
    for word in words:
        start = text.index(word, end)
        gaps.append(text[end:start])
        end = start + len(word)
    return (*gaps, text[end:])


def _tree(words: tuple[str, ...]) -> AnyArray:
    """Edges of the dependency tree, without asking an encoder for anything."""
    from mage.text.parsing import sentence_graphs

    parsed = sentence_graphs(
        [words], lambda sentences: [np.zeros((len(sentence), 1)) for sentence in sentences], progress=False
    )
    return parsed.graphs.edge_index
