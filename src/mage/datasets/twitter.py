"""Twitter: tweets about somebody or something as dependency trees."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mage.datasets.dataset_info import PaperFigures, Split
from mage.datasets.pickles import DamagedFileError
from mage.datasets.published_files import PublishedFiles, files_at, read_text
from mage.datasets.sentences import Sentences, join_parts, sentence_info
from mage.datasets.training_plans import NetworkPlans, TrainingPlan

_ADDRESS = (
    "https://raw.githubusercontent.com/songyouwei/ABSA-PyTorch/"
    "9a7c6c1c993ad772d5f439d32af4899b6698ea67/datasets/acl-14-short-data"
)
_DIGESTS = {
    "train.raw": "d33db1cf553ec0b65c4b503e736f10cb1a810d451ae466f5244724a61c935a8e",
    "test.raw": "bd93efaf67adc9c06c1f220a4f1e1a1122b5716573e9d62088cab64b1aa465b5",
}
SOURCE = PublishedFiles(
    "twitter", files_at(_ADDRESS, _DIGESTS), home="https://github.com/songyouwei/ABSA-PyTorch", licence="MIT"
)


def read_tweets(files: Mapping[str, Path]) -> Sentences:
    """Tweets in words, their classes (0 negative, 1 neutral, 2 positive), the published test set and a tenth held out.

    The set is published in two parts; every tenth tweet of the larger one serves to stop the training.
    """
    words, labels, (learning, test) = join_parts([_tweets(files[name]) for name in ("train.raw", "test.raw")])
    held_out = learning % 10 == 9
    return Sentences(words, labels, Split(learning[~held_out], learning[held_out], test))


def _tweets(path: Path) -> list[tuple[list[str], int]]:
    """The tweets of a file, which has three lines for each: the text, its topic, and its class."""
    lines = read_text(path).splitlines()
    tweets = []
    for text, target, label in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        words = text.replace("$T$", f" {target} ").split()
        if label.strip() not in {"-1", "0", "1"} or not words:
            raise DamagedFileError(f"{path}: {text[:40]!r} is not a tweet with its label")
        tweets.append((words, int(label) + 1))
    return tweets


_PAPER = PaperFigures(graphs=6940, nodes=21.10, edges=20.10, gcn=69.22, gin=63.87, gat=67.34)
_NETWORKS = NetworkPlans(TrainingPlan(epochs=8, learning_rate=1e-3), {"gin": {"batch_size": 256}}, readout="max")
_CLASSES = ("negative", "neutral", "positive")
INFO = sentence_info("twitter", "Twitter", _CLASSES, read_tweets, SOURCE, paper=_PAPER, networks=_NETWORKS)
