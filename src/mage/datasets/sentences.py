"""Sentences as dependency trees of words: what GraphSST2 and Twitter share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mage._core.optional import require
from mage.datasets.cache import cached
from mage.datasets.columns import OUTSIDE, Columns, Indices
from mage.datasets.dataset_info import Content, DataRoot, DatasetInfo, ExplanationSettings, Split, published
from mage.datasets.published_files import PublishedFiles

_SETTINGS = ExplanationSettings("zero", "logit", num_motifs=4, max_nodes=0.3, least_nodes=3, connected=False, limit=200)
_REMARK = "spaCy's tree; words as published, so counts differ from those of the paper's tokenizer"
Reader: TypeAlias = Callable[[Mapping[str, Path]], "Sentences"]
"""Reads the sentences from published files."""


class Sentences(NamedTuple):
    """Sentences in words, the class of each, and the split."""

    words: list[list[str]]
    labels: list[int]
    split: Split


def join_parts(parts: Sequence[Sequence[tuple[list[str], int]]]) -> tuple[list[list[str]], list[int], list[Indices]]:
    """Sentences and classes of published parts, and the positions of each part."""
    words = [sentence for part in parts for sentence, _ in part]
    labels = [label for part in parts for _, label in part]
    sizes = [len(part) for part in parts]
    return words, labels, np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])


def sentence_info(
    name: str, title: str, classes: tuple[str, ...], read: Reader, source: PublishedFiles, **others: Any
) -> DatasetInfo:
    """The entry of a set of sentences.

    Args:
        name: Name to load it by.
        title: Name to display.
        classes: One name per class.
        read: Reads the sentences from the files.
        source: The files.
        **others: Other fields.
    """
    return DatasetInfo(
        name,
        title,
        classes,
        "none",
        _SETTINGS,
        partial(_build_sentences, name, read, source),
        ("encoder", "workers", "limit"),
        source,
        extra="text",
        remark=_REMARK,
        **others,
    )


def _build_sentences(
    name: str,
    read: Reader,
    source: PublishedFiles,
    root: DataRoot,
    *,
    encoder: str = "minilm",
    workers: int = 1,
    limit: int | None = None,
) -> Content:
    """Published sentences as trees: of the first so many, with words embedded by an encoder."""
    files = root.files(source)
    sentences = read(files)
    columns = sentence_columns(name, sentences.words[:limit], sentences.labels[:limit], encoder, workers)
    split = Split(*(part[part < len(columns)] for part in sentences.split))
    content = published(columns, files, split)
    return content._replace(origin=f"{content.origin}, words by {encoder}")


def sentence_columns(
    name: str, sentences: Sequence[Sequence[str]], labels: Sequence[int], encoder: str = "minilm", workers: int = 1
) -> Columns:
    """Dependency trees of sentences, with an embedding for each word, made once and kept."""
    spacy = require("spacy", "text")
    require("transformers", "text")

    def make() -> dict[str, NDArray[np.generic]]:
        from mage.text.parsing import sentence_graphs

        trees = sentence_graphs(sentences, encoder, workers).graphs
        return {
            "x": trees.x.astype(np.float16),
            "node_start": trees.node_ptr,
            "edge_start": trees.edge_ptr,
            "edge_index": trees.edge_index.astype(np.int16),
        }

    determined_by = {"sentences": len(sentences), "encoder": encoder, "spacy": spacy.__version__, "version": 1}
    arrays = cached(name, determined_by, make)
    return Columns.of_arrays(
        arrays["node_start"],
        arrays["edge_start"],
        arrays["edge_index"],
        {"x": arrays["x"], "node_motif": np.full(len(arrays["x"]), OUTSIDE, dtype=np.int8)},
        {"edge_motif": np.full(arrays["edge_index"].shape[1], OUTSIDE, dtype=np.int8)},
        {"y": np.asarray(labels, dtype=np.int64)},
        {"names": [tuple(words) for words in sentences]},
    )
