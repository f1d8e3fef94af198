"""Sentences, classifiers and encoders that need no language model."""

import numpy as np
import torch

WORDS = ("not", "a", "good", "film", ",", "not", "at", "all")

EDGES = [(0, 3), (1, 3), (2, 3), (3, 4), (3, 7), (5, 7), (6, 7)]

WEIGHTS = {"not": -1.5, "good": 2.0, "film": 0.25, "all": -0.5}


class Scores:
    """Adds up a weight for each word; remembers what it was asked."""

    def __init__(self, columns=0):
        self.columns = columns
        self.texts = []

    def __call__(self, texts):
        self.texts += texts
        totals = np.array([sum(WEIGHTS.get(word, 0.0) for word in text.split()) for text in texts])
        return np.stack([-totals, totals], axis=1) if self.columns else totals


def letters(sentences):
    """An encoder that needs no model: length, first letter and place of each word."""
    return [np.array([[len(w), ord(w[0]) % 7, p] for p, w in enumerate(sentence)]) / 8 for sentence in sentences]


CHAIN = [(i, i + 1) for i in range(5)]


def praise(texts):
    """Good is good, unless not is near; nothing else matters."""
    scores = []
    for text in texts:
        words = text.split()
        good = "good" in words
        scores.append([0.0, 2.0 * good - 3.0 * (good and "not" in words) - 1.0 * ("dull" in words)])
    return torch.tensor(scores)
