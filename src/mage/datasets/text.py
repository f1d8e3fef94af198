"""Sentences as dependency trees of words: GraphSST2 and Twitter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from mage._core.optional import require
from mage.datasets._cache import cached
from mage.datasets._sources import Source, SourceFile, read_text
from mage.datasets._unpickle import DamagedFileError
from mage.datasets.dataset import OUTSIDE, Columns, Split

_SST2 = "https://raw.githubusercontent.com/awake020/pytorch_Bert_sst2/ce2ab1719d32182e6233b24b2de246bd32814fde/SST-2"
_SST2_DIGESTS = {
    "train.tsv": "e981ceb4fe6c9acd1c79851d0d091b9e78103f1f2a399ca83dda27915d41c56c",
    "dev.tsv": "84207e6be5873fb18db798cc6faec86871f5a426554650ff64a1c34e87665f6f",
    "test.tsv": "fcd46f967b7b8efd8b5398481dadf873886298d092195167af907fd532e81e1c",
}
SST2_SOURCE = Source(
    "sst2",
    tuple(SourceFile(name, f"sha256:{digest}", f"{_SST2}/{name}") for name, digest in _SST2_DIGESTS.items()),
    home="https://nlp.stanford.edu/sentiment",
    licence="none stated",
)
_TWITTER = (
    "https://raw.githubusercontent.com/songyouwei/ABSA-PyTorch/"
    "9a7c6c1c993ad772d5f439d32af4899b6698ea67/datasets/acl-14-short-data"
)
_TWITTER_DIGESTS = {
    "train.raw": "d33db1cf553ec0b65c4b503e736f10cb1a810d451ae466f5244724a61c935a8e",
    "test.raw": "bd93efaf67adc9c06c1f220a4f1e1a1122b5716573e9d62088cab64b1aa465b5",
}
TWITTER_SOURCE = Source(
    "twitter",
    tuple(SourceFile(name, f"sha256:{digest}", f"{_TWITTER}/{name}") for name, digest in _TWITTER_DIGESTS.items()),
    home="https://github.com/songyouwei/ABSA-PyTorch",
    licence="MIT",
)

Sentences = tuple[list[list[str]], list[int]]


def sst2_sentences(files: dict[str, Path]) -> tuple[Sentences, Split]:
    """Phrases of SST-2 in words, their classes (0 negative, 1 positive) and the published split."""
    sentences: list[list[str]] = []
    labels: list[int] = []
    sizes = []
    for name in ("train.tsv", "dev.tsv", "test.tsv"):
        lines = read_text(files[name]).splitlines()[1:]
        for line in lines:
            label, _, text = line.partition("\t")
            words = text.split()
            if label not in {"0", "1"} or not words:
                raise DamagedFileError(f"{files[name]}: {line[:40]!r} is not a label and a phrase")
            sentences.append(words)
            labels.append(int(label))
        sizes.append(len(lines))
    return (sentences, labels), Split(*_consecutive(sizes))


def twitter_sentences(files: dict[str, Path]) -> tuple[Sentences, Split]:
    """Tweets in words, their classes (0 negative, 1 neutral, 2 positive), the published test set and a tenth held out.

    The set is published in two parts; every tenth tweet of the larger one serves to stop the training.
    """
    sentences: list[list[str]] = []
    labels: list[int] = []
    sizes = []
    for name in ("train.raw", "test.raw"):
        lines = read_text(files[name]).splitlines()
        for text, target, label in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
            words = text.replace("$T$", f" {target} ").split()
            if label.strip() not in {"-1", "0", "1"} or not words:
                raise DamagedFileError(f"{files[name]}: {text[:40]!r} is not a tweet with its label")
            sentences.append(words)
            labels.append(int(label) + 1)
        sizes.append(len(lines) // 3)
    learning, test = _consecutive(sizes)
    held_out = learning % 10 == 9
    return (sentences, labels), Split(learning[~held_out], learning[held_out], test)


def _consecutive(sizes: Sequence[int]) -> list[NDArray[np.int64]]:
    return np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])


def sentence_columns(
    name: str, sentences: Sentences, encoder: str = "minilm", workers: int = 1, limit: int | None = None
) -> Columns:
    """Dependency trees of sentences, with an embedding for each word, made once and kept."""
    spacy = require("spacy", "text")
    require("transformers", "text")
    texts, labels = sentences
    texts, labels = texts[:limit], labels[:limit]

    def make() -> dict[str, NDArray[np.generic]]:
        from mage.text.parsing import sentence_graphs

        made = sentence_graphs(texts, encoder, workers).graphs
        return {
            "x": made.x.astype(np.float16),
            "node_start": made.node_ptr,
            "edge_start": made.edge_ptr,
            "edge_index": made.edge_index.astype(np.int16),
        }

    determined_by = {"sentences": len(texts), "encoder": encoder, "spacy": spacy.__version__, "version": 1}
    arrays = cached(name, determined_by, make)
    num_nodes, num_edges = len(arrays["x"]), arrays["edge_index"].shape[1]
    return Columns(
        arrays["node_start"],
        arrays["edge_start"],
        torch.from_numpy(arrays["edge_index"]),
        {"x": torch.from_numpy(arrays["x"]), "node_motif": torch.full((num_nodes,), OUTSIDE, dtype=torch.int8)},
        {"edge_motif": torch.full((num_edges,), OUTSIDE, dtype=torch.int8)},
        {"y": torch.tensor(labels)},
        {"names": [tuple(words) for words in texts]},
    )
