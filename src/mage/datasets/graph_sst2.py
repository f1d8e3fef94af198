"""GraphSST2: phrases of film reviews as dependency trees."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mage.datasets.dataset_info import PaperFigures, Split
from mage.datasets.pickles import DamagedFileError
from mage.datasets.published_files import PublishedFiles, files_at, read_text
from mage.datasets.sentences import Sentences, join_parts, sentence_info
from mage.datasets.training_plans import NetworkPlans, TrainingPlan

_ADDRESS = "https://raw.githubusercontent.com/awake020/pytorch_Bert_sst2/ce2ab1719d32182e6233b24b2de246bd32814fde/SST-2"
SOURCE = PublishedFiles(
    "sst2",
    files_at(
        _ADDRESS,
        {
            "train.tsv": "e981ceb4fe6c9acd1c79851d0d091b9e78103f1f2a399ca83dda27915d41c56c",
            "dev.tsv": "84207e6be5873fb18db798cc6faec86871f5a426554650ff64a1c34e87665f6f",
            "test.tsv": "fcd46f967b7b8efd8b5398481dadf873886298d092195167af907fd532e81e1c",
        },
    ),
    home="https://nlp.stanford.edu/sentiment",
    licence="none stated",
)


def read_phrases(files: Mapping[str, Path]) -> Sentences:
    """Phrases of SST-2 in words, their classes (0 negative, 1 positive) and the published split."""
    names = ("train.tsv", "dev.tsv", "test.tsv")
    parts = [[_phrase(line, files[name]) for line in read_text(files[name]).splitlines()[1:]] for name in names]
    words, labels, positions = join_parts(parts)
    return Sentences(words, labels, Split(*positions))


def _phrase(line: str, path: Path) -> tuple[list[str], int]:
    label, _, text = line.partition("\t")
    words = text.split()
    if label not in {"0", "1"} or not words:
        raise DamagedFileError(f"{path}: {line[:40]!r} is not a label and a phrase")
    return words, int(label)


_PAPER = PaperFigures(graphs=70_042, nodes=10.20, edges=9.20, gcn=89.13, gin=87.86, gat=89.24)
_NETWORKS = NetworkPlans(TrainingPlan(epochs=3, batch_size=128, learning_rate=1e-3), readout="max")
_CLASSES = ("negative", "positive")
INFO = sentence_info("graph_sst2", "GraphSST2", _CLASSES, read_phrases, SOURCE, paper=_PAPER, networks=_NETWORKS)
